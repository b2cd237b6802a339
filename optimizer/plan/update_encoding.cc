#include "optimizer/plan/update_encoding.h"

#include <cmath>
#include <limits>

namespace stripline::plan {
namespace {

// A message of boxes by what it consists of.
EncodingPlan in_boxes(UpdateEncoding encoding, std::span<const UpdateBox> boxes,
                      const EncodingCosts& costs) {
  uint64_t cells = 0;
  for (const UpdateBox& box : boxes) cells += box.cells;
  return {encoding, boxes.size() * costs.box_bytes + cells * costs.value_bytes,
          static_cast<double>(boxes.size()) * costs.box_s() +
              static_cast<double>(cells) * costs.cell_s()};
}

}  // namespace

uint64_t widest_covered_gap(const EncodingCosts& costs) noexcept {
  constexpr uint64_t kAny = std::numeric_limits<uint64_t>::max();
  if (!(costs.cell_s() > 0)) return kAny;
  const double cells = std::floor(costs.box_s() / costs.cell_s());
  return cells < 0x1p63 ? static_cast<uint64_t>(cells) : kAny;
}

void cover(std::span<const uint64_t> cells, uint64_t widest_gap, std::vector<UpdateBox>& boxes) {
  boxes.clear();
  for (const uint64_t cell : cells) {
    if (!boxes.empty()) {
      UpdateBox& last = boxes.back();
      const uint64_t end = last.first + last.cells;
      if (cell - end <= widest_gap) {
        last.cells = cell - last.first + 1;
        continue;
      }
    }
    boxes.push_back({cell, 1});
  }
}

EncodingPlan plan_encoding(std::span<const uint64_t> cells, const EncodingCosts& costs,
                           bool has_identity, std::vector<UpdateBox>& boxes) {
  const auto count = static_cast<double>(cells.size());
  const EncodingPlan pairs{UpdateEncoding::pairs,
                           cells.size() * (costs.address_bytes + costs.value_bytes),
                           count * costs.pair_s()};
  // Boxes are never dearer than runs, which are boxes without gaps.
  cover(cells, has_identity ? widest_covered_gap(costs) : 0, boxes);
  EncodingPlan covered = in_boxes(UpdateEncoding::boxes, boxes, costs);
  const uint64_t sent = (covered.bytes - boxes.size() * costs.box_bytes) / costs.value_bytes;
  if (sent == cells.size()) covered.encoding = UpdateEncoding::runs;
  if (covered.predicted_s < pairs.predicted_s) return covered;
  boxes.clear();
  return pairs;
}

}  // namespace stripline::plan
