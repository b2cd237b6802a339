// Memory of each rank in which others leave, or find, packed data that are larger than an active
// message: it lies behind the shared segment, and each pair of ranks has slots of its own in it.
//
// The rank that moves the data owns the slots: rank r hands out its slots at rank t, for puts to t
// and gets from t alike, so that nobody has to ask for one. To each belongs one at r itself, where
// t may put what r gets.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "optimizer/plan/vis.h"
#include "runtime/fabric/fabric.h"

namespace stripline::vis {

using fabric::Rank;

class LandingZone {
 public:
  /// Bytes of each rank, however many there are: the slots become fewer, and then smaller.
  static constexpr size_t kBytes = size_t{2} << 20;
  static constexpr uint32_t kSlotsPerPeer = plan::kLandingSlots;
  /// From about so much on, operations run at the bandwidth of networks in use.
  static constexpr size_t kSlotBytes = plan::kLandingSlotBytes;
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  /// What a segment has to have beside what the program asked for.
  static size_t bytes_for(Rank ranks) { return ranks > 1 ? kBytes : 0; }

  /// `base` is where the zone begins in every rank's segment; `memory` is this rank's.
  LandingZone(std::span<std::byte> memory, uint64_t base, Rank rank, Rank ranks)
      : memory_(memory), base_(base), rank_(rank) {
    if (ranks < 2) return;
    const size_t per_peer = memory.size() / 2 / (ranks - 1);
    slots_ = std::clamp<uint32_t>(static_cast<uint32_t>(per_peer / kSlotBytes), 2, kSlotsPerPeer);
    slot_bytes_ = std::min(kSlotBytes, per_peer / slots_ / 64 * 64);
    free_.assign(ranks, (1U << slots_) - 1);
  }

  size_t slot_bytes() const { return slot_bytes_; }
  uint32_t slots() const { return slots_; }

  bool has_free(Rank target) const { return free_[target] != 0; }
  /// One of this rank's slots at `target`, which has a free one.
  uint32_t acquire(Rank target) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(free_[target]));
    free_[target] &= ~(1U << slot);
    return slot;
  }
  void release(Rank target, uint32_t slot) { free_[target] |= 1U << slot; }

  /// Where it is in the target's segment.
  uint64_t offset_of(Rank target, uint32_t slot) const {
    return base_ + place(rank_, target, slot);
  }
  /// Where `source` expects the answer to its slot here, in its own segment.
  uint64_t answer_offset_of(Rank source, uint32_t slot) const {
    return base_ + memory_.size() / 2 + place(rank_, source, slot);
  }
  /// The memory for the answer to this rank's slot at `target`.
  std::span<std::byte> answer_of(Rank target, uint32_t slot) const {
    return memory_.subspan(memory_.size() / 2 + place(target, rank_, slot), slot_bytes_);
  }
  /// The memory of a slot that `source` has here.
  std::span<std::byte> memory_of(Rank source, uint32_t slot) const {
    return memory_.subspan(place(source, rank_, slot), slot_bytes_);
  }

 private:
  size_t place(Rank owner, Rank holder, uint32_t slot) const {
    const size_t peer = owner < holder ? owner : owner - 1;  // a rank has none at itself
    return (peer * slots_ + slot) * slot_bytes_;
  }

  std::span<std::byte> memory_;
  uint64_t base_;
  Rank rank_;
  uint32_t slots_ = 0;
  size_t slot_bytes_ = 0;
  std::vector<uint32_t> free_;  // by target, a bit for each slot
};

}  // namespace stripline::vis
