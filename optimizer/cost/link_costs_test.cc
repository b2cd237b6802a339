#include "optimizer/cost/link_costs.h"

#include <random>

#include <gtest/gtest.h>

#include "optimizer/model/model_fixture.h"

namespace stripline::cost {
namespace {

using model::OperationModel;

OperationModel example_operation() { return *model::example_model().network["inter-node"].get; }

TEST(LinkCosts, FollowsTheEquationsOfTheModel) {
  const LinkCosts link(example_operation());
  // 64 bytes lie in the first segment: no g, L = 4.5 us, G = 1.5 ns/B.
  EXPECT_DOUBLE_EQ(link.o(64), 0.8e-6 + 64 * 0.1e-9);
  EXPECT_DOUBLE_EQ(link.L(64), 4.5e-6);
  EXPECT_DOUBLE_EQ(link.gap(64), 64 * 1.5e-9);
  EXPECT_DOUBLE_EQ(link.r(64), 0.4e-6);
  EXPECT_DOUBLE_EQ(link.blocking(64), link.o(64) + 9e-6 + 64 * 1.5e-9 + 0.4e-6);
  EXPECT_DOUBLE_EQ(link.stream(64), link.o(64) + link.r(64));  // bound by the CPU
  // 64 KiB lie in the second: bound by the NIC.
  EXPECT_DOUBLE_EQ(link.stream(65536), 1.2e-6 + 65536 * 1.25e-9);
  EXPECT_DOUBLE_EQ(link.at(64).one_way(64), link.o(64) + 4.5e-6 + 64 * 1.5e-9 + 0.4e-6);
}

TEST(LinkCosts, OperationsThatAreRetiredTogetherMayCostLess) {
  OperationModel operation = example_operation();
  operation.segments[0].r_batched_s = model::example_parameter(0.1e-6);
  const LinkCosts link(operation);
  const MessageCosts& small = link.at(64);
  EXPECT_DOUBLE_EQ(small.r_batched(64), 0.1e-6);
  EXPECT_DOUBLE_EQ(small.stream(64), small.o(64) + 0.1e-6);
  EXPECT_DOUBLE_EQ(small.r(64), 0.4e-6);  // one that is waited for alone
  EXPECT_DOUBLE_EQ(small.blocking(64), LinkCosts(example_operation()).blocking(64));
  // Dearer ones than those alone are not believed.
  operation.segments[0].r_batched_s = model::example_parameter(0.9e-6);
  EXPECT_DOUBLE_EQ(LinkCosts(operation).at(64).r_batched(64), 0.4e-6);
}

TEST(LinkCosts, BetweenTwoProtocolsRetiringTogetherIsBounded) {
  OperationModel operation = example_operation();
  operation.segments[0].r_batched_s = model::example_parameter(0.1e-6, 0);
  operation.segments[1].begins = {1792, 2304};
  const LinkCosts link(operation);
  const LinkCosts before(OperationModel{{operation.segments[0]}, std::nullopt, {}});
  const LinkCosts after(OperationModel{{operation.segments[1]}, std::nullopt, {}});
  for (const uint64_t bytes : {1800, 2048, 2300}) {
    const double one = before.at(bytes).r_batched(static_cast<double>(bytes));
    const double other = after.at(bytes).r_batched(static_cast<double>(bytes));
    EXPECT_GE(link.at(bytes).r_batched(static_cast<double>(bytes)) * (1 + 1e-12),
              std::max(one, other));
    EXPECT_LE(link.at(bytes, Corner::low).r_batched(static_cast<double>(bytes)),
              std::min(one, other) * (1 + 1e-12));
  }
}

TEST(LinkCosts, IssueIsAHingeAtTheQueueDepth) {
  const LinkCosts link(example_operation());
  ASSERT_EQ(link.queue_depth(), 64U);
  EXPECT_DOUBLE_EQ(link.issue(1, 65536), link.o(65536));
  EXPECT_DOUBLE_EQ(link.issue(64, 65536), 64 * link.o(65536));
  EXPECT_DOUBLE_EQ(link.issue(100, 65536), 64 * link.o(65536) + 36 * link.gap(65536));
  EXPECT_DOUBLE_EQ(link.issue(100, 8), 100 * link.o(8));  // o exceeds the gap: no knee
}

TEST(LinkCosts, EveryCornerIsAnEndOfTheIntervals) {
  const LinkCosts link(example_operation());
  const auto& low = link.at(64, Corner::low);
  const auto& high = link.at(64, Corner::high);
  EXPECT_DOUBLE_EQ(low.o_base, 0.8e-6 * 0.98);
  EXPECT_DOUBLE_EQ(high.L, 4.5e-6 * 1.02);
  EXPECT_DOUBLE_EQ(link.at(64).G, 1.5e-9);
  EXPECT_DOUBLE_EQ(low.G, 1.5e-9 * 0.98);
}

TEST(LinkCosts, AnIntervalThatReachesBelowZeroIsCutThere) {
  OperationModel operation = example_operation();
  operation.segments[0].r_base_s->ci_low = -1e-6;
  EXPECT_EQ(LinkCosts(operation).at(64, Corner::low).r_base, 0.0);
}

TEST(LinkCosts, LookupAgreesWithASearchForAnySegmentation) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    OperationModel operation;
    uint64_t from = random() % 3;
    const int count = static_cast<int>(1 + random() % 12);
    for (int i = 0; i < count; ++i) {
      model::Segment segment;
      segment.from_bytes = from;
      from += 1 + random() % (uint64_t{1} << (random() % 24));
      segment.to_bytes = from;
      segment.g_s = model::Parameter{static_cast<double>(i), 0, 100, 6, 6, "test", false};
      operation.segments.push_back(segment);
    }
    const LinkCosts link(operation);
    EXPECT_EQ(link.breakpoints().size(), operation.segments.size() - 1);
    const auto expected = [&](uint64_t bytes) {
      for (int i = 0; i + 1 < count; ++i) {
        if (bytes < operation.segments[static_cast<size_t>(i)].to_bytes) return i;
      }
      return count - 1;
    };
    for (int probe = 0; probe < 200; ++probe) {
      uint64_t bytes = random() >> (random() % 64);
      if (probe % 4 == 0) {  // at and around a breakpoint
        bytes = operation.segments[random() % operation.segments.size()].to_bytes + random() % 3;
        bytes -= bytes > 0 ? 1 : 0;
      }
      ASSERT_EQ(link.at(bytes).g, expected(bytes)) << bytes;
    }
    ASSERT_EQ(&link.at(std::numeric_limits<uint64_t>::max()), &link.at(from));
    ASSERT_EQ(link.at(from).g, count - 1);
  }
}

TEST(LinkCosts, WithoutAModelNothingCostsAndTheQueueIsUnlimited) {
  const LinkCosts link;
  EXPECT_EQ(link.blocking(1 << 20), 0.0);
  EXPECT_EQ(link.queue_depth(), std::numeric_limits<uint32_t>::max());
}

// A switch at 4096 bytes, measured at 2048 and 8192: a larger latency, then less for each byte.
OperationModel banded_operation() {
  OperationModel operation = example_operation();
  operation.segments[0].to_bytes = operation.segments[1].from_bytes = 4096;
  operation.segments[1].begins = {2048, 8192};
  operation.segments[1].L_s = model::example_parameter(9e-6);
  operation.segments[1].G_s_per_byte = model::example_parameter(0.5e-9);
  return operation;
}

TEST(LinkCosts, BetweenTheEndsOfASwitchTheDearerSideCounts) {
  const OperationModel operation = banded_operation();
  const LinkCosts link(operation);
  OperationModel below = operation;
  below.segments.pop_back();
  OperationModel above = operation;
  above.segments.erase(above.segments.begin());
  above.segments[0].begins.reset();
  const LinkCosts lower(below);
  const LinkCosts upper(above);
  ASSERT_EQ(link.breakpoints().size(), 2U);
  EXPECT_EQ(link.breakpoints()[0], 2049U);
  EXPECT_EQ(link.breakpoints()[1], 8192U);
  for (const uint64_t bytes : {1, 64, 2048}) {
    EXPECT_DOUBLE_EQ(link.blocking(bytes), lower.blocking(bytes));
    EXPECT_DOUBLE_EQ(link.gap(bytes), lower.gap(bytes));
  }
  for (const uint64_t bytes : {8192, 1 << 20}) {
    EXPECT_DOUBLE_EQ(link.blocking(bytes), upper.blocking(bytes));
    EXPECT_DOUBLE_EQ(link.gap(bytes), upper.gap(bytes));
  }
  for (uint64_t bytes = 2049; bytes < 8192; bytes += 61) {
    const auto size = static_cast<double>(bytes);
    for (const Corner corner : {Corner::nominal, Corner::high}) {
      const MessageCosts& m = link.at(bytes, corner);
      const MessageCosts& a = lower.at(bytes, corner);
      const MessageCosts& b = upper.at(bytes, corner);
      const double slack = 1 + 1e-9;
      EXPECT_GE(m.o(size) * slack, std::max(a.o(size), b.o(size)));
      EXPECT_GE(m.r(size) * slack, std::max(a.r(size), b.r(size)));
      EXPECT_GE(m.gap(size) * slack, std::max(a.gap(size), b.gap(size))) << bytes;
      EXPECT_GE(m.round_trip(size) * slack, std::max(a.round_trip(size), b.round_trip(size)));
      EXPECT_LE(m.round_trip(size), 1.3 * std::max(a.round_trip(size), b.round_trip(size)));
    }
    const MessageCosts& m = link.at(bytes, Corner::low);
    const MessageCosts& a = lower.at(bytes, Corner::low);
    const MessageCosts& b = upper.at(bytes, Corner::low);
    const double slack = 1 - 1e-9;
    EXPECT_LE(m.o(size) * slack, std::min(a.o(size), b.o(size)));
    EXPECT_LE(m.gap(size) * slack, std::min(a.gap(size), b.gap(size))) << bytes;
    EXPECT_LE(m.round_trip(size) * slack, std::min(a.round_trip(size), b.round_trip(size)));
  }
}

TEST(LinkCosts, BandsThatOverlapAndASwitchThatIsExact) {
  OperationModel operation = banded_operation();
  operation.segments[1].to_bytes = 6000;
  model::Segment third = operation.segments[1];
  third.from_bytes = 6000;
  third.to_bytes = 1 << 20;
  third.begins = {4096, 16384};
  third.L_s = model::example_parameter(20e-6);
  operation.segments[1].begins->by_bytes = 5500;
  operation.segments.push_back(third);
  const LinkCosts link(operation);
  EXPECT_DOUBLE_EQ(link.L(2048), 4.5e-6);
  EXPECT_GE(link.at(5000).round_trip(5000), 40e-6);  // it may be the third already
  EXPECT_DOUBLE_EQ(link.L(16384), 20e-6);
  operation = banded_operation();
  operation.segments[1].begins = {4095, 4096};
  EXPECT_EQ(LinkCosts(operation).breakpoints().size(), 1U);
  EXPECT_DOUBLE_EQ(LinkCosts(operation).L(4095), 4.5e-6);
  EXPECT_DOUBLE_EQ(LinkCosts(operation).L(4096), 9e-6);
}

TEST(LinkCosts, ADepthThatIsOnlyBoundedLimitsNothing) {
  OperationModel operation = example_operation();
  operation.queue_depth = model::example_parameter(1);
  EXPECT_EQ(LinkCosts(operation).queue_depth(), 1U);
  operation.queue_depth->at_least = true;
  EXPECT_EQ(LinkCosts(operation).queue_depth(), std::numeric_limits<uint32_t>::max());
  operation.queue_depth.reset();
  EXPECT_EQ(LinkCosts(operation).queue_depth(), std::numeric_limits<uint32_t>::max());
}

}  // namespace
}  // namespace stripline::cost
