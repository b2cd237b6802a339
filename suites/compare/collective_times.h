// Times of collective operations, for two systems that measure them alike: each is a program of its
// own, started by its own launcher, and prints one JSON line per operation and size.
//
// A repetition starts when a rank has left the system's barrier and ends when its part of the
// operation is done; its time is that of the rank that took longest. A line holds the median of the
// repetitions of this job.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

namespace stripline::suites::compare {

enum class TimedCollective {
  barrier,
  broadcast,
  reduce,
  allreduce,
  gather,
  allgather,
  all_to_all,
  scan
};
inline constexpr std::array<const char*, 8> kTimedCollectives = {
    "barrier", "broadcast", "reduce", "allreduce", "gather", "allgather", "all_to_all", "scan"};
/// Sizes of a rank's vector, or of its block for one other rank.
inline constexpr std::array<size_t, 3> kTimedBytes = {8, 1024, 65536};

/// `system` has rank(), ranks(), now_s(), barrier(), input() and output(), memory of
/// kTimedBytes.back() per rank from which it likes to communicate, perform(operation, in, out,
/// elements) on doubles (`in` and `out` hold `elements` per rank), and longest(times), which makes
/// the times of rank 0 the element-wise maximum over all ranks. Returns false if a result was
/// wrong.
template <typename System>
bool print_collective_times(System& system, int repetitions, const char* name) {
  constexpr int kWarmUp = 20;
  bool good = true;
  for (size_t op = 0; op < kTimedCollectives.size(); ++op) {
    const auto operation = static_cast<TimedCollective>(op);
    for (const size_t bytes : kTimedBytes) {
      if (operation == TimedCollective::barrier && bytes != kTimedBytes.front()) continue;
      const size_t elements = bytes / sizeof(double);
      const std::span<double> in = system.input().first(elements * system.ranks());
      const std::span<double> out = system.output().first(in.size());
      std::fill(in.begin(), in.end(), 1.0);
      std::fill(out.begin(), out.end(), 0.0);
      std::vector<double> times;
      for (int i = -kWarmUp; i < repetitions; ++i) {
        system.barrier();
        const double start_s = system.now_s();
        system.perform(operation, in, out, elements);
        const double time_s = system.now_s() - start_s;
        if (i >= 0) times.push_back(time_s);
      }
      // Sums of ones, and ones.
      const bool sums = operation == TimedCollective::allreduce ||
                        (operation == TimedCollective::reduce && system.rank() == 0);
      const bool copies =
          operation == TimedCollective::allgather || operation == TimedCollective::all_to_all;
      if (sums && out[elements - 1] != static_cast<double>(system.ranks())) good = false;
      if (copies && out[out.size() - 1] != 1.0) good = false;
      system.longest(times);
      if (system.rank() != 0) continue;
      std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                       times.end());
      std::printf(R"({"system":"%s","operation":"%s","bytes":%zu,"ranks":%zu,"median_s":%.9g})"
                  "\n",
                  name, kTimedCollectives[op], operation == TimedCollective::barrier ? 0 : bytes,
                  static_cast<size_t>(system.ranks()), times[times.size() / 2]);
    }
  }
  return good;
}

}  // namespace stripline::suites::compare
