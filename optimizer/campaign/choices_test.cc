#include "optimizer/campaign/choices.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/experiment/held_out.h"

namespace stripline::campaign {
namespace {

// Methods of single reads and of blocking copies are raced as those of loops are.
TEST(Choices, MethodsOfOneProblemAreRaced) {
  using experiment::HeldOutKind;
  for (const HeldOutKind kind : {HeldOutKind::loop, HeldOutKind::fine, HeldOutKind::bulk}) {
    size_t index = 0;
    while (experiment::draw_held_out(1, 2, index).kind != kind) ++index;
    const auto problem = experiment::draw_held_out(1, 2, index);
    SCOPED_TRACE(describe(problem));
    std::vector<experiment::Point> points = problem.points;
    if (kind == HeldOutKind::loop) {
      // Cuts are of other problems; variants are not.
      points = {points.front(), points.front()};
      points.back().variant = "blocking";
    }
    PointTable table(points);
    const std::vector<Choice> choices = choices_of(table);
    ASSERT_EQ(choices.size(), 1U);
    EXPECT_EQ(choices.front().places.size(), points.size());
    for (uint32_t run = 1; run <= 6; ++run) {
      std::vector<PointResult> results;
      for (uint32_t place = 0; place < points.size(); ++place) {
        results.push_back({place, (place == 1 ? 1e-3 : 2e-3) * (1 + 1e-3 * run), 5, 0.1});
      }
      table.add_run(run, results);
    }
    EXPECT_EQ(leader_of(table, choices.front()), 1U);
    EXPECT_TRUE(contests_of(table).empty()) << "the others are surely slower";
  }
}

}  // namespace
}  // namespace stripline::campaign
