#include "suites/results/analysis.h"

#include <gtest/gtest.h>

namespace stripline::suites::results {
namespace {

TEST(AnalysisTable, JudgesEachKernelAtTheSpeedOfItsNetwork) {
  CellResult light;
  light.fabric = "tcp";
  light.ranks = 2;
  light.problem = "kernel.analysis: kernel=kernel.nas_is repetitions=10";
  light.plans = {{"run", "A"}, {"analysis", "120 loops, 4 planned again"}};
  light.times = {{"run", {1.0, 1.0, 9.0}}, {"analysis", {0.001, 0.002, 0.009}}};
  CellResult heavy = light;
  heavy.fabric = "emulated:itanium-gm,compute=declared";  // a CPU that is six times slower
  const auto text = analysis_table({light, heavy}, {{"tcp", 0.42}});
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto holds = [&](const char* part) { return text->find(part) != std::string::npos; };
  EXPECT_TRUE(holds("less than 0.5 % in 1 of 2 kernels; the largest is 0.600 %.")) << *text;
  EXPECT_TRUE(
      holds("| tcp | 42 % | 2 | kernel=kernel.nas_is repetitions=10 | 120 loops, 4 planned "
            "again | 1.000 ms | 1.000 s | 0.100 % | 0.100 % | less than 0.5 %: met |"))
      << *text;
  EXPECT_TRUE(holds("| 0.100 % | 0.600 % | less than 0.5 %: NOT MET |")) << *text;
  light.fabric = "emulated:pigeon";
  EXPECT_FALSE(analysis_table({light}, {}).ok());
}

}  // namespace
}  // namespace stripline::suites::results
