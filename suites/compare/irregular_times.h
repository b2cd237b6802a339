// Times of irregular updates and reads, for systems that measure them alike: each is a program of
// its own, started by its own launcher, and prints one JSON line per operation and table.
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

namespace stripline::suites::compare {

/// In caches, and beyond.
inline constexpr std::array<uint64_t, 2> kCellsPerRank = {1000, uint64_t{1} << 20U};

enum class Irregular : uint8_t { histogram, indexgather };

/// `system` has rank(), ranks(), now_s(), barrier(), longest(times), which makes the times of rank
/// 0 the element-wise maximum over all ranks; prepare(cells_per_rank, index), called collectively
/// before what follows with that table and those cells of it; table(), this rank's part;
/// histogram(), which adds 1 to each cell of `index`, and gather(result); and for what is not timed
/// of either, begin(operation) and end(). A line holds the median of the times of batches. Returns
/// false if a result was wrong.
template <typename System>
bool print_irregular_times(System& system, size_t items, int batches, const char* name) {
  constexpr int kWarmUp = 2;
  std::vector<double> times;
  const auto time = [&](Irregular operation, const auto& run) {
    times.clear();
    for (int batch = -kWarmUp; batch < batches; ++batch) {
      system.begin(operation);
      system.barrier();
      const double start_s = system.now_s();
      run();
      const double time_s = system.now_s() - start_s;
      system.barrier();
      system.end();
      if (batch >= 0) times.push_back(time_s);
    }
    system.barrier();
    system.longest(times);
  };
  const auto print = [&](const char* operation, uint64_t cells) {
    if (system.rank() != 0) return;
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    std::printf(R"({"system":"%s","operation":"%s","ranks":%zu,"cells":%llu,"items":%zu,)"
                R"("median_s":%.9g})"
                "\n",
                name, operation, static_cast<size_t>(system.ranks()),
                static_cast<unsigned long long>(cells), items, *middle);
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
    time(Irregular::histogram, [&] { system.histogram(); });
    std::vector<uint64_t> expected(cells);
    for (size_t rank = 0; rank < system.ranks(); ++rank) {
      for (size_t i = 0; i < items; ++i) {
        const uint64_t cell = index_of(rank, i);
        if (cell / cells == system.rank()) {
          expected[cell % cells] += static_cast<uint64_t>(kWarmUp + batches);
        }
      }
    }
    good = good && std::ranges::equal(table, expected);
    print("histogram", cells);

    for (uint64_t i = 0; i < cells; ++i) table[i] = mix64(system.rank() * cells + i);
    std::vector<uint64_t> result(items);
    system.barrier();
    time(Irregular::indexgather, [&] { system.gather(result); });
    for (size_t i = 0; i < items; ++i) good = good && result[i] == mix64(index[i]);
    print("indexgather", cells);
  }
  if (!good) std::fprintf(stderr, "%s: a result is wrong\n", name);
  return good;
}

}  // namespace stripline::suites::compare
