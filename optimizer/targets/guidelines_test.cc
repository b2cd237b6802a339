#include "optimizer/targets/guidelines.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace stripline::targets {
namespace {

CellSeries series(Collective collective, uint64_t bytes, double mean) {
  CellSeries made{.cell = {collective, 4, 4, bytes}};
  for (int run = 0; run < 6; ++run) {
    made.times_s.push_back(mean * (1 + 0.01 * std::sin(run + static_cast<double>(bytes))));
  }
  return made;
}

std::vector<Violation> violated(const std::vector<CellSeries>& all) {
  const auto found = violated_guidelines(all, {});
  EXPECT_TRUE(found.ok());
  return found.ok() ? *found : std::vector<Violation>{};
}

TEST(Guidelines, AnOperationThatOthersBeatTogetherIsFound) {
  const auto found =
      violated({series(Collective::allreduce, 8, 50e-6), series(Collective::reduce, 8, 12e-6),
                series(Collective::bcast, 8, 8e-6)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].guideline, "allreduce <= reduce + bcast");
  EXPECT_NEAR(found[0].test.ratio, 2.5, 0.1);
}

TEST(Guidelines, LessDataThatTakeLongerAreFound) {
  const auto found =
      violated({series(Collective::bcast, 64, 20e-6), series(Collective::bcast, 8, 5e-6),
                series(Collective::bcast, 512, 10e-6)});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].guideline, "64 B <= 512 B");
  EXPECT_EQ(found[0].cell.bytes, 64U);
}

TEST(Guidelines, NothingIsSaidWithoutCertainty) {
  EXPECT_TRUE(violated({}).empty());
  // Other numbers of ranks, and too few runs of both.
  CellSeries other = series(Collective::bcast, 512, 1e-6);
  other.cell.ranks = other.cell.ranks_per_node = 8;
  EXPECT_TRUE(violated({series(Collective::bcast, 64, 20e-6), other}).empty());
  CellSeries rare = series(Collective::bcast, 512, 10e-6);
  for (int run = 0; run < 3; ++run) {
    rare.times_s[static_cast<size_t>(run)] = std::numeric_limits<double>::quiet_NaN();
  }
  EXPECT_TRUE(violated({series(Collective::bcast, 64, 20e-6), rare}).empty());
  // Within the margin.
  EXPECT_TRUE(
      violated({series(Collective::reduce, 8, 10.1e-6), series(Collective::allreduce, 8, 10e-6)})
          .empty());
}

}  // namespace
}  // namespace stripline::targets
