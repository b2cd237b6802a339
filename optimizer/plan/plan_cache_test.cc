#include "optimizer/plan/plan_cache.h"

#include <gtest/gtest.h>

#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

TEST(PlanCache, FindsWhatWasStoredUnderTheSameSiteAndRequest) {
  PlanCache<int> cache;
  StripRequest request;
  request.total_bytes = 4096;
  EXPECT_EQ(cache.find(1, request), nullptr);
  cache.insert(1, request, 7);
  ASSERT_NE(cache.find(1, request), nullptr);
  EXPECT_EQ(*cache.find(1, request), 7);
  *cache.find(1, request) = 8;
  EXPECT_EQ(*cache.find(1, request), 8);
  EXPECT_EQ(cache.find(2, request), nullptr);
}

TEST(PlanCache, EveryMemberOfARequestCounts) {
  const StripRequest base{.total_bytes = 4096, .compute_s = 1e-6};
  std::vector<StripRequest> others(15, base);
  others[0].direction = Direction::put;
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
  PlanCache<int> cache;
  cache.insert(1, base, 1);
  for (const StripRequest& other : others) {
    EXPECT_EQ(cache.find(1, other), nullptr);
    EXPECT_NE(hash_of(1, other), hash_of(1, base));
  }
}

TEST(PlanCache, KeepsTheNewestWhenPlacesRunOut) {
  PlanCache<uint64_t, 16> cache;
  RandomCases cases(9);
  for (uint64_t i = 0; i < 1000; ++i) {
    StripRequest request = cases.request();
    request.local_bytes = i;  // distinct
    cache.insert(i, request, i);
    ASSERT_NE(cache.find(i, request), nullptr);
    ASSERT_EQ(*cache.find(i, request), i);
  }
}

TEST(PlanCache, SpreadsSimilarRequests) {
  PlanCache<uint64_t, 512> cache;
  StripRequest request;
  size_t kept = 0;
  for (uint64_t i = 1; i <= 128; ++i) {
    request.total_bytes = i * 65536;
    cache.insert(3, request, i);
  }
  for (uint64_t i = 1; i <= 128; ++i) {
    request.total_bytes = i * 65536;
    kept += cache.find(3, request) != nullptr ? 1 : 0;
  }
  EXPECT_GT(kept, 120U);  // a quarter full
}

}  // namespace
}  // namespace stripline::plan
