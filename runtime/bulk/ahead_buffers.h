// Memory that gets are fetched ahead into: a ring, from which each takes a part until the program
// has asked for it, or will not. What is in flight into a part keeps it, however useless, so that a
// visit of a phase need not wait for what was fetched in vain by the one before.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "runtime/rma/bounce_ring.h"

namespace stripline::bulk {

/// Buffers have numbers, which are not used again. Not thread-safe.
class AheadBuffers {
 public:
  struct Buffer {
    uint64_t number = 0;
    std::byte* memory = nullptr;
  };

  /// Wants this much memory, at most `most`, from the next time on that no buffer is in use.
  void fit(uint64_t bytes, uint64_t most) {
    const uint64_t wanted = std::min(bytes, most);
    if (buffers_.empty() && wanted > ring_.capacity()) ring_ = rma::BounceRing(wanted);
  }
  uint64_t capacity() const { return ring_.capacity(); }

  /// A buffer for the get of a slot; none: there is no room now.
  std::optional<Buffer> acquire(size_t bytes, rma::SlotUse use) {
    std::byte* const memory = ring_.capacity() == 0 ? nullptr : ring_.acquire(bytes, use);
    if (memory == nullptr) return std::nullopt;
    buffers_.push_back({use, memory});
    return Buffer{first_ + buffers_.size() - 1, memory};
  }
  rma::SlotUse use_of(uint64_t number) const { return buffers_[number - first_].use; }
  const std::byte* memory_of(uint64_t number) const { return buffers_[number - first_].memory; }
  /// No one wants what is in it, or will be.
  void give_back(uint64_t number) { buffers_[number - first_].wanted = false; }

  /// Takes the memory of those back that no one wants and whose get is complete, the oldest first:
  /// `is_over(use)` says so, and retires it.
  template <typename IsOver>
  void collect(const IsOver& is_over) {
    while (!buffers_.empty() && !buffers_.front().wanted && is_over(buffers_.front().use)) {
      ring_.release_oldest();
      buffers_.pop_front();
      ++first_;
    }
  }
  /// Takes all of it back, the oldest first, after `finish(use)` of each get.
  template <typename Finish>
  void clear(const Finish& finish) {
    for (; !buffers_.empty(); ++first_) {
      finish(buffers_.front().use);
      ring_.release_oldest();
      buffers_.pop_front();
    }
  }
  bool empty() const { return buffers_.empty(); }

 private:
  struct Taken {
    rma::SlotUse use;
    const std::byte* memory = nullptr;
    bool wanted = true;
  };

  rma::BounceRing ring_{0};
  std::deque<Taken> buffers_;  // by age, as in the ring
  uint64_t first_ = 0;         // the number of the oldest one
};

}  // namespace stripline::bulk
