#include "optimizer/plan/update_encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stripline::plan {
namespace {

// Values begin at multiples of this behind the addresses.
constexpr uint64_t kAlignment = 8;

double seconds_of(const EncodingRequest& request, const EncodingCosts& costs,
                  UpdateEncoding encoding) {
  const uint64_t applied = encoding == UpdateEncoding::boxes ? request.cells : request.updates;
  return static_cast<double>(encoded_bytes(request, costs, encoding)) * costs.byte_s() +
         static_cast<double>(applied) * costs.apply_s;
}

template <typename Recorder>
EncodingPlan choose_encoding(const EncodingRequest& request, const EncodingCosts& costs,
                             Recorder& record) {
  const double baseline_s = seconds_of(request, costs, UpdateEncoding::pairs);
  UpdateEncoding best = UpdateEncoding::pairs;
  double best_s = baseline_s;
  record.consider(best, best_s);
  const auto try_out = [&](UpdateEncoding encoding) {
    const double predicted_s = seconds_of(request, costs, encoding);
    record.consider(encoding, predicted_s);
    if (predicted_s >= best_s) return;
    best = encoding;
    best_s = predicted_s;
    record.take(encoding, predicted_s);
  };
  if (request.runs > 0) try_out(UpdateEncoding::runs);
  const bool has_boxes = request.among == 0 || looks_for_boxes(request, costs);
  if (request.boxes > 0 && has_boxes) try_out(UpdateEncoding::boxes);
  const uint64_t bytes = encoded_bytes(request, costs, best);
  if (costs.bytes_only) return {best, bytes};
  const bool faster = best_s < baseline_s;
  return {best,   bytes,      faster ? Reason::tuned : Reason::no_faster_plan,
          best_s, baseline_s, faster ? 1 - best_s / baseline_s : 0};
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

bool looks_for_boxes(const EncodingRequest& request, const EncodingCosts& costs) noexcept {
  if (request.among == 0 || request.among > kCellsToLookAmong * request.updates) return false;
  double as_they_lie_s = seconds_of(request, costs, UpdateEncoding::pairs);
  if (request.runs > 0) {
    as_they_lie_s = std::min(as_they_lie_s, seconds_of(request, costs, UpdateEncoding::runs));
  }
  const auto updates = static_cast<double>(request.updates);
  const double fewest = std::min(updates, static_cast<double>(request.among));
  return costs.box_s() + fewest * costs.cell_s() + updates * costs.look_s < as_they_lie_s;
}

uint64_t encoded_bytes(const EncodingRequest& request, const EncodingCosts& costs,
                       UpdateEncoding encoding) noexcept {
  switch (encoding) {
    case UpdateEncoding::pairs: {
      const uint64_t addresses = request.updates * costs.address_bytes;
      const uint64_t values = request.one_value ? 1 : request.updates;
      return (addresses + kAlignment - 1) / kAlignment * kAlignment + values * costs.value_bytes;
    }
    case UpdateEncoding::runs:
      return request.runs * costs.box_bytes + request.updates * costs.value_bytes;
    case UpdateEncoding::boxes:
    case UpdateEncoding::automatic:
      break;
  }
  return request.boxes * costs.box_bytes + request.cells * costs.value_bytes;
}

EncodingPlan plan_encoding(const EncodingRequest& request, const EncodingCosts& costs) noexcept {
  NoRecord record;
  return choose_encoding(request, costs, record);
}

EncodingPlan plan_encoding(const EncodingRequest& request, const EncodingCosts& costs,
                           EncodingRecord& record) {
  return choose_encoding(request, costs, record);
}

}  // namespace stripline::plan
