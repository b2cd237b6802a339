// JSON forms of the experiment types, as they travel between server, agent and worker and appear in
// `stripline bench list --json`. Field names equal the members' names.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::experiment {

/// A value that is not finite cannot be sent: JSON has no form for it, and the reader refuses it.
Json to_json(const Experiment& experiment);
Json to_json(const Point& point);
Json to_json(const StopRule& rule);
Json to_json(const SampleSeries& series);
Json to_json(const Assignment& assignment);

/// Each validates kinds and bounds; errors are data_loss and name the offending member. A member
/// whose struct member has a default may be left out; one unknown here is ignored.
Result<Experiment> experiment_from_json(const Json& json);
Result<Point> point_from_json(const Json& json);
Result<SampleSeries> sample_series_from_json(const Json& json);

/// sample_series_from_json() of what the text is as JSON, several times as fast: of millions of
/// samples only the numbers count.
Result<SampleSeries> sample_series_from_text(std::string_view text);
Result<Assignment> assignment_from_json(const Json& json);

/// Parses "k=v" (an integer, a finite number, else text). Errors: invalid_argument without a "=" or
/// a name before it.
Result<std::pair<std::string, ParamValue>> parse_param(std::string_view text);

}  // namespace stripline::experiment
