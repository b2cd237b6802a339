#include "optimizer/fit/hinge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"

namespace stripline::fit {
namespace {

struct Machine {
  double o = 1e-6;
  double g = 2e-6;
  double G = 1e-9;
  double depth = 40.0;       // Operations.
  double depth_bytes = 0.0;  // If above zero: the limit in bytes instead.
  double reply = 0.0;        // If above zero: a get.
};

// Issue by issue, so that the closed form of the fit is checked against the queue itself.
double burst_time(const Machine& machine, double size, int burst) {
  const double drain = machine.g + machine.G * size;
  const auto depth =
      static_cast<int>(machine.depth_bytes > 0.0 ? machine.depth_bytes / size : machine.depth);
  std::vector<double> departed{0.0};
  double now = 0.0;
  for (int i = 1; i <= burst; ++i) {
    if (i > depth) now = std::max(now, departed[static_cast<std::size_t>(i - depth)]);
    now += machine.o;
    departed.push_back(machine.reply > 0.0
                           ? std::max(now + machine.reply, departed.back() + (i > 1 ? drain : 0.0))
                           : std::max(now, departed.back()) + drain);
  }
  return now;
}

BurstCurve curve_of(const Machine& machine, uint64_t bytes, int largest, double noise,
                    std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  BurstCurve curve;
  curve.bytes = bytes;
  if (machine.reply > 0.0) curve.reply_s = machine.reply;
  for (int b = 1; b <= largest; b *= 2) {
    const double time = burst_time(machine, static_cast<double>(bytes), b);
    const double noisy = time * std::exp(noise * normal(random));
    curve.points.push_back({static_cast<double>(b), noisy, 1.0 / (noisy * noisy)});
  }
  return curve;
}

std::vector<BurstCurve> curves_of(const Machine& machine, int largest, double noise,
                                  uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<BurstCurve> curves;
  for (const uint64_t bytes : {64, 512, 4096, 32768}) {
    curves.push_back(curve_of(machine, bytes, largest, noise, random));
  }
  return curves;
}

TEST(Hinge, RecoversDepthAndMarginalCosts) {
  int close = 0;
  for (uint64_t seed = 0; seed < cases_here(50U); ++seed) {
    ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves_of({}, 512, 0.02, seed)));
    ASSERT_EQ(fit.limit, QueueLimit::operations);
    close += std::abs(fit.queue_depth - 40.0) < 2.0 ? 1 : 0;
    EXPECT_NEAR(fit.costs[0].o_s, 1e-6, 0.04e-6);
    EXPECT_NEAR(fit.costs[3].drain_s, 2e-6 + 32768e-9, 2e-6);
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(close, 47);
}

TEST(Hinge, ExactWithoutNoise) {
  for (const double depth : {2.0, 7.0, 40.0, 64.0, 100.0}) {
    for (const double reply : {0.0, 15e-6}) {
      ASSERT_OK_AND_ASSIGN(const auto fit,
                           fit_hinge(curves_of({.depth = depth, .reply = reply}, 512, 0.0, 0)));
      EXPECT_EQ(fit.limit, QueueLimit::operations);
      EXPECT_NEAR(fit.queue_depth, depth, 0.02) << "reply " << reply;
    }
  }
}

// A queue that is short beside a round trip: a wave of gets leaves when the one before has come.
TEST(Hinge, QueuesThatAreRefilledInWavesAreRead) {
  for (const double depth : {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 24.0}) {
    const Machine machine{.g = 0.5e-6, .G = 0.1e-9, .depth = depth, .reply = 80e-6};
    ASSERT_OK_AND_ASSIGN(const auto exact, fit_hinge(curves_of(machine, 512, 0.0, 0)));
    ASSERT_EQ(exact.limit, QueueLimit::operations) << depth;
    EXPECT_NEAR(exact.queue_depth, depth, 1e-6);
    EXPECT_NEAR(exact.costs[0].drain_s, 81e-6 / depth, 0.01e-6);
    // With noise, bursts of powers of two do not tell 2, 4 and 8 from 2 Q - 1 operations that a
    // slow NIC drains; see the header.
    if (depth == 2.0 || depth == 4.0 || depth == 8.0) continue;
    int right = 0;
    for (uint64_t seed = 1; seed <= cases_here(20U); ++seed) {
      ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves_of(machine, 512, 0.02, seed)));
      right += fit.limit == QueueLimit::operations &&
                       std::abs(fit.queue_depth - depth) < (depth > 8 ? 1.5 : 0.5)
                   ? 1
                   : 0;
    }
    if (kInstrumented) continue;  // too few to count
    EXPECT_GE(right, 19) << depth;
  }
}

TEST(Hinge, TheKneeOfPutsLiesBeyondTheDepthAndIsReadCorrectly) {
  // o = 1, drain = 2.064 at 64 bytes: the queue drains while it fills, and the knee is near 76.
  std::mt19937_64 random(1);
  std::vector<BurstCurve> curves{curve_of({}, 64, 2048, 0.0, random)};
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves));
  EXPECT_NEAR(fit.queue_depth, 40.0, 0.05);
}

TEST(Hinge, NoisyGets) {
  int close = 0;
  for (uint64_t seed = 0; seed < cases_here(50U); ++seed) {
    ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves_of({.reply = 15e-6}, 512, 0.02, seed)));
    close += fit.limit == QueueLimit::operations && std::abs(fit.queue_depth - 40.0) < 2.5 ? 1 : 0;
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(close, 46);
}

TEST(Hinge, PostingSlowerThanDrainingShowsNoKnee) {
  int none = 0;
  for (uint64_t seed = 0; seed < cases_here(50U); ++seed) {
    ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves_of({.o = 60e-6}, 512, 0.03, seed)));
    if (fit.limit == QueueLimit::none_seen && fit.queue_depth == 512.0) ++none;
    EXPECT_NEAR(fit.costs[0].o_s, 60e-6, 3e-6);
  }
  if (kInstrumented) return;  // too few to count
  EXPECT_GE(none, 48);
}

TEST(Hinge, ASecondOperationThatIsCheaperIsNoKnee) {
  // Puts over TCP: what the first one finds cold the second one finds warm, the third one waits
  // neither for a NIC nor for a queue. Larger bursts cost somewhat more by caches, and much more at
  // one size, by chance.
  std::vector<BurstCurve> curves;
  for (const uint64_t bytes : {64, 1024, 4096, 16384}) {
    const double copy_s = 0.4e-9 * static_cast<double>(bytes);
    BurstCurve curve{.bytes = bytes, .points = {}, .stream_s = {}, .reply_s = {}};
    for (int burst = 1; burst <= 256; burst *= 2) {
      const double cold_s = 6.0e-6 + copy_s;
      const double warm_s = 3.2e-6 + copy_s;
      const double factor = bytes == 4096 ? 1.3 : 1.0;
      const double rest_s = (burst - 2) * factor * (6.2e-6 + 1.15 * copy_s);
      const double time_s = burst == 1 ? cold_s : cold_s + warm_s + rest_s;
      curve.points.push_back({static_cast<double>(burst), time_s, 1 / (time_s * time_s)});
    }
    curves.push_back(curve);
  }
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves));
  EXPECT_EQ(fit.limit, QueueLimit::none_seen);
  EXPECT_EQ(fit.queue_depth, 256.0);
}

TEST(Hinge, AQueueThatNeverFilledIsOnlyBoundedBelow) {
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves_of({.depth = 1e6}, 128, 0.02, 1)));
  EXPECT_EQ(fit.limit, QueueLimit::none_seen);
  EXPECT_EQ(fit.queue_depth, 128.0);
}

TEST(Hinge, OneBurstBeyondNeedsTheStreamCost) {
  // Bursts up to 64 and a queue of 40: only one lies beyond.
  auto curves = curves_of({}, 64, 0.005, 2);
  ASSERT_OK_AND_ASSIGN(const auto without, fit_hinge(curves));
  EXPECT_EQ(without.limit, QueueLimit::none_seen);
  EXPECT_GE(without.queue_depth, 8.0);  // A lower bound, from the bursts that did not wait.
  EXPECT_LE(without.queue_depth, 41.0);
  for (BurstCurve& curve : curves) {
    curve.stream_s = 2e-6 + 1e-9 * static_cast<double>(curve.bytes);
  }
  ASSERT_OK_AND_ASSIGN(const auto with, fit_hinge(curves));
  EXPECT_EQ(with.limit, QueueLimit::operations);
  EXPECT_NEAR(with.queue_depth, 40.0, 1.0);
}

TEST(Hinge, ASizeThatHardlyRisesDoesNotHideThoseThatRiseLate) {
  // Operations of one size drain nearly as fast as they are issued. Of the other, beyond a protocol
  // switch, one burst lies beyond 40.
  std::mt19937_64 random(1);
  const std::vector<BurstCurve> curves{
      curve_of({.g = 1.05e-6, .G = 0.0, .reply = 15e-6}, 64, 2048, 0.0, random),
      curve_of({.g = 8e-6, .reply = 15e-6}, 72, 64, 0.0, random)};
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves));
  EXPECT_EQ(fit.limit, QueueLimit::none_seen);
  EXPECT_GE(fit.queue_depth, 8.0);
  EXPECT_LE(fit.queue_depth, 41.0);
}

TEST(Hinge, TellsALimitInBytesFromOneInOperations) {
  ASSERT_OK_AND_ASSIGN(const auto fit,
                       fit_hinge(curves_of({.depth_bytes = 65536.0}, 4096, 0.01, 3)));
  EXPECT_EQ(fit.limit, QueueLimit::bytes);
  EXPECT_NEAR(fit.queue_depth, 65536.0, 3000.0);
}

TEST(Hinge, SingleRunsCanBeFittedOnceTheKindIsKnown) {
  ASSERT_OK_AND_ASSIGN(const auto found,
                       fit_known_hinge(curves_of({}, 512, 0.03, 4), QueueLimit::operations));
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->queue_depth, 40.0, 3.0);
  ASSERT_OK_AND_ASSIGN(const auto straight, fit_known_hinge(curves_of({.o = 60e-6}, 16, 0.0, 4),
                                                            QueueLimit::operations));
  EXPECT_FALSE(straight.has_value());
}

// What a coarse campaign measures on a busy host: medians of one operation and of `largest`, which
// take longer by some percent at one size or all.
std::vector<BurstCurve> two_bursts(double rise, double noise, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const double extra[] = {0.0227, -0.0072, rise};
  const double one_s[] = {2.0485e-6, 2.2937e-6, 8.5023e-6};
  const uint64_t bytes[] = {8, 2048, 65536};
  std::vector<BurstCurve> curves;
  for (std::size_t i = 0; i < 3; ++i) {
    BurstCurve& curve = curves.emplace_back();
    curve.bytes = bytes[i];
    for (const double burst : {1.0, 256.0}) {
      const double time_s =
          one_s[i] * burst * (burst > 1 ? 1 + extra[i] : 1) * std::exp(noise * normal(random));
      curve.points.push_back({burst, time_s, 1 / (time_s * time_s)});
    }
  }
  return curves;
}

TEST(Hinge, TwoBurstsSayNothingOfTheDepth) {
  for (double rise = 0; rise <= 0.05; rise += 0.001) {
    for (const double noise : {0.0, 0.02}) {
      ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(two_bursts(rise, noise, 7)));
      EXPECT_EQ(fit.limit, QueueLimit::none_seen) << rise;
      EXPECT_TRUE(std::isinf(fit.queue_depth)) << rise << ": " << fit.queue_depth;
      EXPECT_EQ(fit.straight_burst, 256.0) << rise;
      EXPECT_NEAR(fit.costs[2].o_s, 8.6e-6, 0.4e-6);
    }
  }
  // A rise this steep shows that there is a queue, but its depth may be 2 or 200.
  ASSERT_OK_AND_ASSIGN(const auto slow, fit_hinge(two_bursts(3.0, 0.0, 7)));
  EXPECT_TRUE(std::isinf(slow.queue_depth));
  std::vector<BurstCurve> streamed = two_bursts(3.0, 0.0, 7);
  for (BurstCurve& curve : streamed) curve.stream_s = 4 * curve.points[0].time_s;
  ASSERT_OK_AND_ASSIGN(const auto with_stream, fit_hinge(streamed));
  EXPECT_TRUE(std::isinf(with_stream.queue_depth));
  ASSERT_OK_AND_ASSIGN(const auto known, fit_known_hinge(streamed, QueueLimit::operations));
  EXPECT_FALSE(known.has_value());
}

// The bursts that every campaign measures.
std::vector<BurstCurve> four_bursts(const Machine& machine, double rise, double noise,
                                    uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<BurstCurve> curves;
  for (const uint64_t bytes : {64, 2048, 65536}) {
    BurstCurve& curve = curves.emplace_back();
    curve.bytes = bytes;
    if (machine.reply > 0) curve.reply_s = machine.reply;
    curve.stream_s = machine.g + machine.G * static_cast<double>(bytes);
    for (const int burst : {1, 4, 64, 256}) {
      const double time_s = burst_time(machine, static_cast<double>(bytes), burst) *
                            (burst == 256 ? 1 + rise : 1) * std::exp(noise * normal(random));
      curve.points.push_back({static_cast<double>(burst), time_s, 1 / (time_s * time_s)});
    }
  }
  return curves;
}

TEST(Hinge, ASmallRiseOfTheLargestBurstIsNoDepth) {
  // Streams are bound by the NIC, and bursts are not: the queue has room for more than 256.
  for (double rise = 0; rise <= 0.05; rise += 0.005) {
    for (uint64_t seed = 0; seed < cases_here(20U); ++seed) {
      ASSERT_OK_AND_ASSIGN(const auto fit,
                           fit_hinge(four_bursts({.depth = 1000}, rise, 0.02, seed)));
      EXPECT_EQ(fit.limit, QueueLimit::none_seen) << rise << ": " << fit.queue_depth;
    }
  }
}

TEST(Hinge, FourBurstsFindADepthTenTimesAlike) {
  for (const double depth : {4.0, 16.0, 64.0}) {
    for (const double reply : {0.0, 15e-6}) {
      for (uint64_t seed = 0; seed < cases_here(10U); ++seed) {
        ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(four_bursts({.depth = depth, .reply = reply},
                                                                   0, 0.01, seed)));
        ASSERT_EQ(fit.limit, QueueLimit::operations) << depth << ", reply " << reply;
        EXPECT_NEAR(fit.queue_depth, depth, 1 + 0.06 * depth) << "reply " << reply;
      }
    }
  }
}

TEST(Hinge, ALimitInBytesAlwaysLeavesRoomForOneOperation) {
  // 65536 bytes are more than the queue takes: then one is in flight at a time.
  std::mt19937_64 random(1);
  std::vector<BurstCurve> curves;
  for (const uint64_t bytes : {64, 2048, 65536}) {
    Machine machine{.depth_bytes = 16384.0};
    if (bytes == 65536) machine = {.depth = 1};
    curves.push_back(curve_of(machine, bytes, 1024, 0.0, random));
  }
  ASSERT_OK_AND_ASSIGN(const auto fit, fit_hinge(curves));
  EXPECT_EQ(fit.limit, QueueLimit::bytes);
  EXPECT_NEAR(fit.queue_depth, 16384.0, 1000.0);
  EXPECT_NEAR(fit.costs[2].o_s, 1e-6, 0.01e-6);
}

TEST(Hinge, OddAndBadInput) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fit_hinge({}).ok());
  EXPECT_FALSE(fit_hinge(std::vector<BurstCurve>(1)).ok());
  EXPECT_FALSE(fit_hinge(std::vector{BurstCurve{8, {{1, nan, 1}}, {}}}).ok());
  EXPECT_FALSE(fit_hinge(std::vector{BurstCurve{8, {{0, 1, 1}}, {}}}).ok());
  EXPECT_FALSE(fit_hinge(std::vector{BurstCurve{8, {{1, 1, 1}}, nan}}).ok());
  EXPECT_FALSE(fit_known_hinge(curves_of({}, 8, 0.0, 0), QueueLimit::none_seen).ok());
  ASSERT_OK_AND_ASSIGN(const auto single,
                       fit_hinge(std::vector{BurstCurve{8, {{4, 1e-6, 1e12}}, {}}}));
  EXPECT_EQ(single.limit, QueueLimit::none_seen);
  EXPECT_NEAR(single.costs[0].o_s, 0.25e-6, 1e-12);
  ASSERT_OK_AND_ASSIGN(
      const auto zero,
      fit_hinge(std::vector{BurstCurve{8, {{1, 0, 1}, {2, 0, 1}, {4, 0, 1}}, {}}}));
  EXPECT_EQ(zero.limit, QueueLimit::none_seen);
}

}  // namespace
}  // namespace stripline::fit
