#include "optimizer/fit/typical_curve.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace stripline::fit {
namespace {

constexpr double kBetweenRuns = 0.05;

// Twelve runs of powers of two, each run fast or slow as a whole, of sizes with an error of their
// own; sizes between them lack the first six runs.
SizeCurve with_added_sizes(double error, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  SizeCurve curve;
  for (uint32_t run = 1; run <= 12; ++run) {
    const double effect = std::exp(kBetweenRuns * normal(random));
    for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) {
      const double time_s = 2e-6 + 1e-9 * static_cast<double>(bytes);
      curve[bytes][run] = time_s * effect * std::exp(error * normal(random));
      if (run <= 6 || bytes < 1024) continue;
      const double added_s = time_s + 0.5e-9 * static_cast<double>(bytes);
      curve[bytes + bytes / 2][run] = added_s * effect * std::exp(error * normal(random));
    }
  }
  return curve;
}

TEST(TypicalCurve, SizesThatLackRunsDoNotStep) {
  int steps = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const TypicalCurve typical = typical_curve(with_added_sizes(0.002, seed));
    double fewest = 1;
    for (const CurvePoint& point : typical.curve) {
      const double truth_s = 2e-6 + 1e-9 * static_cast<double>(point.bytes);
      const double before_s = typical.curve.front().value / (2e-6 + 8e-9);
      steps += std::abs(point.value / truth_s / before_s - 1) > 0.01 ? 1 : 0;
      fewest = std::min(fewest, point.weight * point.value * point.value);
    }
    EXPECT_NEAR(fewest, 0.5, 1e-9) << "of the sizes that half of the runs measured";
  }
  EXPECT_LE(steps, 2);
}

TEST(TypicalCurve, TheNoiseIsWhatMediansErrBy) {
  constexpr double kError = 0.08;
  double squares = 0;
  double said = 0;
  constexpr int kCurves = 200;
  for (uint64_t seed = 1; seed <= kCurves; ++seed) {
    const TypicalCurve typical = typical_curve(with_added_sizes(kError, seed));
    EXPECT_GT(typical.freedom, 50);
    said += typical.noise;
    // Of a size in the middle, beside what is common to all.
    double common = 0;
    for (const CurvePoint& point : typical.curve) {
      common += std::log(point.value / (2e-6 + 1e-9 * static_cast<double>(point.bytes)));
    }
    const CurvePoint& middle = typical.curve[4];
    const double off = std::log(middle.value / (2e-6 + 1e-9 * static_cast<double>(middle.bytes))) -
                       common / static_cast<double>(typical.curve.size());
    squares += off * off;
  }
  // As large as what is seen, or a little larger: a median of so many runs errs by less than one
  // of infinitely many would.
  const double seen = std::sqrt(squares / kCurves);
  EXPECT_GT(said / kCurves, 0.95 * seen);
  EXPECT_LT(said / kCurves, 1.3 * seen);
}

TEST(TypicalCurve, OneRunSaysNothingOfTheNoise) {
  SizeCurve curve;
  for (uint64_t bytes = 8; bytes <= 65536; bytes *= 2) curve[bytes][1] = 1e-6;
  const TypicalCurve typical = typical_curve(curve);
  EXPECT_EQ(typical.noise, 0);
  EXPECT_EQ(typical.curve.size(), curve.size());
}

}  // namespace
}  // namespace stripline::fit
