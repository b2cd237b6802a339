// The decision for the stages of a sweep with its reasons: every number of pieces the planner
// considered, with its predicted times and their interval, the parameters that matter, the model
// entries it used and the margin. As a value, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/request_fields.h"
#include "optimizer/plan/wavefront.h"

namespace stripline::plan {

struct WavefrontExplanation {
  struct Alternative {
    uint32_t pieces = 1;
    uint64_t piece_bytes = 0;  ///< the mean, rounded down
    WavefrontTime time;
    double low_s = 0;  ///< bounds of the sweep's time over the parameters' intervals
    double high_s = 0;
  };
  /// The parameters that hold for puts of one size.
  struct Entry {
    uint64_t bytes = 0;
    cost::MessageCosts message;
  };

  WavefrontRequest request;
  WavefrontPlan plan;
  bool has_model = false;
  std::vector<Alternative> alternatives;   ///< as considered: one piece first
  std::vector<Sensitivity> sensitivities;  ///< of the fastest's gain; none if that is one piece
  /// For a stage in one piece, for a piece of the fastest, and for a flag that follows.
  std::vector<Entry> entries;
  double overhead_s = 0;  ///< of the engine, for each piece
  double minimum_gain = 0;
};

template <>
std::span<const Field<WavefrontRequest>> fields_of();
template <>
WavefrontRequest usual_request();

/// Plans as plan_wavefront does and collects the reasons. `costs` may be null.
WavefrontExplanation explain(const WavefrontRequest& request, const StripCosts* costs);

/// For people: several lines, times in readable units.
std::string to_text(const WavefrontExplanation& explanation);

/// For programs: SI units, member names as in the structs.
Json to_json(const WavefrontExplanation& explanation);

}  // namespace stripline::plan
