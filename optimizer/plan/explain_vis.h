// The decision for a transfer of many regions with its reasons: every method that is possible, its
// time by the cost model, what campaigns found that to be wrong by, and both together. As a value,
// as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/request_fields.h"
#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"

namespace stripline::plan {

struct VisExplanation {
  using Alternative = VisAlternative;

  VisRequest request;
  VisPlan plan;
  bool has_model = false;
  std::vector<Alternative> alternatives;  ///< as considered
  std::vector<VisMethod> excluded;        ///< that the request does not allow
};

/// Without those that the shape of the regions makes: headers, extent.
template <>
std::span<const Field<VisRequest>> fields_of();
/// In a job whose settings are the defaults.
template <>
VisRequest usual_request();

/// Plans as plan_vis does and collects the reasons. `costs` may be null.
VisExplanation explain(const VisRequest& request, const VisCosts* costs);

/// For people: several lines, times in readable units.
std::string to_text(const VisExplanation& explanation);

/// For programs: SI units, member names as in the structs.
Json to_json(const VisExplanation& explanation);

}  // namespace stripline::plan
