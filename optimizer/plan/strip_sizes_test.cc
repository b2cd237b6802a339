#include "optimizer/plan/strip_sizes.h"

#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/test_size.h"
#include "optimizer/plan/step_costs.h"
#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan::detail {
namespace {

std::vector<uint64_t> all_of(const StripRequest& request, std::span<const uint64_t> switches = {}) {
  const StripShape shape(request);
  Sizes sizes(request, shape, switches);
  std::vector<uint64_t> all;
  for (uint64_t size = sizes.next(); size > 0; size = sizes.next()) all.push_back(size);
  return all;
}

TEST(Sizes, ArePowersOfTwoPartsAndLargestMessagesOfProtocols) {
  const StripRequest request{.total_bytes = 4096, .element_bytes = 8};
  const std::vector<uint64_t> switches{256, 1000};
  EXPECT_EQ(all_of(request, switches),
            // A third is 1365.3 bytes, rounded up to a cache line. The largest message below 1000
            // bytes makes five parts, of 819.2 bytes; that below 256 seventeen, of 240.9.
            (std::vector<uint64_t>{2048, 1408, 1024, 824, 512, 256, 248, 128, 64, 32, 16, 8}));
}

TEST(Sizes, OfLoopsWithSomethingBesideThemBeginWithTheWholeBlock) {
  StripRequest request{.total_bytes = 4096, .element_bytes = 1024};
  EXPECT_EQ(all_of(request), (std::vector<uint64_t>{2048, 1024}));
  request.own_bytes = 1024;
  EXPECT_EQ(all_of(request), (std::vector<uint64_t>{4096, 2048, 1024}));
}

TEST(Sizes, OfLoopsWithSmallBuffersAreWhatFillsThem) {
  const StripRequest request{.total_bytes = uint64_t{1} << 20,
                             .element_bytes = 8,
                             .halo_bytes = 8,
                             .max_buffer_bytes = 6000};
  const std::vector<uint64_t> sizes = all_of(request);
  for (const uint64_t room : {6000 / 2, 6000 / 3, 6000 / 4}) {
    EXPECT_TRUE(std::ranges::any_of(sizes, [&](uint64_t size) {
      return size <= room - 8 && size > room - room / 16;
    })) << room;
  }
}

TEST(Sizes, DescendInWholeGranulesWithoutRepeats) {
  RandomCases draw(11);
  const std::vector<uint64_t> switches{100, 256, 4096, 65536};
  for (int i = 0; i < cases_here(20000); ++i) {
    StripRequest request;
    request.element_bytes = 1 + draw.below(64);
    request.granule_elements = 1 + draw.below(2) * draw.below(300);
    request.total_bytes = request.element_bytes * (1 + draw.below(uint64_t{1} << draw.below(24)));
    request.blocks = static_cast<uint32_t>(1 + draw.below(2) * draw.below(9));
    request.own_bytes = draw.below(2);
    if (draw.below(2) == 0) request.max_buffer_bytes = 64 + draw.below(1 << 20);
    request.halo_bytes = draw.below(2) * 16;
    const uint64_t block = StripShape(request).block;
    uint64_t last = block + 1;
    size_t count = 0;
    for (const uint64_t size : all_of(request, switches)) {
      EXPECT_LT(size, last) << "case " << i;
      EXPECT_TRUE(size == block || size % granule_bytes(request) == 0) << "case " << i;
      last = size;
      ++count;
    }
    EXPECT_LE(count, Sizes::kMost) << "case " << i;
    if (HasFailure()) return;
  }
}

TEST(SizeTrend, EndsAfterTwoSizesThatAreEverWorse) {
  SizeTrend trend(0);
  EXPECT_TRUE(trend.add(3, 1));
  EXPECT_FALSE(trend.add(2, 1));  // than the one before
  EXPECT_TRUE(trend.add(4, 1));
  EXPECT_FALSE(trend.is_hopeless());
  EXPECT_TRUE(trend.add(5, 1));
  EXPECT_TRUE(trend.is_hopeless());
  trend.begin_protocol();
  EXPECT_FALSE(trend.is_hopeless());
  trend.add(6, 1);
  trend.add(7, 1);
  trend.pardon();
  EXPECT_FALSE(trend.is_hopeless());
  EXPECT_FALSE(trend.add(0.5, 1));
}

TEST(MessageCosts, AreThoseOfAMessageAloneUnlessRanksShareOrServe) {
  const cost::MessageCosts message{.o_base = 1,
                                   .o_per_byte = 0.5,
                                   .L = 8,
                                   .g = 3,
                                   .G = 0.25,
                                   .r_base = 2,
                                   .r_per_byte = 0.125,
                                   .s_base = 5,
                                   .s_per_byte = 0.5};
  const TransferCosts alone = message_costs(message, 16, 1, 1, false);
  EXPECT_EQ(alone.blocking_s(), message.blocking(16));
  EXPECT_EQ(alone.gap, message.gap(16));
  // The NIC takes as long as for four messages, a byte eight times as long.
  const TransferCosts shared = message_costs(message, 16, 4, 8, true);
  EXPECT_EQ(shared.gap, 4 * message.g + 8 * message.G * 16);
  EXPECT_EQ(shared.latency, 2 * message.L + 8 * message.G * 16);
  // A peer's message is served while this one is in flight.
  EXPECT_EQ(shared.filled(), message.s(16));
  EXPECT_EQ(shared.blocking_s(), message.o(16) + shared.latency + message.r(16));
  const TransferCosts busy = message_costs({.s_base = 5}, 16, 1, 1, true);
  EXPECT_EQ(busy.round_trip(), 0);
}

}  // namespace
}  // namespace stripline::plan::detail
