// The ranks of a test of the NAS kernels: threads of one process that reach each other's memory,
// and meet at a barrier.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <vector>

namespace stripline::suites::nas {

/// Where the ranks of a test meet, and the memory that they expose, `shared_elements` on each.
template <typename T>
class TestTeam {
 public:
  TestTeam(uint32_t ranks, size_t shared_elements)
      : barrier_(ranks), slots_(ranks), memory_(ranks, std::vector<T>(shared_elements)) {}

  uint32_t ranks() const { return static_cast<uint32_t>(memory_.size()); }
  std::span<T> shared(uint32_t rank) { return memory_[rank]; }
  void barrier() { barrier_.arrive_and_wait(); }

  /// Combines the values of the ranks first, first + stride, ... (count of them), in this order on
  /// all ranks. All ranks of the team call it at the same time, each for the group it belongs to.
  template <typename Combine>
  double reduce(uint32_t me, double value, uint32_t first, uint32_t stride, uint32_t count,
                Combine combine) {
    slots_[me] = value;
    barrier();
    double result = slots_[first];
    for (uint32_t i = 1; i < count; ++i) result = combine(result, slots_[first + i * stride]);
    barrier();
    return result;
  }
  double sum(uint32_t me, double value) {
    return reduce(me, value, 0, 1, ranks(), std::plus<double>());
  }
  double max(uint32_t me, double value) {
    return reduce(me, value, 0, 1, ranks(), [](double a, double b) { return std::max(a, b); });
  }

 private:
  std::barrier<> barrier_;
  std::vector<double> slots_;
  std::vector<std::vector<T>> memory_;
};

/// Runs `body(rank)` on `ranks` threads and waits for them.
template <typename Body>
void run_as_ranks(uint32_t ranks, const Body& body) {
  std::vector<std::jthread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank) threads.emplace_back([&body, rank] { body(rank); });
}

/// Calls `body(begin, end)` for [begin, end) in pieces of `piece`.
template <typename Body>
void in_pieces(size_t begin, size_t end, size_t piece, const Body& body) {
  for (size_t at = begin; at < end; at += piece) body(at, std::min(at + piece, end));
}

}  // namespace stripline::suites::nas
