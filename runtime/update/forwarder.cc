#include "runtime/update/forwarder.h"

#include <algorithm>
#include <cstring>

#include "runtime/update/epoch.h"

namespace stripline::update {

Forwarder::Forwarder(Epoch& epoch, const detail::UpdateType& type, rank_t me, rank_t ranks,
                     uint64_t cells, uint32_t capacity)
    : epoch_(epoch),
      type_(type),
      me_(me),
      grid_(me, ranks),
      by_cells_(cells),
      capacity_(capacity),
      lanes_(ranks) {}

bool Forwarder::send(rank_t owner) {
  Lane& lane = lanes_[owner];
  if (!epoch_.can_forward(owner)) return false;
  ++unreturned_;
  const uint32_t count = lane.count;
  lane.count = 0;
  // Sending makes progress, which may come back here.
  const uint32_t full = lane.buffer;
  lane.buffer = epoch_.spare_buffer();
  epoch_.forward(owner, full, lane.window, count);
  return true;
}

bool Forwarder::append(rank_t owner, uint64_t cell, const std::byte* value) {
  Lane& lane = lanes_[owner];
  const auto window = static_cast<uint32_t>(cell >> 32U);
  if (lane.count == capacity_ || (lane.count > 0 && lane.window != window)) {
    if (!send(owner)) {
      blocked_ = owner;
      is_blocked_ = true;
      return false;
    }
  }
  if (!lane.open) {
    if (!epoch_.has_spare_buffer()) {
      blocked_ = owner;
      is_blocked_ = true;
      return false;
    }
    lane.buffer = epoch_.spare_buffer();
    lane.open = true;
  }
  lane.window = window;
  std::byte* const memory = epoch_.memory_of(lane.buffer);
  const auto low = static_cast<Cell>(cell);
  std::memcpy(memory + size_t{lane.count} * sizeof low, &low, sizeof low);
  std::memcpy(memory + values_at(capacity_) + size_t{lane.count} * type_.value_bytes, value,
              type_.value_bytes);
  ++lane.count;
  return true;
}

// False if it has to wait.
bool Forwarder::forward(Held& parcel) {
  const size_t count = parcel.head.count;
  const std::byte* const values = parcel.body.data() + values_at(count);
  for (; parcel.next < count; ++parcel.next) {
    Cell low = 0;
    std::memcpy(&low, parcel.body.data() + parcel.next * sizeof low, sizeof low);
    const auto [number, cell] = by_cells_.divide((uint64_t{parcel.head.window} << 32U) + low);
    const rank_t owner = grid_.owner_of(parcel.head.onward, number);
    const std::byte* const value =
        parcel.head.form == Form::same ? values : values + parcel.next * type_.value_bytes;
    if (owner == me_) {
      epoch_.carry_out_one(parcel.source, cell, value);
    } else if (owner >= lanes_.size() || !grid_.is_next(owner)) {
      epoch_.fail_malformed(parcel.source);
    } else if (!append(owner, cell, value)) {
      return false;
    }
  }
  return true;
}

bool Forwarder::has_sent_all() const {
  return std::ranges::all_of(lanes_, [](const Lane& lane) { return lane.count == 0; });
}

bool Forwarder::ready() const {
  if (advancing_) return false;
  if (!held_.empty()) return !is_blocked_ || epoch_.can_forward(blocked_);
  if (flushing_.empty()) return false;
  if (unreturned_ == 0 && has_sent_all()) return true;
  for (rank_t owner = 0; owner < lanes_.size(); ++owner) {
    if (lanes_[owner].count > 0 && epoch_.can_forward(owner)) return true;
  }
  return false;
}

void Forwarder::advance() {
  if (advancing_) return;
  advancing_ = true;
  is_blocked_ = false;
  // Sending makes progress, which may add to the parcels.
  while (!held_.empty()) {
    Held parcel = held_.front();
    const bool all = forward(parcel);
    held_.front().next = parcel.next;
    if (!all) break;
    held_.pop_front();
    epoch_.give_back(parcel.source, parcel.slot);
  }
  if (held_.empty() && !flushing_.empty()) {
    for (rank_t owner = 0; owner < lanes_.size(); ++owner) {
      if (lanes_[owner].count > 0) send(owner);
    }
    if (unreturned_ == 0 && has_sent_all() && held_.empty()) {
      for (const rank_t source : std::exchange(flushing_, {})) epoch_.tell_flushed(source);
    }
  }
  advancing_ = false;
}

}  // namespace stripline::update
