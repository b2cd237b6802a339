// Times of irregular updates and reads, of systems that measure them alike
// (suites/harness/timed.h).
//
// Tables of 8-byte cells lie in blocks on the ranks; each rank counts keys in one (histogram), or
// reads elements of one (indexgather), wherever random numbers say, as bale's programs of these
// names do.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "base/random.h"
#include "suites/harness/timed.h"

namespace stripline::suites::compare {

/// In caches, and beyond.
inline constexpr std::array<uint64_t, 2> kCellsPerRank = {1000, uint64_t{1} << 20U};

enum class Irregular : uint8_t { histogram, indexgather };

/// `system` is Ranks, and has prepare(cells_per_rank, index), called collectively before what
/// follows with that table and those cells of it; table(), this rank's part; histogram(), which
/// adds 1 to each cell of `index`, and gather(result); and for what is not timed of either,
/// begin(operation) and end(). Returns false if a result was wrong.
template <typename System>
bool print_irregular_times(System& system, size_t items, size_t batches, const char* name) {
  constexpr size_t kWarmUp = 2;
  const auto print = [&](Irregular operation, const char* text, uint64_t cells, const auto& run) {
    std::vector<double> times;
    for (size_t batch = 0; batch < kWarmUp + batches; ++batch) {
      system.begin(operation);
      const double time_s = harness::timed_s(system, 1, [&](size_t) { run(); });
      system.barrier();
      system.end();
      if (batch >= kWarmUp) times.push_back(time_s);
    }
    system.barrier();
    harness::print_median(system, name,
                          harness::field("operation", text) + "," + harness::field("cells", cells) +
                              "," + harness::field("items", items),
                          times);
  };
  bool good = true;
  for (const uint64_t cells : kCellsPerRank) {
    const uint64_t all = cells * system.ranks();
    const auto index_of = [&](size_t rank, size_t i) { return hash_of(7, rank, i) % all; };
    std::vector<uint64_t> index(items);
    for (size_t i = 0; i < items; ++i) index[i] = index_of(system.rank(), i);
    system.prepare(cells, index);

    const std::span<uint64_t> table = system.table();
    std::ranges::fill(table, uint64_t{0});
    print(Irregular::histogram, "histogram", cells, [&] { system.histogram(); });
    std::vector<uint64_t> expected(cells);
    for (size_t rank = 0; rank < system.ranks(); ++rank) {
      for (size_t i = 0; i < items; ++i) {
        const uint64_t cell = index_of(rank, i);
        if (cell / cells == system.rank()) {
          expected[cell % cells] += kWarmUp + batches;
        }
      }
    }
    good = good && std::ranges::equal(table, expected);

    for (uint64_t i = 0; i < cells; ++i) table[i] = mix64(system.rank() * cells + i);
    std::vector<uint64_t> result(items);
    system.barrier();
    print(Irregular::indexgather, "indexgather", cells, [&] { system.gather(result); });
    for (size_t i = 0; i < items; ++i) good = good && result[i] == mix64(index[i]);
  }
  if (!good) std::fprintf(stderr, "%s: a result is wrong\n", name);
  return good;
}

}  // namespace stripline::suites::compare
