#include "suites/results/gather_choices.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

TEST(GatherCells, AreAtLeastSixtyOnRealAndEmulatedNetworks) {
  const auto cells = gather_cells({});
  ASSERT_TRUE(cells.ok()) << cells.error().message();
  EXPECT_GE(cells->size(), 60U);
  std::set<std::string> networks;
  std::set<std::string> keys;
  for (const Cell& cell : *cells) {
    networks.insert(cell.network.path());
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
    const auto rows = gather_rows(cell);
    ASSERT_TRUE(rows.ok()) << rows.error().message();
    EXPECT_EQ(rows->front().first, kChosenRow);
    EXPECT_GE(rows->size(), 5U);
  }
  EXPECT_EQ(networks.size(), 6U);
}

TEST(GatherCells, AreSelectedByName) {
  Options options;
  options.only = "tcp";
  options.cells = "matrix=random";
  const auto cells = gather_cells(options);
  ASSERT_TRUE(cells.ok());
  for (const Cell& cell : *cells) EXPECT_EQ(cell.network.path(), "tcp");
  options.only = "same_node=mapped";
  const auto mapped = gather_cells(options);
  ASSERT_TRUE(mapped.ok());
  for (const Cell& cell : *mapped) EXPECT_NE(cell.network.same_node, "network");
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

}  // namespace
}  // namespace stripline::suites::results
