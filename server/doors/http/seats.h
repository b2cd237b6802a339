// Connections that are let in while there are many: at a time, in all and of one address. One that
// waits for its caller, who sends or reads slowly or not at all, makes room for another; one whose
// answer is worked out stays. So no number of slow connections keeps others out. Pure; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace stripline::server::http {

/// How much of something each has.
class Shares {
 public:
  size_t of(const std::string& whose) const {
    const auto share = shares_.find(whose);
    return share == shares_.end() ? 0 : share->second;
  }
  void add(const std::string& whose, size_t amount) {
    if (amount > 0) shares_[whose] += amount;
  }
  /// What was added before.
  void remove(const std::string& whose, size_t amount) {
    const auto share = shares_.find(whose);
    if (share != shares_.end() && (share->second -= amount) == 0) shares_.erase(share);
  }

 private:
  std::map<std::string, size_t> shares_;
};

class Seats {
 public:
  using Id = uint64_t;

  /// `proxies`: keys of addresses (base/address_key.h) behind which there are many callers, and
  /// which have no bound of their own.
  Seats(size_t most, size_t most_of_address, std::set<std::string> proxies = {})
      : most_(most), most_of_address_(most_of_address), proxies_(std::move(proxies)) {}

  struct Verdict {
    bool admitted = false;
    std::optional<Id> closes = std::nullopt;  ///< This one makes room: it has no seat any more.
  };
  /// A connection from the address with this key, which waits for its first request.
  Verdict admit(Id id, const std::string& address);
  void works(Id id);   ///< It has asked, and its answer is worked out.
  void waits(Id id);   ///< Its caller is to read, or to ask again.
  void leaves(Id id);  ///< Harmless if it has no seat.

  size_t taken() const { return seats_.size(); }
  size_t taken_of(const std::string& address) const;
  bool is_proxy(const std::string& address) const { return proxies_.contains(address); }

 private:
  struct Seat {
    std::string address;
    uint64_t waits_since = 0;  // a place in the order of waiting; 0: it does not wait
  };
  std::optional<Id> longest_waiting(const std::string& address) const;
  const std::string* most_present() const;

  size_t most_;
  size_t most_of_address_;
  std::set<std::string> proxies_;
  uint64_t next_place_ = 1;
  std::map<Id, Seat> seats_;
  std::map<std::string, size_t> of_address_;
};

}  // namespace stripline::server::http
