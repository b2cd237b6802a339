#include "suites/results/update_choices.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::suites::results {
namespace {

TEST(UpdateCells, AreAtLeastSixtyOnFiveNetworks) {
  ASSERT_OK_AND_ASSIGN(const auto cells, update_cells({}));
  EXPECT_GE(cells.size(), 60U);
  std::set<std::string> networks;
  std::set<std::string> keys;
  for (const Cell& cell : cells) {
    networks.insert(cell.network.fabric);
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
    ASSERT_OK_AND_ASSIGN(const auto rows, update_rows(cell));
    EXPECT_EQ(rows.front().first, kChosenRow);
    EXPECT_GE(rows.size(), 5U);
  }
  EXPECT_EQ(networks.size(), 5U);
}

TEST(UpdateCells, AreSelectedByName) {
  Options options;
  options.cells = "64 ranks";
  ASSERT_OK_AND_ASSIGN(const auto cells, update_cells(options));
  for (const Cell& cell : cells) EXPECT_EQ(cell.ranks, 64U);
  options.cells = "no such thing";
  const auto none = update_cells(options);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("'no such thing'"), std::string::npos);
}

TEST(UpdateTables, TellWhatIsLostInWhichCell) {
  CellResult good{"tcp, a", "tcp", 2, "a", {{"chosen", "buffers"}}, {}, 0};
  good.times = {{"chosen", {1e-9, 1.1e-9}}, {"messages", {2e-9, 2.1e-9}}};
  CellResult bad = good;
  bad.problem = "b";
  bad.times = {{"chosen", {2e-9, 2e-9}}, {"messages", {1e-9, 1e-9}}};
  ASSERT_OK_AND_ASSIGN(const auto tables, choice_tables(update_question(), {good, bad}));
  EXPECT_NE(tables.find("| tcp | 2 | 41.4 % | NOT MET | 100.0 % | NOT MET | 2 ranks, b |"),
            std::string::npos)
      << tables;
  bad.times.at("chosen").pop_back();
  bad.times.at("messages").pop_back();
  EXPECT_FALSE(choice_tables(update_question(), {bad}).ok());
}

}  // namespace
}  // namespace stripline::suites::results
