#include "suites/targets/knob_search.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/targets/registry.h"

namespace stripline::suites::tune {
namespace {

std::set<uint32_t> ranks_of(const std::vector<DriverCell>& cells) {
  std::set<uint32_t> ranks;
  for (const DriverCell& cell : cells) ranks.insert(cell.ranks);
  return ranks;
}

TEST(KnobCells, AreOfTheFewestRanksAndOfTheMostThatHaveProcessors) {
  const std::vector<uint32_t> ranks = {2, 3, 4, 8};
  for (const targets::Target* const target : targets::all_targets()) {
    if (target->support != targets::Support::tuned) continue;
    SCOPED_TRACE(target->name);
    EXPECT_EQ(ranks_of(knob_cells(*target, ranks, 1)), (std::set<uint32_t>{2}));
    EXPECT_EQ(ranks_of(knob_cells(*target, ranks, 2)), (std::set<uint32_t>{2}));
    EXPECT_EQ(ranks_of(knob_cells(*target, ranks, 6)), (std::set<uint32_t>{2, 4}));
    const auto cells = knob_cells(*target, ranks, 8);
    EXPECT_EQ(ranks_of(cells), (std::set<uint32_t>{2, 8}));
    // Series are found again by these.
    std::set<std::tuple<std::string, uint32_t, uint64_t>> seen;
    for (const DriverCell& cell : cells) {
      EXPECT_TRUE(seen.emplace(cell.operation, cell.ranks, cell.bytes).second) << cell.operation;
    }
  }
}

TEST(KnobCells, HaveWhatTheValuesOfATargetActOn) {
  const auto has = [](const char* target, const char* operation) {
    const auto cells = knob_cells(**targets::find_target(target), {2, 8}, 8);
    return std::ranges::any_of(cells, [&](const DriverCell& cell) {
      return cell.operation == operation && cell.ranks == 8;
    });
  };
  EXPECT_TRUE(has("mpich", "ibcast"));
  EXPECT_TRUE(has("mpich", "ireduce"));
  EXPECT_FALSE(has("openmpi", "ibcast"));
  EXPECT_TRUE(has("gasnet", "barrier"));
  EXPECT_FALSE(has("libfabric", "allreduce"));
}

}  // namespace
}  // namespace stripline::suites::tune
