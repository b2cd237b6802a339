// Running an assignment: all its points in a shuffled order, with what is to be reported in
// between.
#pragma once

#include <cstddef>
#include <vector>

#include "base/point_record.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/experiment/point_order.h"
#include "suites/session.h"

namespace stripline::suites {

/// Where a run's results go and where the wish to stop comes from. Asked on rank 0 only, and never
/// while a point is timed.
class Reporter {
 public:
  virtual ~Reporter() = default;
  /// True if to stop before the next point.
  virtual bool cancelled() = 0;
  /// Finished series, and how many points of how many are done.
  virtual Status report(const std::vector<experiment::SampleSeries>& series, size_t done,
                        size_t total) = 0;
};

/// Makes the context's planners use this model. The same on every rank. Errors: those of
/// model::parse_model; failed_precondition when it was made for another machine, naming the
/// difference.
Status adopt_model(Context& context, const std::string& model_json);

enum class RunEnd { complete, cancelled };

/// What goes with an assignment besides it.
struct RunAids {
  experiment::LeftOut left_out = {};  ///< The same on every rank.
  PointRecord* record = nullptr;      ///< Where this process says which point it is at, or null.
};

/// Collective. Runs the points, in the order of order_of_points(); series reach the reporter at
/// intervals of about a second, so that the receiver is mostly idle while samples are taken. A
/// point that cannot be measured here, or whose experiment is left out, yields a series without
/// values (registry.h, as_series). Errors: those of Reporter::report, on rank 0.
Result<RunEnd> run_assignment(Session& session, const experiment::Assignment& assignment,
                              Reporter* reporter, const RunAids& aids = {});

}  // namespace stripline::suites
