// A message of cells that ascend, each once, as the engine of updates describes it to the planner.
#pragma once

#include <span>
#include <vector>

#include "optimizer/plan/update_encoding.h"

namespace stripline::plan {

/// The plan; `boxes` become those of the encoding, none for pairs.
inline EncodingPlan plan_message(std::span<const uint64_t> cells, const EncodingCosts& costs,
                                 bool has_identity, std::vector<UpdateBox>& boxes) {
  EncodingRequest request{.updates = cells.size()};
  cover(cells, 0, boxes);
  request.runs = boxes.size();
  if (has_identity) {
    cover(cells, widest_covered_gap(costs), boxes);
    request.boxes = boxes.size();
    for (const UpdateBox& box : boxes) request.cells += box.cells;
  }
  const EncodingPlan plan = plan_encoding(request, costs);
  if (plan.encoding == UpdateEncoding::pairs) boxes.clear();
  return plan;
}

}  // namespace stripline::plan
