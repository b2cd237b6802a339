// The segments of an operation, ranges of sizes that travel by one protocol, and the LogGP
// parameters of each: the last step of operation.h. Pure.
#pragma once

#include <optional>

#include "base/result.h"
#include "optimizer/fit/operation.h"
#include "optimizer/fit/run_lines.h"
#include "optimizer/fit/samples.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// What was derived from the samples of an operation, in seconds.
struct OperationCosts {
  SizeCurve issue;        ///< o(S)
  SizeCurve stream;       ///< Per operation in a long stream.
  SizeCurve nic_bound;    ///< The part of it where the NIC is the bottleneck,
  SizeCurve queue_bound;  ///< and the part where the depth of the queue is.
  std::optional<model::Parameter> serve_base_s;  ///< s(S), where serving costs anything.
  std::optional<model::Parameter> serve_per_byte_s;
};

/// Finds the breakpoints, on medians over all runs, and adds the segments between them, their
/// misfit and notes on what is absent to `fit`. `samples`: with logarithms linearized. Errors:
/// those of segment_curves().
Status fit_segments(const OperationSamples& samples, const OperationCosts& costs, Kind kind,
                    const OperationOptions& options, OperationFit& fit);

}  // namespace stripline::fit
