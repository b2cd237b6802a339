#include "suites/results/gather_choices.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::suites::results {
namespace {

TEST(GatherCells, AreAtLeastSixtyOnRealAndEmulatedNetworks) {
  ASSERT_OK_AND_ASSIGN(const auto cells, gather_cells({}));
  EXPECT_GE(cells.size(), 60U);
  std::set<std::string> networks;
  std::set<std::string> keys;
  for (const Cell& cell : cells) {
    networks.insert(cell.network.path());
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
    ASSERT_OK_AND_ASSIGN(const auto rows, gather_rows(cell));
    EXPECT_EQ(rows.front().first, kChosenRow);
    EXPECT_GE(rows.size(), 5U);
  }
  EXPECT_EQ(networks.size(), 6U);
}

TEST(GatherCells, AreSelectedByName) {
  Options options;
  options.only = "tcp";
  options.cells = "matrix=random";
  ASSERT_OK_AND_ASSIGN(const auto cells, gather_cells(options));
  for (const Cell& cell : cells) EXPECT_EQ(cell.network.path(), "tcp");
  options.only = "same_node=mapped";
  ASSERT_OK_AND_ASSIGN(const auto mapped, gather_cells(options));
  for (const Cell& cell : mapped) EXPECT_NE(cell.network.same_node, "network");
  options.only = "no such thing";
  const auto none = gather_cells(options);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("emulated:opteron-vapi"), std::string::npos);
}

TEST(GatherCells, RestOnPointsOfTheirPath) {
  const ChoiceQuestion question = gather_question();
  const auto of_node = [&](const std::string& same_node) {
    size_t count = 0;
    const Network network{.fabric = "tcp", .clock = "real", .same_node = same_node};
    for (const auto& point : question.campaign(network, false)) {
      count += point.experiment.starts_with("micro.node_") ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(of_node("network"), 0U);
  EXPECT_GT(of_node("mapped"), 0U);
}

// Networks that are emulated have a bound of their own, and a mix of methods is counted that is
// faster than each of them.
TEST(GatherTables, CountCellsInWhichAMixIsTheFastest) {
  CellResult mixed{"emulated:a, 32 ranks", "emulated:a", 32, "a", {{"chosen", "mixed"}}, {}, 0};
  mixed.times = {{"chosen", {1e-6, 1e-6, 1e-6, 1e-6}},
                 {"pack", {1.1e-6, 1.2e-6, 1.15e-6, 1.1e-6}},
                 {"bound", {2e-6, 2e-6, 2e-6, 2e-6}}};
  // Faster in each run, but not surely.
  CellResult equal = mixed;
  equal.problem = "b";
  equal.times.at("pack") = {1.001e-6, 1.001e-6, 1.3e-6, 1.001e-6};
  ASSERT_OK_AND_ASSIGN(const auto tables, choice_tables(gather_question(), {mixed, equal}));
  EXPECT_NE(tables.find("in 1 of 2 cells with 16 ranks or more (criterion: at least 5): NOT MET"),
            std::string::npos)
      << tables;
  for (CellResult* const cell : {&mixed, &equal}) {
    cell->ranks = 2;
    cell->times.at("chosen") = std::vector<double>(4, 1.02 * 1e-6);
    cell->times.at("pack") = std::vector<double>(4, 1e-6);
  }
  ASSERT_OK_AND_ASSIGN(const auto lost, choice_tables(gather_question(), {mixed, equal}));
  EXPECT_EQ(lost.find("ranks or more"), std::string::npos) << lost;
  EXPECT_NE(lost.find("| emulated:a | 2 | 2.0 % | NOT MET |"), std::string::npos) << lost;
  EXPECT_NE(lost.find("| all | 2 | 2.0 % | met |"), std::string::npos) << lost;
}

}  // namespace
}  // namespace stripline::suites::results
