#include "optimizer/experiment/held_out.h"

#include <array>
#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "optimizer/experiment/catalogue.h"

namespace stripline::experiment {
namespace {

TEST(HeldOut, IsDrawnByTheSeedAlone) {
  for (size_t index = 0; index < 40; ++index) {
    const HeldOutProblem one = draw_held_out(7, 2, index);
    EXPECT_EQ(one.points, draw_held_out(7, 2, index).points);
    EXPECT_NE(one.points, draw_held_out(8, 2, index).points) << describe(one);
    EXPECT_EQ(has_choice(one.kind), one.points.size() > 1) << describe(one);
  }
}

TEST(HeldOut, HoldsSomeOfEachKindSoon) {
  std::set<HeldOutKind> kinds;
  size_t decisions = 0;
  for (size_t index = 0; index < 36; ++index) {
    const HeldOutKind kind = draw_held_out(1, 2, index).kind;
    kinds.insert(kind);
    if (has_choice(kind)) ++decisions;
  }
  EXPECT_EQ(kinds.size(), kHeldOutKinds - 1);  // no shared updates
  EXPECT_EQ(decisions, 20U);
}

// Also campaigns that have room for few problems judge all irregular kinds.
TEST(HeldOut, MeasuresIrregularKindsFirstAndEachProblemOnce) {
  const std::set<HeldOutKind> irregular = {HeldOutKind::update, HeldOutKind::gather,
                                           HeldOutKind::indirect, HeldOutKind::shared};
  std::set<HeldOutKind> first;
  for (size_t place = 0; place < kIrregularKinds; ++place) {
    first.insert(draw_held_out(1, 2, held_out_at(place)).kind);
  }
  EXPECT_EQ(first, irregular);
  std::set<size_t> numbers;
  std::map<HeldOutKind, size_t> soon;
  for (size_t place = 0; place < kMostHeldOut; ++place) {
    const size_t number = held_out_at(place);
    EXPECT_LT(number, kMostHeldOut);
    EXPECT_TRUE(numbers.insert(number).second) << number;
    if (place < 3 * 40) ++soon[draw_held_out(1, 2, number).kind];
  }
  EXPECT_EQ(soon.size(), kHeldOutKinds);
  for (const HeldOutKind kind : irregular) EXPECT_GE(soon[kind], 3U) << to_string(kind);
}

TEST(HeldOut, AlternativesAreMethodsForTheSame) {
  for (size_t index = 0; index < kMostHeldOut; ++index) {
    const HeldOutProblem problem = draw_held_out(3, 4, index);
    std::set<std::string> keys;
    for (const Point& point : problem.points) {
      EXPECT_EQ(point.experiment, problem.points.front().experiment);
      EXPECT_TRUE(keys.insert(point_key(point)).second) << point_key(point);
    }
  }
}

TEST(HeldOut, LiesOnNoGrid) {
  for (size_t index = 0; index < kMostHeldOut; ++index) {
    const HeldOutProblem problem = draw_held_out(5, 2, index);
    if (problem.kind != HeldOutKind::size && problem.kind != HeldOutKind::burst) continue;
    const auto bytes = static_cast<uint64_t>(*number_param(problem.points.front(), factor::kBytes));
    EXPECT_FALSE(std::has_single_bit(bytes)) << bytes;
    EXPECT_FALSE(bytes % 3 == 0 && std::has_single_bit(bytes / 3)) << bytes;
    EXPECT_GE(bytes, 8U);
    EXPECT_LE(bytes, uint64_t{1} << 21);
  }
}

TEST(HeldOut, PointsAreFoundAgainWithTheirDefaults) {
  const std::array<uint64_t, 2> seeds = {11, 12};
  const HeldOutPoints held_out(seeds, 2);
  ASSERT_EQ(held_out.problems().size(), 2 * kMostHeldOut);
  for (size_t index = 0; index < 36; ++index) {
    HeldOutProblem problem = draw_held_out(12, 2, index);
    for (size_t i = 0; i < problem.points.size(); ++i) {
      Point point = problem.points[i];
      point.params["iov_limit"] = int64_t{4};  // as a declaration completes it
      const auto place = held_out.find(point);
      ASSERT_TRUE(place) << point_key(point);
      EXPECT_EQ(held_out.problems()[place->problem].points[place->alternative], problem.points[i]);
    }
  }
  EXPECT_FALSE(held_out.find({micro::kLatency.name, "get", {{"bytes", int64_t{1} << 21}}}));
  EXPECT_FALSE(held_out.find({"micro.compute", "red_in", {{"bytes", int64_t{4096}}}}));
}

}  // namespace
}  // namespace stripline::experiment
