#include "suites/results/untuned.h"

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

CellResult cell(const std::string& fabric, double untuned_over_blocking, double noise = 0) {
  CellResult result;
  result.fabric = fabric;
  result.ranks = 4;
  result.problem = "kernel.matvec: rows=1";
  result.key = fabric + ", 4 ranks, " + result.problem;
  for (const double sign : {1.0, -1.0, 1.0, -1.0}) {
    result.times["blocking"].push_back(1e-3);
    result.times["untuned"].push_back(1e-3 * untuned_over_blocking * (1 + sign * noise));
  }
  result.plans = {{"blocking", "blocking, whole blocks"}, {"untuned", "blocking, 1 x 8 KiB"}};
  return result;
}

TEST(UntunedTables, SayWhichNetworkHasASlowerCell) {
  const auto text = untuned_tables(
      {cell("tcp", 1.001), cell("tcp", 0.5), cell("shm", 1.03), cell("shm", 1.01, 0.2)},
      {{"tcp", 0.4}});
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto holds = [&](const char* part) { return text->find(part) != std::string::npos; };
  EXPECT_TRUE(holds("all 4 cells: 2 NON_INFERIOR, 1 INFERIOR, 1 INCONCLUSIVE")) << *text;
  EXPECT_TRUE(holds("| tcp | 40 % | 2 | 0.707 [")) << *text;
  EXPECT_TRUE(holds("| 2 NON_INFERIOR, 0 INFERIOR, 0 INCONCLUSIVE | 1.001 |")) << *text;
  EXPECT_TRUE(holds("| shm | – | 2 |")) << *text;
  EXPECT_TRUE(holds("| 1.030 | 4 ranks, kernel.matvec: rows=1 | no INFERIOR: NOT MET |")) << *text;
  EXPECT_TRUE(holds("| 1.030 [1.030, 1.030] | INFERIOR | blocking, 1 x 8 KiB |")) << *text;
}

TEST(UntunedTables, ARunThatIsMissingIsAnError) {
  CellResult damaged = cell("tcp", 1);
  damaged.times["untuned"].pop_back();
  EXPECT_FALSE(untuned_tables({damaged}, {}).ok());
}

}  // namespace
}  // namespace stripline::suites::results
