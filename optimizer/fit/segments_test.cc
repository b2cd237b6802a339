#include "optimizer/fit/segments.h"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"

namespace stripline::fit {
namespace {

Curve make_curve(const std::function<double(double)>& cost, double noise, uint64_t seed,
                 unsigned per_octave = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Curve curve;
  for (unsigned k = 3 * per_octave; k <= 20 * per_octave; ++k) {
    const auto bytes = static_cast<uint64_t>(std::llround(std::exp2(k / double(per_octave))));
    const double value = cost(static_cast<double>(bytes)) * std::exp(noise * normal(random));
    curve.push_back({bytes, value, 1.0 / (value * value)});
  }
  return curve;
}

double one_line(double s) { return 10e-6 + 1e-9 * s; }
double with_switch(double s) { return s <= 8192 ? one_line(s) : 18e-6 + 0.9e-9 * s; }

TEST(Segments, OneLineStaysOne) {
  int extra = 0;
  for (uint64_t seed = 0; seed < cases_here(200U); ++seed) {
    const auto found = segment_curves(std::vector<Curve>{make_curve(one_line, 0.02, seed)});
    ASSERT_TRUE(found.ok());
    extra += found->breaks.empty() ? 0 : 1;
  }
  EXPECT_LE(extra, 6);
}

TEST(Segments, FindsASwitchBetweenItsNeighbours) {
  int right = 0;
  int covered = 0;
  for (uint64_t seed = 0; seed < cases_here(200U); ++seed) {
    const auto found = segment_curves(std::vector<Curve>{make_curve(with_switch, 0.02, seed)});
    ASSERT_TRUE(found.ok());
    if (found->breaks.size() != 1) continue;
    const Breakpoint& b = found->breaks[0];
    right += b.last_below == 8192 && b.first_above == 16384 ? 1 : 0;
    covered += b.interval_low <= 8192 && b.interval_high >= 8193 ? 1 : 0;
    EXPECT_GT(b.from_bytes, b.last_below);
    EXPECT_LE(b.from_bytes, b.first_above);
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(right, 185);
  EXPECT_GE(covered, right);
}

TEST(Segments, NoiselessDataGivesNoSpuriousBreaks) {
  EXPECT_TRUE(segment_curves(std::vector<Curve>{make_curve(one_line, 0.0, 0)})->breaks.empty());
  const auto found = segment_curves(std::vector<Curve>{make_curve(with_switch, 0.0, 0)});
  ASSERT_EQ(found->breaks.size(), 1U);
  EXPECT_EQ(found->breaks[0].interval_low, 8192U);
  EXPECT_EQ(found->breaks[0].interval_high, 16384U);
  EXPECT_LT(found->misfit, 1e-6);
}

TEST(Segments, ThreeProtocols) {
  const auto cost = [](double s) {
    if (s <= 256) return 2e-6 + 1e-9 * s;
    return s <= 16384 ? 5e-6 + 0.8e-9 * s : 20e-6 + 0.5e-9 * s;
  };
  const auto found = segment_curves(std::vector<Curve>{make_curve(cost, 0.01, 3, 2)});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->breaks.size(), 2U);
  EXPECT_EQ(found->breaks[0].last_below, 256U);
  EXPECT_EQ(found->breaks[1].last_below, 16384U);
}

TEST(Segments, ASecondCurveHelpsToFindAWeakSwitch) {
  const auto weak = [](double s) { return s <= 8192 ? one_line(s) : one_line(s) * 1.03; };
  const auto strong = [](double s) { return s <= 8192 ? 1e-6 + 1e-9 * s : 8e-6 + 1e-9 * s; };
  int alone = 0;
  int together = 0;
  for (uint64_t seed = 0; seed < cases_here(50U); ++seed) {
    const Curve first = make_curve(weak, 0.03, seed);
    const Curve second = make_curve(strong, 0.03, seed + 1000);
    const auto right = [](const Result<Segmentation>& found) {
      return found.ok() && found->breaks.size() == 1 && found->breaks[0].last_below == 8192;
    };
    alone += right(segment_curves(std::vector<Curve>{first})) ? 1 : 0;
    together += right(segment_curves(std::vector<Curve>{first, second})) ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_LE(alone, 10);
  EXPECT_GE(together, 35);
}

TEST(Segments, FewOrOddPoints) {
  Curve one{{64, 1e-6, 1.0}};
  EXPECT_TRUE(segment_curves(std::vector<Curve>{one})->breaks.empty());
  Curve constant;
  for (uint64_t bytes = 8; bytes <= 4096; bytes *= 2) constant.push_back({bytes, 5e-6, 4e10});
  EXPECT_TRUE(segment_curves(std::vector<Curve>{constant})->breaks.empty());
  Curve zeros;
  for (uint64_t bytes = 8; bytes <= 4096; bytes *= 2) zeros.push_back({bytes, 0.0, 0.0});
  EXPECT_TRUE(segment_curves(std::vector<Curve>{zeros})->breaks.empty());
  Curve shuffled = make_curve(with_switch, 0.01, 5);
  std::swap(shuffled[1], shuffled[9]);
  EXPECT_EQ(segment_curves(std::vector<Curve>{shuffled})->breaks.size(), 1U);
}

TEST(Segments, RefusesBadInput) {
  EXPECT_FALSE(segment_curves({}).ok());
  EXPECT_FALSE(segment_curves(std::vector<Curve>(1)).ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(segment_curves(std::vector<Curve>{Curve{{8, nan, 1.0}}}).ok());
  EXPECT_FALSE(segment_curves(std::vector<Curve>{Curve{{8, 1.0, -1.0}}}).ok());
  EXPECT_FALSE(segment_curves(std::vector<Curve>{Curve{{8, 1.0, 1.0}, {8, 2.0, 1.0}}}).ok());
}

// 100 us up to 4 KiB, 400 us above 7 KiB, and one size between them: two switches, or a steep line.
Curve two_switches(double most_slope) {
  Curve curve;
  const auto add = [&](uint64_t bytes, double value) {
    curve.push_back({bytes, value, 1.0 / (value * value), most_slope});
  };
  for (uint64_t bytes = 8; bytes <= 4096; bytes *= 2) add(bytes, 100e-6);
  add(5568, 230e-6);
  for (uint64_t bytes = 8192; bytes <= 1 << 20; bytes *= 2) add(bytes, 400e-6);
  return curve;
}

TEST(SegmentCurves, NoLineIsSteeperThanAByteCosts) {
  const auto steep = segment_curves(std::vector<Curve>{two_switches(1.0)}, {.noise = 0.02});
  const auto bounded = segment_curves(std::vector<Curve>{two_switches(3e-9)}, {.noise = 0.02});
  ASSERT_TRUE(steep.ok() && bounded.ok());
  ASSERT_EQ(steep->breaks.size(), 2U);
  EXPECT_EQ(steep->breaks[0].first_above, 4096U) << "a line through two points of two segments";
  ASSERT_FALSE(bounded->breaks.empty());
  for (const Breakpoint& at : bounded->breaks) EXPECT_GE(at.last_below, 4096U);
}

}  // namespace
}  // namespace stripline::fit
