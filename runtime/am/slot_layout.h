// Where the slots of the bulk transport lie: in a piece of memory of each rank, at the same offset
// everywhere, every other rank has as many, of the same size. Twins, if there are any, lie as their
// slots do, in the second half.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/fabric/fabric.h"

namespace stripline::am {

class SlotLayout {
 public:
  struct Rule {
    uint32_t least_slots = 2;    ///< for each pair of ranks
    uint32_t most_slots = 2;     ///< of the largest size, if there is memory for more; at most 8
    size_t most_slot_bytes = 0;  ///< slots become fewer, and then smaller, with more ranks
    bool twins = false;          ///< half of the memory is for twins
  };

  SlotLayout(size_t memory_bytes, fabric::Rank ranks, const Rule& rule) {
    if (ranks < 2) return;
    if (rule.twins) twins_at_ = memory_bytes / 2;
    const size_t per_peer = (memory_bytes - twins_at_) / (ranks - 1);
    slots_ = static_cast<uint32_t>(
        std::clamp<size_t>(per_peer / rule.most_slot_bytes, rule.least_slots, rule.most_slots));
    slot_bytes_ = std::min(rule.most_slot_bytes, per_peer / slots_ / kAlignment * kAlignment);
  }

  /// 0 of a rank that is alone.
  uint32_t slots() const { return slots_; }
  size_t slot_bytes() const { return slot_bytes_; }

  /// Where a slot of `owner` lies in the memory of `holder`, another rank.
  size_t slot(fabric::Rank owner, fabric::Rank holder, uint32_t slot) const {
    const size_t peer = owner < holder ? owner : owner - 1;  // a rank has none at itself
    return (peer * slots_ + slot) * slot_bytes_;
  }
  /// Where the twin of that slot lies in the memory of `owner`.
  size_t twin(fabric::Rank owner, fabric::Rank holder, uint32_t slot) const {
    return twins_at_ + this->slot(holder, owner, slot);
  }

 private:
  static constexpr size_t kAlignment = 64;
  uint32_t slots_ = 0;
  size_t slot_bytes_ = 0;
  size_t twins_at_ = 0;
};

}  // namespace stripline::am
