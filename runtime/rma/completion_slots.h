// The completion slots behind futures: a fixed pool, so that starting an operation allocates
// nothing. A future names a slot and the generation it was given out in; releasing a slot advances
// its generation, and thereby makes every copy of the future ready.
//
// Futures are values that may be dropped. Their slots are reclaimed by a sweep when the pool runs
// out, which costs O(1) per operation, amortised.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/fabric/fabric.h"

namespace stripline::rma {

/// A slot as a future names it: one operation's, until it is released.
struct SlotUse {
  uint32_t slot = 0;
  uint32_t generation = 0;
};

class CompletionSlots {
 public:
  /// Operations a rank may have in flight; issuing more waits for one of them.
  static constexpr uint32_t kDefaultCapacity = 4096;

  /// Memory of each.
  static constexpr size_t kBytesPerSlot = 16;

  explicit CompletionSlots(uint32_t capacity = kDefaultCapacity);

  /// `message` operations, and collective ones, complete when active messages are served: a wait
  /// must serve them. The others complete in the fabric.
  enum class Kind : uint8_t { get, put, message, collective };

  bool exhausted() const { return free_count_ == 0; }

  /// A free slot. Requires !exhausted().
  uint32_t acquire(Kind kind) {
    const uint32_t slot = free_[--free_count_];
    slots_[slot].kind = kind;
    slots_[slot].source_free = false;
    if (slot >= high_water_) high_water_ = slot + 1;
    return slot;
  }

  Kind kind(uint32_t slot) const { return slots_[slot].kind; }
  fabric::Counter& counter(uint32_t slot) { return slots_[slot].counter; }
  const fabric::Counter& counter(uint32_t slot) const { return slots_[slot].counter; }
  uint32_t generation(uint32_t slot) const { return slots_[slot].generation; }
  /// True if the memory that the put of a slot reads may be written again, though it is not
  /// complete. To be set by who carries it out; stays where it is.
  bool& source_free(uint32_t slot) { return slots_[slot].source_free; }

  /// True if the operation that a future (slot, generation) stands for was found complete before.
  bool released(uint32_t slot, uint32_t generation) const {
    return slots_[slot].generation != generation;
  }

  /// Gives a slot back whose counter has drained. A future of 2^32 reuses ago would be taken for a
  /// current one.
  void release(uint32_t slot) {
    ++slots_[slot].generation;
    free_[free_count_++] = slot;
  }

  /// Releases every slot whose operation is complete. Only when exhausted(): then, and only then,
  /// each slot is known to be in use. Returns whether it found one; `collective` becomes true if
  /// one of them was of that kind.
  bool sweep(bool& collective);

  /// Calls `visit` with the counter of each operation of this kind that is in flight.
  template <typename Visit>
  void for_each_pending(Kind kind, Visit visit) const {
    for (uint32_t slot = 0; slot < high_water_; ++slot) {
      const Slot& entry = slots_[slot];
      if (entry.kind == kind && entry.counter.pending != 0) visit(entry.counter);
    }
  }

  uint32_t in_use() const { return static_cast<uint32_t>(slots_.size()) - free_count_; }
  uint32_t capacity() const { return static_cast<uint32_t>(slots_.size()); }

 private:
  struct Slot {
    fabric::Counter counter;
    uint32_t generation = 0;
    Kind kind = Kind::get;
    bool source_free = false;
  };
  static_assert(sizeof(Slot) + sizeof(uint32_t) == kBytesPerSlot);  // it and its place in free_
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;  // a stack: the slot used last is warm
  uint32_t free_count_ = 0;
  uint32_t high_water_ = 0;  // slots at or above were never used
};

}  // namespace stripline::rma
