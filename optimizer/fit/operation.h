// LogGP parameters of one operation from its samples, by the equations of docs/measurement.md.
//
// Breakpoints, the kind of queue limit and the sizes at which the NIC is the bottleneck are decided
// once, on medians over all runs; then every parameter is estimated in each run by itself and
// published with the t interval over the runs (over_runs.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/fit/hinge.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/segments.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// The equations that hold for an operation.
enum class Kind {
  put,  ///< A latency sample is o + 2L + G S + r; an operation leaves the queue when it is sent.
  get,  ///< The same latency; an operation leaves the queue when its data is there.
  /// Active message: o + L + G S; what the handler costs is part of L. Holds its place in the
  /// window of messages in flight until it was served.
  am,
};

struct OperationOptions {
  double confidence = 0.95;  ///< That of the published intervals, in (0, 1); a model file says 95%.
  /// The NIC is taken for the bottleneck of a stream when its cost per operation exceeds the CPU's,
  /// and of gets a round trip's share of the queue, by more than this factor, at least 1, at the
  /// stated confidence.
  double nic_bound_ratio = 1.05;
  bool robust = true;  ///< Huber's loss within a run, against single disturbed sizes.
  SegmentOptions segments;
};

struct OperationFit {
  model::OperationModel model;
  std::vector<Breakpoint> breakpoints;  ///< Between the model's segments, with their intervals.
  double misfit = 0.0;  ///< Relative root mean square residual of the latency and stream medians.
  std::vector<std::string> notes;  ///< What could not be identified, and why; one sentence each.
};

/// Fits one operation. A parameter that the samples do not identify is absent and named in the
/// notes. Without overlap samples r is part of L; without issue samples o is, too. Errors:
/// failed_precondition when there are no latency samples, or fewer than two runs of them: a single
/// run says nothing about the next one; invalid_argument for options outside of their bounds.
Result<OperationFit> fit_operation(const OperationSamples& samples, Kind kind,
                                   const OperationOptions& options = {});

}  // namespace stripline::fit
