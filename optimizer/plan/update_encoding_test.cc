#include "optimizer/plan/update_encoding.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "optimizer/plan/encoding_fixture.h"
#include "optimizer/plan/strip_fixture.h"

namespace stripline::plan {
namespace {

// 8-byte values; what is described takes as long as two values that are applied.
constexpr EncodingCosts kCosts{.write_byte_s = 1e-10, .send_byte_s = 2e-10, .read_byte_s = 1e-10};

std::vector<UpdateBox> boxes_of(std::vector<uint64_t> cells, uint64_t widest_gap) {
  std::vector<UpdateBox> boxes;
  cover(cells, widest_gap, boxes);
  return boxes;
}

TEST(Cover, JoinsNeighboursAndGapsThatAreNarrowEnough) {
  const std::vector<uint64_t> cells{3, 4, 5, 7, 10, 20};
  EXPECT_EQ(boxes_of(cells, 0), (std::vector<UpdateBox>{{3, 3}, {7, 1}, {10, 1}, {20, 1}}));
  EXPECT_EQ(boxes_of(cells, 1), (std::vector<UpdateBox>{{3, 5}, {10, 1}, {20, 1}}));
  EXPECT_EQ(boxes_of(cells, 2), (std::vector<UpdateBox>{{3, 8}, {20, 1}}));
  EXPECT_EQ(boxes_of(cells, std::numeric_limits<uint64_t>::max()),
            (std::vector<UpdateBox>{{3, 18}}));
  EXPECT_TRUE(boxes_of({}, 7).empty());
  // Up to the last cell that there can be.
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(boxes_of({kLast - 2, kLast - 1}, 1), (std::vector<UpdateBox>{{kLast - 2, 2}}));
}

TEST(Cover, GapsAreAsWideAsABoxIsDear) {
  EncodingCosts costs = kCosts;
  EXPECT_EQ(widest_covered_gap(costs), 2U);
  // Su, section 5.2: the rule is gap > descriptor * (2 alpha + 1/bw) / (3 alpha + 1/bw), in words.
  const double alpha = 1e-9;
  const double word_s = 4e-9;
  costs = {.box_bytes = 40,
           .write_byte_s = alpha / 8,
           .send_byte_s = word_s / 8,
           .read_byte_s = alpha / 8,
           .apply_s = alpha};
  EXPECT_EQ(widest_covered_gap(costs),
            static_cast<uint64_t>(5 * (2 * alpha + word_s) / (3 * alpha + word_s)));
  EXPECT_EQ(widest_covered_gap({}), std::numeric_limits<uint64_t>::max());
}

TEST(Encoding, IsWhatTakesLeast) {
  std::vector<UpdateBox> boxes;
  const auto encoding = [&](std::vector<uint64_t> cells, bool has_identity = true) {
    return plan_message(cells, kCosts, has_identity, boxes).encoding;
  };
  EXPECT_EQ(encoding({1, 100, 1000}), UpdateEncoding::pairs);
  EXPECT_TRUE(boxes.empty());
  EXPECT_EQ(encoding({1, 2, 3, 4, 5}), UpdateEncoding::runs);
  EXPECT_EQ(boxes, (std::vector<UpdateBox>{{1, 5}}));
  EXPECT_EQ(encoding({1, 2, 4, 5, 6, 7, 8}), UpdateEncoding::boxes);
  EXPECT_EQ(boxes, (std::vector<UpdateBox>{{1, 8}}));
  // Gaps cannot be filled: two runs.
  EXPECT_EQ(encoding({1, 2, 3, 4, 6, 7, 8, 9}, false), UpdateEncoding::runs);
  EXPECT_EQ(boxes.size(), 2U);
  EXPECT_EQ(plan_message({}, kCosts, true, boxes).bytes, 0U);
}

TEST(Encoding, SaysTheBytesOfItsMessage) {
  std::vector<UpdateBox> boxes;
  const std::vector<uint64_t> dense{1, 2, 4, 5, 6, 7, 8};
  EXPECT_EQ(plan_message(dense, kCosts, true, boxes).bytes, 16 + 8 * 8U);
  const std::vector<uint64_t> sparse{1, 100};
  EXPECT_EQ(plan_message(sparse, kCosts, true, boxes).bytes, 2 * 16U);
}

// Boxes for 10 updates, which lie together or not, in no order.
TEST(Encoding, LooksForBoxesWhereTheyMaySaveMoreThanThat) {
  EncodingRequest request{.updates = 10, .among = 10};
  EncodingCosts costs = kCosts;
  EXPECT_TRUE(looks_for_boxes(request, costs));
  // 10 addresses are 80 bytes, of which one box takes 16.
  costs.look_s = 6.3 * costs.byte_s();
  EXPECT_TRUE(looks_for_boxes(request, costs));
  costs.look_s = 6.5 * costs.byte_s();
  EXPECT_FALSE(looks_for_boxes(request, costs));
  request.boxes = 1;
  request.cells = 10;
  EXPECT_EQ(plan_encoding(request, costs).encoding, UpdateEncoding::pairs);
  EXPECT_EQ(plan_encoding(request, kCosts).encoding, UpdateEncoding::boxes);
  request.among = 0;
  EXPECT_EQ(plan_encoding(request, costs).encoding, UpdateEncoding::boxes) << "they are given";
  request.among = 10 * kCellsToLookAmong + 1;
  EXPECT_FALSE(looks_for_boxes(request, kCosts));
  // What follows its neighbour needs no box.
  request = {.updates = 10, .runs = 1, .among = 10};
  EXPECT_FALSE(looks_for_boxes(request, kCosts));
}

// The least that any set of boxes takes, where a message's time is `seconds(boxes, cells)`: for
// every number of boxes, the narrowest gaps are covered.
double least_s(const std::vector<uint64_t>& cells,
               const std::function<double(uint64_t boxes, uint64_t cells)>& seconds) {
  std::vector<uint64_t> gaps;
  for (size_t i = 1; i < cells.size(); ++i) gaps.push_back(cells[i] - cells[i - 1] - 1);
  std::ranges::sort(gaps);
  uint64_t boxes = cells.size();
  uint64_t sent = cells.size();
  double least = seconds(boxes, sent);
  for (const uint64_t gap : gaps) {
    sent += gap;
    least = std::min(least, seconds(--boxes, sent));
  }
  return least;
}

// Clusters of cells, as updates with some locality have them.
std::vector<uint64_t> random_cells(RandomCases& draw) {
  std::set<uint64_t> cells;
  const uint64_t clusters = 1 + draw.below(12);
  for (uint64_t i = 0; i < clusters; ++i) {
    uint64_t cell = draw.below(4000);
    const uint64_t spread = 1 + draw.below(12);
    for (uint64_t n = 1 + draw.below(30); n > 0; --n) {
      cells.insert(cell);
      cell += 1 + draw.below(spread);
    }
  }
  return {cells.begin(), cells.end()};
}

EncodingCosts random_costs(RandomCases& draw) {
  return {.value_bytes = static_cast<uint32_t>(1 + draw.below(32)),
          .box_bytes = static_cast<uint32_t>(8 + draw.below(100)),
          .write_byte_s = 1e-11 * static_cast<double>(1 + draw.below(40)),
          .send_byte_s = 1e-11 * static_cast<double>(1 + draw.below(100)),
          .read_byte_s = 1e-11 * static_cast<double>(1 + draw.below(40)),
          .apply_s = 1e-10 * static_cast<double>(draw.below(50))};
}

TEST(Encoding, NoOtherBoxesTakeLessWhereAByteTakesEquallyLong) {
  RandomCases draw(5);
  std::vector<UpdateBox> boxes;
  for (int i = 0; i < 5000 && !HasFailure(); ++i) {
    const std::vector<uint64_t> cells = random_cells(draw);
    const EncodingCosts costs = random_costs(draw);
    const double least = least_s(cells, [&](uint64_t count, uint64_t sent) {
      return static_cast<double>(count) * costs.box_s() +
             static_cast<double>(sent) * costs.cell_s();
    });
    const EncodingPlan plan = plan_message(cells, costs, true, boxes);
    EXPECT_LE(plan.predicted_s, least * (1 + 1e-12)) << "case " << i;
    if (plan.encoding == UpdateEncoding::pairs) {
      EXPECT_LE(static_cast<double>(cells.size()) * costs.pair_s(), least * (1 + 1e-12))
          << "case " << i;
    } else {
      EXPECT_NEAR(plan.predicted_s, least, 1e-12 * least) << "case " << i;
    }
  }
}

// What is beyond 2 KiB travels twice as fast. Whoever takes the rate at the size to be expected
// loses little; the bound is what was found, and some room.
TEST(Encoding, LosesLittleWhereLargerMessagesAreFaster) {
  constexpr uint64_t kFastFrom = 2048;
  RandomCases draw(6);
  std::vector<UpdateBox> boxes;
  double worst = 1;
  for (int i = 0; i < 5000; ++i) {
    const std::vector<uint64_t> cells = random_cells(draw);
    EncodingCosts costs = random_costs(draw);
    const double slow_s = costs.send_byte_s;
    const auto seconds = [&](uint64_t count, uint64_t sent) {
      EncodingCosts at_rest = costs;
      at_rest.send_byte_s = 0;
      const uint64_t bytes = count * costs.box_bytes + sent * costs.value_bytes;
      const uint64_t slow = std::min(bytes, kFastFrom);
      return static_cast<double>(count) * at_rest.box_s() +
             static_cast<double>(sent) * at_rest.cell_s() +
             slow_s * (static_cast<double>(slow) + static_cast<double>(bytes - slow) / 2);
    };
    if (cells.size() * costs.value_bytes >= kFastFrom) costs.send_byte_s = slow_s / 2;
    cover(cells, widest_covered_gap(costs), boxes);
    uint64_t sent = 0;
    for (const UpdateBox& box : boxes) sent += box.cells;
    worst = std::max(worst, seconds(boxes.size(), sent) / least_s(cells, seconds));
  }
  RecordProperty("worst", std::to_string(worst));
  EXPECT_LT(worst, 1.06);
}

}  // namespace
}  // namespace stripline::plan
