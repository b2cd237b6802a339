// The choices for single operations that a machine decides: the tuned model's, where it has them,
// else documented defaults; in both cases STRIPLINE_TUNING may put others in their place, which is
// how they are measured.
#pragma once

#include <string>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/score_map.h"
#include "optimizer/plan/single.h"
#include "runtime/rma/put_combiner.h"

namespace stripline::rma {

struct Tuning {
  /// Buffered puts are copied up to at most `buffered_budget_bytes`.
  plan::SingleCosts single;
  PutCombiner::Rule combining;  ///< of small puts without handles, as `single` says
  /// For all copies of buffered puts together: a policy, more than a queue of typical puts.
  size_t buffered_budget_bytes = size_t{1} << 20;
  plan::ScoreMap forced;  ///< decisions of other kinds
};

/// `settings`: "NAME=VALUE,...", and rules of a score map among them, KIND:SIZES:METHOD; see
/// Options::tuning. Either is separated by a comma or a semicolon. `model` may be null. Errors:
/// invalid_argument for a setting that is unknown or out of its bounds; the message lists what
/// there is.
Result<Tuning> tuning_of(const model::TunedModel* model, const std::string& settings);

}  // namespace stripline::rma
