// Times of collective operations, of systems that measure them alike (suites/harness/timed.h).
//
// A repetition starts when a rank has left the system's barrier and ends when its part of the
// operation is done; its time is that of the rank that took longest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "suites/harness/timed.h"

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
inline constexpr std::array<size_t, 4> kTimedBytes = {8, 1024, 65536, 262144};

/// `system` is Ranks, and has input() and output(), memory of kTimedBytes.back() per rank from
/// which it likes to communicate, and perform(operation, in, out, elements) on doubles (`in` and
/// `out` hold `elements` per rank). Returns false if a result was wrong.
template <typename System>
bool print_collective_times(System& system, size_t repetitions, const char* name) {
  constexpr size_t kWarmUp = 20;
  bool good = true;
  for (size_t op = 0; op < kTimedCollectives.size(); ++op) {
    const auto operation = static_cast<TimedCollective>(op);
    const bool barrier = operation == TimedCollective::barrier;
    for (const size_t bytes : kTimedBytes) {
      if (barrier && bytes != kTimedBytes.front()) continue;
      const size_t elements = bytes / sizeof(double);
      const std::span<double> in = system.input().first(elements * system.ranks());
      const std::span<double> out = system.output().first(in.size());
      std::fill(in.begin(), in.end(), 1.0);
      std::fill(out.begin(), out.end(), 0.0);
      std::vector<double> times;
      for (size_t i = 0; i < kWarmUp + repetitions; ++i) {
        const double time_s = harness::timed_s(
            system, 1, [&](size_t) { system.perform(operation, in, out, elements); });
        if (i >= kWarmUp) times.push_back(time_s);
      }
      // Sums of ones, and ones.
      const bool sums = operation == TimedCollective::allreduce ||
                        (operation == TimedCollective::reduce && system.rank() == 0);
      const bool copies =
          operation == TimedCollective::allgather || operation == TimedCollective::all_to_all;
      if (sums && out[elements - 1] != static_cast<double>(system.ranks())) good = false;
      if (copies && out[out.size() - 1] != 1.0) good = false;
      harness::print_median(system, name,
                            harness::field("operation", kTimedCollectives[op]) + "," +
                                harness::field("bytes", barrier ? 0 : bytes),
                            times);
    }
  }
  return good;
}

}  // namespace stripline::suites::compare
