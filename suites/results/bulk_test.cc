#include "suites/results/bulk.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

Options of_quick(bool quick) {
  Options options;
  options.quick = quick;
  return options;
}

TEST(BulkCells, HoldEachKernelOnceOnBothNetworksWithManyRanks) {
  const auto cells = bulk_cells(of_quick(false));
  ASSERT_TRUE(cells.ok()) << cells.error().message();
  std::set<std::string> keys;
  for (const Cell& cell : *cells) {
    EXPECT_TRUE(keys.insert(cell.key()).second) << cell.key();
    EXPECT_TRUE(cell.network.declared);
    EXPECT_TRUE(cell.ranks == 16 || cell.ranks == 64);
  }
  EXPECT_EQ(cells->size(), 2U * 2 * 7);
  Options few = of_quick(true);
  few.cells = "nas_ft";
  const auto quick = bulk_cells(few);
  ASSERT_TRUE(quick.ok());
  ASSERT_EQ(quick->size(), 1U);
  EXPECT_EQ(quick->front().ranks, 4U);
  few.cells = "nas_zz";
  EXPECT_FALSE(bulk_cells(few).ok());
}

TEST(BulkPrograms, AreVariantsOfTheirKernels) {
  for (const BulkProgram& program : bulk_programs()) {
    const Benchmark* const benchmark = find_benchmark(program.kernel);
    ASSERT_NE(benchmark, nullptr) << program.name;
    for (const char* variant : {program.blocking, program.manual, program.automatic}) {
      EXPECT_EQ(std::ranges::count(benchmark->declaration.variants, std::string(variant)), 1)
          << program.name << ": " << variant;
    }
  }
}

// One cell of a kernel whose variants take these parts of the blocking program's time.
CellResult cell(uint32_t ranks, const std::string& kernel, double manual, double automatic) {
  CellResult result;
  result.fabric = "emulated:opteron-vapi,compute=declared";
  result.ranks = ranks;
  result.problem = kernel + ": class=W";
  result.key = result.fabric + ", " + std::to_string(ranks) + " ranks, " + result.problem;
  const auto add = [&](const std::string& row, double ratio) {
    result.times[row] = {1e-3 * ratio, 1e-3 * ratio * 1.0001};
    result.plans[row] = "";
  };
  add("plain", 1);
  add("plain_hand", manual);
  add("bulk", automatic * 1.1);
  add(with_model("bulk"), automatic);
  return result;
}

TEST(BulkTables, CompareWithWhatIsAsked) {
  const auto text =
      bulk_tables({cell(16, "kernel.nas_mg", 0.64, 0.72), cell(16, "kernel.nas_cg", 0.81, 0.72),
                   cell(64, "kernel.nas_mg", 0.5, 0.95), cell(64, "kernel.nas_sp", 0.5, 1.02)});
  ASSERT_TRUE(text.ok()) << text.error().message();
  const auto holds = [&](const char* part) { return text->find(part) != std::string::npos; };
  // The geometric means are 0.72 both.
  EXPECT_TRUE(
      holds("| 16 | 2 | 28.0 % | 20.8 % | 28.0 %, at least 26 %: met | "
            "100 %, at least 85 %: met | 0.720 ("))
      << *text;
  EXPECT_TRUE(holds("at least 29 %: NOT MET")) << *text;
  EXPECT_TRUE(holds("1.020 (SP), at most 1.01: NOT MET")) << *text;
  EXPECT_TRUE(
      holds("| 16 | MG | class=W | 1.000 ms | 640.0 us | 720.0 us | 0.640 | 0.720 | 0.792 "
            "| 1.125 |"))
      << *text;
}

TEST(BulkTables, ARowThatIsMissingIsAnError) {
  CellResult damaged = cell(16, "kernel.nas_mg", 0.6, 0.7);
  damaged.times.erase("plain_hand");
  EXPECT_FALSE(bulk_tables({damaged}).ok());
}

}  // namespace
}  // namespace stripline::suites::results
