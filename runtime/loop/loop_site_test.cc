#include "runtime/loop/loop_site.h"

#include <vector>

#include <gtest/gtest.h>

#include "optimizer/plan/strip.h"

namespace stripline::detail {
namespace {

TEST(LoopSites, EveryMemberOfARequestCounts) {
  const plan::StripRequest base{.total_bytes = 4096, .compute_s = 1e-6};
  std::vector<plan::StripRequest> others(16, base);
  others[0].direction = plan::Direction::put;
  others[1].total_bytes = 8192;
  others[2].element_bytes = 4;
  others[3].granule_elements = 2;
  others[4].halo_bytes = 8;
  others[5].max_buffer_bytes = 1 << 20;
  others[6].compute_s = 2e-6;
  others[7].loop.n_div = 1;
  others[8].sweeps = 2;
  others[9].local_bytes = 64;
  others[10].blocks = 2;
  others[11].own_bytes = 512;
  others[12].peers = 2;
  others[13].surroundings.nic_ranks = 2;
  others[14].surroundings.target_polls_only = true;
  others[15].largest_block_bytes = 2048;
  LoopSites sites;
  const auto made = [](LoopSite&) {};
  sites.find_or_make({1, base}, made);
  for (const plan::StripRequest& other : others) {
    EXPECT_EQ(sites.find({1, other}), nullptr);
    EXPECT_NE(hash_of({1, other}), hash_of({1, base}));
  }
  EXPECT_EQ(sites.find({2, base}), nullptr);
  EXPECT_NE(sites.find({1, base}), nullptr);
}

TEST(LoopSites, SpreadSimilarRequests) {
  LoopSites sites;
  plan::StripRequest request;
  for (uint64_t i = 1; i <= 128; ++i) {
    request.total_bytes = i * 65536;
    sites.find_or_make({3, request}, [](LoopSite&) {});
  }
  size_t kept = 0;
  sites.for_each([&](const LoopSite&) { ++kept; });
  EXPECT_GT(kept, 120U);  // a quarter full
}

}  // namespace
}  // namespace stripline::detail
