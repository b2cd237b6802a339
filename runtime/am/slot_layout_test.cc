#include "runtime/am/slot_layout.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::am {
namespace {

// What owners take for theirs is theirs alone, however many ranks there are.
TEST(SlotLayout, SlotsOfAllPairsAreApart) {
  constexpr size_t kBytes = size_t{2} << 20;
  constexpr size_t kMost = size_t{65} << 10;
  for (const bool twins : {false, true}) {
    for (const fabric::Rank ranks : {2U, 3U, 5U, 16U, 17U, 100U, 1000U}) {
      const SlotLayout layout(kBytes, ranks,
                              {.most_slots = 4, .most_slot_bytes = kMost, .twins = twins});
      EXPECT_EQ(layout.slots(), ranks <= 3 ? 4U : std::max(2U, layout.slots()));
      EXPECT_LE(layout.slot_bytes(), kMost);
      EXPECT_GT(layout.slot_bytes(), 0U);
      const fabric::Rank me = ranks / 2;
      std::vector<size_t> places;  // in the memory of this rank
      for (fabric::Rank peer = 0; peer < ranks; ++peer) {
        if (peer == me) continue;
        for (uint32_t slot = 0; slot < layout.slots(); ++slot) {
          places.push_back(layout.slot(peer, me, slot));
          if (twins) places.push_back(layout.twin(me, peer, slot));
        }
      }
      std::ranges::sort(places);
      for (size_t i = 1; i < places.size(); ++i) {
        ASSERT_GE(places[i] - places[i - 1], layout.slot_bytes());
      }
      ASSERT_LE(places.back() + layout.slot_bytes(), kBytes);
    }
  }
}

TEST(SlotLayout, ARankAloneHasNone) {
  const SlotLayout layout(0, 1, {.most_slot_bytes = 1024});
  EXPECT_EQ(layout.slots(), 0U);
  EXPECT_EQ(layout.slot_bytes(), 0U);
}

}  // namespace
}  // namespace stripline::am
