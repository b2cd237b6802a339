#include "server/doors/http/seats.h"

#include <algorithm>

namespace stripline::server::http {

Seats::Verdict Seats::admit(Id id, const std::string& address) {
  Verdict verdict;
  if (!is_proxy(address) && taken_of(address) >= most_of_address_) {
    verdict.closes = longest_waiting(address);
  } else if (taken() >= most_) {
    // One of the address that has most, so that a caller with many makes room for one with few.
    verdict.closes = longest_waiting(*most_present());
    if (!verdict.closes) verdict.closes = longest_waiting("");
  } else {
    verdict.admitted = true;
  }
  if (verdict.closes) {
    leaves(*verdict.closes);
    verdict.admitted = true;
  }
  if (verdict.admitted) {
    seats_[id] = {address, next_place_++};
    ++of_address_[address];
  }
  return verdict;
}

void Seats::works(Id id) {
  if (const auto seat = seats_.find(id); seat != seats_.end()) seat->second.waits_since = 0;
}

void Seats::waits(Id id) {
  if (const auto seat = seats_.find(id); seat != seats_.end()) {
    seat->second.waits_since = next_place_++;
  }
}

void Seats::leaves(Id id) {
  const auto seat = seats_.find(id);
  if (seat == seats_.end()) return;
  const auto count = of_address_.find(seat->second.address);
  if (--count->second == 0) of_address_.erase(count);
  seats_.erase(seat);
}

size_t Seats::taken_of(const std::string& address) const {
  const auto count = of_address_.find(address);
  return count == of_address_.end() ? 0 : count->second;
}

// Among all, where no address is given.
std::optional<Seats::Id> Seats::longest_waiting(const std::string& address) const {
  std::optional<Id> found;
  uint64_t since = UINT64_MAX;
  for (const auto& [id, seat] : seats_) {
    if (seat.waits_since == 0 || seat.waits_since >= since) continue;
    if (!address.empty() && seat.address != address) continue;
    found = id;
    since = seat.waits_since;
  }
  return found;
}

const std::string* Seats::most_present() const {
  const auto most =
      std::ranges::max_element(of_address_, {}, [](const auto& entry) { return entry.second; });
  return &most->first;
}

}  // namespace stripline::server::http
