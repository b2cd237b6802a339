#include "suites/kernels/candidates.h"

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/strided_variants.h"
#include "suites/registry.h"

namespace stripline::suites {
namespace {

using experiment::Point;

Point problem(const std::string& name, const experiment::Params& params) {
  Point point{name, "blocking", params};
  const auto trouble = experiment::complete_point(find_benchmark(name)->declaration, point);
  EXPECT_FALSE(trouble) << *trouble;
  return point;
}

TEST(Candidates, AreDistinctAcceptedAndBeginWithTheSimplest) {
  for (const Point& base :
       {problem("kernel.matvec", {{"rows", int64_t{100}}}),
        problem("kernel.transpose", {{"n", int64_t{256}}}), problem("kernel.triad", {}),
        problem("kernel.prk_sparse", {}), problem("kernel.prk_transpose", {{"n", int64_t{512}}})}) {
    ASSERT_OK_AND_ASSIGN(const auto points, forced_candidates(base, 4));
    EXPECT_GT(points.size(), 20u);
    EXPECT_LT(points.size(), 60u);
    std::set<std::string> keys;
    for (Point point : points) {
      EXPECT_EQ(point.variant, "forced");
      EXPECT_TRUE(keys.insert(experiment::point_key(point)).second);
      const auto trouble =
          experiment::complete_point(find_benchmark(point.experiment)->declaration, point);
      EXPECT_FALSE(trouble) << *trouble;
      EXPECT_TRUE(decomposition_of(point).ok()) << experiment::point_key(point);
    }
    const auto first = decomposition_of(points.front());
    EXPECT_EQ(first->schedule, plan::Schedule::vectorised);
  }
}

TEST(Candidates, WindowsAreSmallerThanTheNumberOfStrips) {
  ASSERT_OK_AND_ASSIGN(const auto points,
                       forced_candidates(problem("kernel.matvec", {{"rows", int64_t{2}}}), 2));
  for (const Point& point : points) {
    ASSERT_OK_AND_ASSIGN(const auto candidate, decomposition_of(point));
    if (candidate.schedule != plan::Schedule::pipelined) continue;
    EXPECT_LT(candidate.window * candidate.strip_bytes, uint64_t{2} * 1024 * 8);
  }
}

TEST(Candidates, StripsAreAtMost256CountingTheLastShortOne) {
  // 256 strips of 1 KiB and one of 8 B.
  const auto base = problem("kernel.matvec", {{"rows", int64_t{1}}, {"cols", int64_t{32769}}});
  ASSERT_OK_AND_ASSIGN(const auto transfer, transfer_of(base, 2));
  ASSERT_OK_AND_ASSIGN(const auto points, forced_candidates(base, 2));
  for (const Point& point : points) {
    const uint64_t strip = decomposition_of(point)->strip_bytes;
    if (strip == 0) continue;
    EXPECT_LE((transfer.block_bytes + strip - 1) / strip, 256u) << strip;
  }
}

TEST(Candidates, OtherExperimentsHaveNone) {
  const auto points = forced_candidates(Point{"micro.compute", "alu", {}}, 2);
  ASSERT_FALSE(points.ok());
  EXPECT_NE(points.error().message().find("kernel.matvec"), std::string::npos);
}

TEST(Candidates, OfASearchAreAcceptedAndHoldTheVariantsByHand) {
  const std::map<std::string, std::set<std::string>> variants = {
      {"kernel.matvec", {"forced", "hand", "hand4"}},
      {"kernel.nas_ft", {"forced", "hand", "hand4", "pencils"}},
      {"kernel.nas_mg", {"forced", "hand", "packed"}},
      {"kernel.nas_bt", {"forced", "hand", "packed"}},
      {"kernel.prk_stencil", {"forced", "hand", "packed"}}};
  for (const auto& [name, expected] : variants) {
    SCOPED_TRACE(name);
    ASSERT_OK_AND_ASSIGN(const auto points, search_candidates(problem(name, {}), 4));
    std::set<std::string> found;
    std::set<std::string> keys;
    for (Point point : points) {
      found.insert(point.variant);
      EXPECT_TRUE(keys.insert(experiment::point_key(point)).second);
      const auto trouble = experiment::complete_point(find_benchmark(name)->declaration, point);
      EXPECT_FALSE(trouble) << *trouble;
    }
    EXPECT_EQ(found, expected);
    // What a program by hand may be is no schedule with a window, nor a method of the runtime.
    const auto swept = hand_swept(points);
    EXPECT_FALSE(swept.empty());
    for (const Point& point : swept) {
      EXPECT_NE(experiment::text_param(point, kScheduleFactor), "B");
      EXPECT_EQ(point.variant == "forced" && point.params.contains(kMethodFactor), false);
    }
  }
  // Four numbers of pieces by hand and by each of three methods; packed by hand.
  EXPECT_EQ(search_candidates(problem("kernel.nas_bt", {}), 4)->size(), 4U + 1 + 3 * 4);
}

}  // namespace
}  // namespace stripline::suites
