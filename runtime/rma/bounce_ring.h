// Copies of what buffered puts send: a ring of memory, given out and taken back in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/rma/completion_slots.h"

namespace stripline::rma {

class BounceRing {
 public:
  explicit BounceRing(size_t capacity) : capacity_(capacity) {}

  /// Room for 1 to capacity() bytes, or null while older copies occupy it. The memory exists
  /// from the first call on.
  std::byte* acquire(size_t bytes, SlotUse use);

  bool empty() const { return copies_.empty(); }
  /// The operation of the copy that was made first; it must be released first. Requires !empty().
  SlotUse oldest() const { return copies_.front().use; }
  void release_oldest() { copies_.pop_front(); }

  size_t capacity() const { return capacity_; }

 private:
  struct Copy {
    size_t begin;
    size_t end;
    SlotUse use;
  };
  size_t capacity_;
  std::vector<std::byte> memory_;
  std::deque<Copy> copies_;  // by age
};

}  // namespace stripline::rma
