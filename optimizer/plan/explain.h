// A decision with its reasons: every alternative the planner considered, with its predicted time
// and interval, the model entries it used and the margin; as a value, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/plan/request_fields.h"
#include "optimizer/plan/strip.h"

namespace stripline::plan {

struct Explanation {
  /// A time and its bounds over the parameters' intervals, in seconds.
  struct Time {
    double value_s = 0;
    double low_s = 0;
    double high_s = 0;
  };
  struct Alternative {
    StripCandidate candidate;
    uint64_t count = 1;
    Time time;
  };
  /// The parameters that hold for messages of one size.
  struct Entry {
    uint64_t bytes = 0;
    cost::MessageCosts message;
    /// What the bytes cost in the buffer of that plan; nullopt where the model does not say.
    struct Buffer {
      uint64_t bytes = 0;
      double retire_s_per_byte = 0;
      double read_s_per_byte = 0;
    };
    std::optional<Buffer> buffer;
  };

  StripRequest request;
  StripPlan plan;
  bool has_model = false;
  Time compute;                           ///< computation of the whole loop
  std::vector<Alternative> alternatives;  ///< the vectorised loop first, then as considered
  std::vector<StripPruned> pruned;
  /// The decomposition whose gain decides; nullopt: none is faster than the vectorised loop.
  std::optional<StripRecord::Alternative> best;
  /// What the site's guard compares a plan that vectorises with (tie_of_strip()).
  std::optional<StripPlan> tie;
  std::vector<Sensitivity> sensitivities;  ///< of its gain
  std::vector<Entry> entries;  ///< for the whole message and for the chosen or best strip
  double slowdown = 1;         ///< of a byte of the whole message, by the network's load
  uint32_t queue_depth = 0;
  double strip_overhead_s = 0;
  double minimum_gain = 0;
};

template <>
std::span<const Field<StripRequest>> fields_of();
template <>
StripRequest usual_request();

/// Plans as plan_strip does and collects the reasons. `costs` may be null.
Explanation explain(const StripRequest& request, const StripCosts* costs);

/// For people: several lines, times in readable units.
std::string to_text(const Explanation& explanation);

/// For programs: SI units, member names as in the structs.
Json to_json(const Explanation& explanation);

}  // namespace stripline::plan
