// The rules that a tuned model satisfies wherever it came from. The fitter, the reader and
// the writer of model files all apply them.
#pragma once

#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::model {

/// Every number finite and within its rule, ci_low <= value <= ci_high, segments ascending and
/// without gaps, footprints ascending, sizes and counts bounded, names present, all texts valid
/// UTF-8, as JSON demands. ci_low may lie below a rule's minimum: an interval is an estimate.
/// Errors: invalid_argument naming the member by its path in the file, e.g.
/// "network.inter-node.get.segments[1].L_s".
Status validate(const TunedModel& model);

}  // namespace stripline::model
