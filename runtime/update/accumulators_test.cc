// Where updates of other ranks' cells are summed up, and when that pays.
#include "runtime/update/accumulators.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::update {
namespace {

struct Pair {
  uint64_t a;
  uint64_t b;
};
struct add_pairs {
  static constexpr bool kAssociative = true;
  template <typename T>
  static constexpr T identity() {
    return {};
  }
  Pair operator()(Pair sum, Pair value) const { return {sum.a + value.a, sum.b + value.b}; }
};

using Held = std::vector<std::pair<uint64_t, int64_t>>;

Held held_by(const Accumulators& accumulators, rank_t owner) {
  Held held;
  accumulators.each(owner, [&held](uint64_t cell, const std::byte* value) {
    int64_t read = 0;
    std::memcpy(&read, value, sizeof read);
    held.emplace_back(cell, read);
  });
  return held;
}

TEST(Accumulators, HoldWhatIsNotTheIdentity) {
  Accumulators accumulators(detail::update_type<int64_t, op_min>(), 3);
  std::vector<detail::UpdateLane> lanes(3);
  accumulators.open(lanes[1], 1, 1000, 100);
  EXPECT_EQ(lanes[1].via, &lanes[1]);
  ASSERT_GE(lanes[1].extent, 100U);
  EXPECT_EQ(accumulators.bytes(), accumulators.bytes_for(100));
  EXPECT_FALSE(accumulators.hold_any());
  auto* const cells = reinterpret_cast<int64_t*>(lanes[1].memory);
  for (const uint64_t cell : {99U, 3U, 4U}) {
    cells[cell] = -static_cast<int64_t>(cell);
    lanes[1].marks[cell / detail::kMarkedCells] = 1;
  }
  EXPECT_TRUE(accumulators.hold_any());
  EXPECT_EQ(held_by(accumulators, 1), (Held{{1003, -3}, {1004, -4}, {1099, -99}}));
  EXPECT_TRUE(held_by(accumulators, 0).empty());

  lanes[1] = {};
  accumulators.attach(lanes[1], 1);
  EXPECT_EQ(lanes[1].memory, reinterpret_cast<std::byte*>(cells));
  EXPECT_EQ(lanes[1].first, 1000U);
  accumulators.clear(1);
  EXPECT_FALSE(accumulators.hold_any());
  EXPECT_EQ(cells[99], std::numeric_limits<int64_t>::max());
  accumulators.close(lanes[1], 1);
  EXPECT_EQ(lanes[1].extent, 0U);
  EXPECT_EQ(accumulators.bytes(), 0U);
}

TEST(Accumulators, NeedAnIdentityAndCellsThatDoNotOverlap) {
  EXPECT_TRUE(Accumulators::possible(detail::update_type<double, op_add>()));
  EXPECT_FALSE(Accumulators::possible(detail::update_type<double, op_replace>()));
  EXPECT_FALSE(Accumulators::possible(detail::update_type<Pair, add_pairs>()));
}

// What is seen of updates of cells at random, collected in buffers that merge them.
CellsSeen seen_of(uint64_t cells, uint64_t updates, size_t capacity) {
  std::mt19937_64 random(cells);
  CellsSeen seen;
  std::vector<Cell> buffer;
  std::vector<bool> has(cells);
  uint64_t merged = 0;
  const auto send = [&] {
    seen.add(uint64_t{7} << 32U, buffer, merged, true);
    buffer.clear();
    has.assign(cells, false);
    merged = 0;
  };
  for (uint64_t i = 0; i < updates; ++i) {
    const uint64_t cell = random() % cells;
    if (has[cell]) {
      ++merged;
      continue;
    }
    has[cell] = true;
    buffer.push_back(static_cast<Cell>(cell * 5));
    if (buffer.size() == capacity) send();
  }
  send();
  return seen;
}

TEST(CellsSeen, EstimatesHowManyCellsThereAre) {
  for (const uint64_t cells : {5000U, 20000U, 100000U}) {
    const CellsSeen seen = seen_of(cells, 1000000, 1000);
    EXPECT_EQ(seen.updates, 1000000U);
    EXPECT_GE(seen.lowest, uint64_t{7} << 32U);
    EXPECT_NEAR(seen.cells(), static_cast<double>(cells), 0.2 * static_cast<double>(cells));
    EXPECT_TRUE(seen.would_pay());
  }
  // No more than there are between the ends, however often they meet.
  EXPECT_NEAR(seen_of(50, 10000, 1000).cells(), 246, 1e-9);
}

TEST(CellsSeen, KnowsWhenTheyDoNotMeetOftenEnough) {
  EXPECT_FALSE(CellsSeen().would_pay());
  EXPECT_FALSE(seen_of(1000000, 500000, 1000).would_pay());
  EXPECT_TRUE(seen_of(100000, 500000, 1000).would_pay());
  EXPECT_TRUE(CellsSeen().pays(1000));  // a pause is no reason to stop
  EXPECT_TRUE((CellsSeen{.summed = 200, .sent = 100}).pays(3200));
  EXPECT_FALSE((CellsSeen{.summed = 199, .sent = 100}).pays(200));
  // Few updates, after many that needed a large array.
  EXPECT_FALSE((CellsSeen{.summed = 200, .sent = 100}).pays(3201));
}

}  // namespace
}  // namespace stripline::update
