#include "runtime/gather/inspector.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace stripline::gathers {
namespace {

using detail::GatherPlace;

void expect_right(const std::vector<GatherPlace>& reads, rank_t me, rank_t ranks) {
  const Inspection found = inspect(reads, me, ranks);
  ASSERT_EQ(found.order.size(), reads.size());
  ASSERT_EQ(found.slots.size(), reads.size());
  ASSERT_EQ(found.owners.front().owner, me);
  std::vector<bool> seen(reads.size(), false);
  size_t end = 0;
  for (const OwnerReads& of_owner : found.owners) {
    ASSERT_EQ(of_owner.begin, end);
    end = of_owner.end;
    std::set<uint32_t> different;
    for (size_t k = of_owner.begin; k < of_owner.end; ++k) {
      const uint32_t read = found.order[k];
      ASSERT_FALSE(seen[read]);
      seen[read] = true;
      ASSERT_EQ(reads[read].rank, of_owner.owner);
      if (k > of_owner.begin) {
        ASSERT_LT(found.order[k - 1], read);
      }
      different.insert(reads[read].place);
      const uint32_t slot = found.slots[k];
      ASSERT_EQ(of_owner.owner == me ? slot : of_owner.places[slot], reads[read].place);
    }
    if (of_owner.owner == me) continue;
    ASSERT_EQ(of_owner.places, std::vector<uint32_t>(different.begin(), different.end()));
    uint64_t runs = 0;
    for (const uint32_t place : different) {
      runs += place == 0 || !different.contains(place - 1) ? 1 : 0;
    }
    EXPECT_EQ(of_owner.runs, runs);
  }
  EXPECT_EQ(end, reads.size());
}

TEST(Inspector, NothingIsRead) {
  const Inspection found = inspect({}, 2, 4);
  ASSERT_EQ(found.owners.size(), 1U);
  EXPECT_EQ(found.owners.front().owner, 2U);
  EXPECT_EQ(found.owners.front().end, 0U);
}

TEST(Inspector, OwnReadsKeepTheirPlaces) { expect_right({{1, 7}, {1, 7}, {1, 0}}, 1, 3); }

TEST(Inspector, DenseAndSparseReadsOfManyRanks) {
  SplitMix64 random(1);
  for (const uint32_t places : {1U, 5U, 63U, 64U, 65U, 1000U, 1U << 30}) {
    for (const size_t count : {1U, 2U, 17U, 400U}) {
      for (const rank_t ranks : {1U, 2U, 7U}) {
        std::vector<GatherPlace> reads(count);
        for (GatherPlace& read : reads) {
          read = {static_cast<rank_t>(random.next() % ranks),
                  static_cast<uint32_t>(random.next() % places)};
        }
        expect_right(reads, static_cast<rank_t>(random.next() % ranks), ranks);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Inspector, ReachesTheLastPlaceThereCanBe) {
  expect_right({{1, UINT32_MAX}, {1, UINT32_MAX - 1}, {1, 0}}, 0, 2);
  std::vector<GatherPlace> dense;
  for (uint32_t i = 0; i < 200; ++i) dense.push_back({1, UINT32_MAX - 2 * i});
  expect_right(dense, 0, 2);
}

}  // namespace
}  // namespace stripline::gathers
