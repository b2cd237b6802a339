#include "suites/results/drawn_cells.h"

#include <set>

#include <gtest/gtest.h>

#include "optimizer/model/example.h"

namespace stripline::suites::results {
namespace {

TEST(DrawnCells, AreTheSameForASeedAndDifferForAnother) {
  const auto cells = draw_cells(7, {});
  const auto again = draw_cells(7, {});
  const auto others = draw_cells(8, {});
  ASSERT_EQ(cells.size(), 60U);
  std::set<std::string> texts;
  size_t same = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(cells[i].text(), again[i].text());
    same += cells[i].text() == others[i].text() ? 1 : 0;
    texts.insert(cells[i].text());
  }
  EXPECT_EQ(same, 0U);
  EXPECT_GT(texts.size(), 58U);
}

TEST(DrawnCells, HaveASweepAndCanBeMeasured) {
  const model::TunedModel model = model::full_example();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const DrawnCell& cell : draw_cells(seed, {})) {
      const auto points = points_of(cell, model);
      ASSERT_TRUE(points.ok()) << points.error().message();
      EXPECT_GE(points->sweep.size(), 3U) << cell.text();
    }
  }
}

TEST(DrawnCells, HaveAsManyOfEachKindAsAreAskedFor) {
  const auto cells = draw_cells(3, {{2, 0, 1, 0, 4}});
  ASSERT_EQ(cells.size(), 7U);
  EXPECT_EQ(cells[1].kind, ProblemKind::loop);
  EXPECT_EQ(cells[2].kind, ProblemKind::call);
  EXPECT_TRUE(cells[2].call);
  EXPECT_EQ(cells[6].kind, ProblemKind::gather);
}

}  // namespace
}  // namespace stripline::suites::results
