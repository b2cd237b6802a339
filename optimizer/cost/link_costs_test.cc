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
    EXPECT_EQ(link.segment_count(), operation.segments.size());
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

}  // namespace
}  // namespace stripline::cost
