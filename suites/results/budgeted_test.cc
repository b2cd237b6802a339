#include "suites/results/budgeted.h"

#include <gtest/gtest.h>

#include "optimizer/experiment/experiment.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

TEST(RandomVisCells, CanBeMeasuredAndAreTheSameForASeed) {
  const std::vector<VisCell> cells = random_vis_cells(60, 7);
  const std::vector<VisCell> again = random_vis_cells(60, 7);
  ASSERT_EQ(cells.size(), 60U);
  EXPECT_NE(random_vis_cells(60, 8).back().text(), cells.back().text());
  const Benchmark* vis = find_benchmark(micro::kVis.name);
  ASSERT_NE(vis, nullptr);
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].text(), again[i].text());
    for (experiment::Point point : vis_points(cells[i], nullptr)) {
      const auto refused = experiment::complete_point(vis->declaration, point);
      EXPECT_FALSE(refused) << cells[i].text() << ": " << *refused;
    }
  }
}

TEST(Budgeted, RefusesWhatItCannotJudge) {
  Options options;
  EXPECT_EQ(print_budgeted(options).error().code(), ErrorCode::invalid_argument);
  options.models.emplace("tcp", "a.json");
  const Status real = print_budgeted(options);
  ASSERT_FALSE(real.ok());
  EXPECT_NE(real.error().message().find("'tcp'"), std::string::npos);
}

}  // namespace
}  // namespace stripline::suites::results
