#include "runtime/vis/landing_zone.h"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

namespace stripline::vis {
namespace {

// What owners take for theirs is what holders take for the owners', and nobody else's.
TEST(LandingZone, SlotsOfAllPairsAreApart) {
  constexpr uint64_t kBase = 1000;
  for (const Rank ranks : {2U, 3U, 5U, 16U, 17U, 100U, 1000U}) {
    std::vector<std::byte> memory(LandingZone::bytes_for(ranks));
    const Rank holder = ranks / 2;
    const LandingZone held(memory, kBase, holder, ranks);
    EXPECT_GE(held.slots(), 2U);
    std::vector<std::pair<uint64_t, uint64_t>> places;
    for (Rank owner = 0; owner < ranks; ++owner) {
      if (owner == holder) continue;
      LandingZone owned({memory.data(), memory.size()}, kBase, owner, ranks);
      ASSERT_EQ(owned.slots(), held.slots());
      for (uint32_t i = 0; i < held.slots(); ++i) {
        ASSERT_TRUE(owned.has_free(holder));
        const uint32_t slot = owned.acquire(holder);
        const uint64_t offset = owned.offset_of(holder, slot) - kBase;
        const std::span<std::byte> mine = held.memory_of(owner, slot);
        ASSERT_EQ(mine.data(), memory.data() + offset);
        ASSERT_EQ(mine.size(), owned.slot_bytes());
        ASSERT_LE(offset + mine.size(), memory.size());
        places.emplace_back(offset, offset + mine.size());

        // Where the owner puts what the holder gets through the holder's slot of the same number.
        const uint64_t answer = owned.answer_offset_of(holder, i) - kBase;
        const std::span<std::byte> answered = held.answer_of(owner, i);
        ASSERT_EQ(answered.data(), memory.data() + answer);
        ASSERT_LE(answer + answered.size(), memory.size());
        places.emplace_back(answer, answer + answered.size());
      }
      ASSERT_FALSE(owned.has_free(holder));
      owned.release(holder, 1);
      ASSERT_EQ(owned.acquire(holder), 1U);
    }
    std::sort(places.begin(), places.end());
    for (size_t i = 1; i < places.size(); ++i) ASSERT_GE(places[i].first, places[i - 1].second);
  }
  EXPECT_EQ(LandingZone({}, 0, 0, 1).slot_bytes(), 0U);
}

}  // namespace
}  // namespace stripline::vis
