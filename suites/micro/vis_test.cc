// Experiments that compute beside their transfers say what they compute, for clocks that go by
// that.
#include <string>

#include <gtest/gtest.h>

#include "suites/registry.h"
#include "suites/testing/point_time.h"

namespace stripline::suites {
namespace {

// The time of a repetition on two ranks.
double time_s(const experiment::Point& point, const std::string& compute = "declared") {
  return point_time_s(2, point, compute);
}

constexpr int64_t kBytes = 64 << 10;

double vis_s(const std::string& variant, const std::string& compute) {
  return time_s({"micro.vis",
                 variant,
                 {{"region_bytes", int64_t{64}}, {"bytes", kBytes}, {"class", compute}}});
}

TEST(VisBenchmark, ComputesAsMuchAsItsClassSaysWhereWorkIsDeclared) {
  // A sum over an array that comes from memory.
  const double element_s = time_s({"micro.compute", "red_out", {{"bytes", kBytes}}});
  const double light_s = vis_s("compute", "light");
  EXPECT_NEAR(light_s, element_s * kBytes / sizeof(double), 0.01 * light_s);
  EXPECT_GT(light_s, 0);
  const double heavy_s = vis_s("compute", "heavy");
  EXPECT_NEAR(heavy_s, 16 * light_s, 0.01 * heavy_s);
}

// What is computed hides a part of the transfer, and no more of it than that.
TEST(VisBenchmark, ComputesBesideItsTransferWhereWorkIsDeclared) {
  const double alone_s = vis_s("bounding_box", "communication_only");
  const double heavy_s = vis_s("compute", "heavy");
  const double both_s = vis_s("bounding_box", "heavy");
  EXPECT_GT(both_s, heavy_s);
  EXPECT_LT(both_s, alone_s + heavy_s);
}

TEST(StripSweepBenchmark, TakesTimeForWhatItComputesWhereWorkIsDeclared) {
  const experiment::Point point{
      "micro.strip_sweep", "A", {{"total_bytes", kBytes}, {"ops_per_element", int64_t{16}}}};
  EXPECT_GT(time_s(point), 1.05 * time_s(point, "none"));
}

}  // namespace
}  // namespace stripline::suites
