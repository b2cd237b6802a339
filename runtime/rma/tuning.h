// The choices for single operations that a machine decides: the tuned model's, where it has them,
// else documented defaults; either way STRIPLINE_TUNING may put others in their place, which is how
// they are measured.
#pragma once

#include <string>

#include <stripline/atomic.h>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "runtime/rma/progress_choice.h"
#include "runtime/rma/put_combiner.h"

namespace stripline::rma {

struct Tuning {
  /// The way of domains that name none, where the provider has all their operations and no rank
  /// maps another one's memory (<stripline/atomic.h>): provider or message.
  AtomicPath atomic_way = AtomicPath::provider;
  PutCombiner::Rule combining;  ///< of small puts without handles
  /// Larger buffered puts are waited for; at most the next. The default suits networks whose
  /// latency is that of some tens of kilobytes.
  size_t buffered_put_bytes = size_t{64} << 10;
  /// For all copies of buffered puts together: a policy, more than a queue of typical puts.
  size_t buffered_budget_bytes = size_t{1} << 20;
  ProgressCosts progress;  ///< where Options::progress is "tuned"
};

/// `settings`: "NAME=VALUE,...", see Options::tuning. `model` may be null. Errors: invalid_argument
/// for a setting that is unknown or out of its bounds; the message lists what there is.
Result<Tuning> tuning_of(const model::TunedModel* model, const std::string& settings);

}  // namespace stripline::rma
