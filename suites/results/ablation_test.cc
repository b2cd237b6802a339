#include "suites/results/ablation.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

TEST(AblatedRows, AreOfAllTables) {
  const auto rows = ablated_rows({});
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  std::map<std::string, std::set<std::string>> networks;
  for (const AblatedRow& row : *rows) networks[row.table].insert(row.cell.network.fabric);
  for (const char* table :
       {"updates", "conveyors", "indirect", "solvers", "update-choices", "gather-choices"}) {
    EXPECT_GE(networks[table].size(), 3U) << table;
  }
  EXPECT_EQ(networks["shared-updates"], std::set<std::string>{"tcp"});
}

TEST(AblatedRows, AreSelectedByName) {
  Options options;
  options.cells = "kernel.guppie";
  const auto rows = ablated_rows(options);
  ASSERT_TRUE(rows.ok()) << rows.error().message();
  for (const AblatedRow& row : *rows) EXPECT_EQ(row.cell.problem.experiment, "kernel.guppie");
  options.cells = "no such thing";
  const auto none = ablated_rows(options);
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().message().find("'no such thing'"), std::string::npos);
}

CellResult measured(const std::string& problem, const std::vector<double>& wrong) {
  CellResult result{"tcp, " + problem, "tcp", 2, problem, {}, {}, 0};
  result.times = {{"its model", {1e-6, 1e-6, 1e-6}},
                  {"none", {2e-6, 2e-6, 2e-6}},
                  {"wrong 1", {1e-6, 1e-6, 1e-6}},
                  {"wrong 2", wrong}};
  return result;
}

TEST(AblationTables, ShowTheSlowerOfTheWrongModels) {
  const std::vector<AblatedRow> rows = {{"updates", {}}, {"updates", {}}, {"solvers", {}}};
  const std::string tables =
      ablation_tables(rows, {measured("a", {2e-6, 2e-6, 2e-6}), measured("b", {3e-6, 3e-6, 3e-6}),
                             measured("c", {3e-6, 2e-6, 3e-6})});
  EXPECT_NE(tables.find("| updates | 2 | 0.500 | 1.225 | 1.500 | tcp, b | 1 |"), std::string::npos)
      << tables;
  EXPECT_NE(tables.find("| 0.500 | 1.000 | met |"), std::string::npos) << tables;
  EXPECT_NE(tables.find("| 0.500 | 1.500 | NOT MET |"), std::string::npos) << tables;
  EXPECT_NE(tables.find("| 0.500 | 1.500 | INCONCLUSIVE |"), std::string::npos) << tables;
}

}  // namespace
}  // namespace stripline::suites::results
