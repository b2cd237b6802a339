#include "suites/results/run_medians.h"

#include "optimizer/stats/order.h"
#include "suites/grids.h"

namespace stripline::suites::results {

RunMedians run_medians(const std::vector<experiment::SampleSeries>& series,
                       const std::function<bool(const experiment::Point&)>& wanted) {
  RunMedians medians;
  for (const experiment::SampleSeries& one : series) {
    if (one.values.empty() || !one.verified || !wanted(one.point)) continue;
    medians[size_param(one.point, "bytes")][one.run] = stats::median(one.values);
  }
  return medians;
}

}  // namespace stripline::suites::results
