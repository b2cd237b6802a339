// How rank 0 notifies rank 1 of whose batch is next, through memory that both share: nothing of
// what is measured is used for it. Both wait by spinning, outside of what is timed. Zeros are its
// initial state.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <sched.h>

namespace stripline::suites::harness {

struct Turns {
  static constexpr size_t kStop = SIZE_MAX;  ///< as a contender: no more batches

  // Written by rank 0 before `begun`.
  size_t contender = 0;
  size_t row = 0;
  uint64_t salt = 0;
  bool right = false;  ///< by rank 1, before `left`

  std::atomic<uint64_t> begun{0};  ///< rank 0 asks for the turn of this number
  std::atomic<uint64_t> ready{0};  ///< rank 1 has prepared its memory
  std::atomic<uint64_t> ended{0};  ///< rank 0 has what it waited for
  std::atomic<uint64_t> left{0};   ///< rank 1 has checked its memory

  static void wait_for(const std::atomic<uint64_t>& number, uint64_t turn) {
    while (number.load(std::memory_order_acquire) < turn) sched_yield();
  }
  /// On rank 1, during a turn: whether rank 0 has all it waited for.
  bool is_over() const {
    return ended.load(std::memory_order_acquire) == begun.load(std::memory_order_relaxed);
  }
};

}  // namespace stripline::suites::harness
