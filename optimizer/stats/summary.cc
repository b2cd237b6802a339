#include "optimizer/stats/summary.h"

#include <algorithm>

#include "optimizer/stats/order.h"

namespace stripline::stats {

std::vector<double> run_medians(const Runs& runs) {
  std::vector<double> medians;
  medians.reserve(runs.size());
  for (const std::vector<double>& run : runs) {
    if (!run.empty()) medians.push_back(median(run));
  }
  return medians;
}

Result<Summary> summarize(const Runs& runs, double confidence) {
  std::vector<double> all;
  for (const std::vector<double>& run : runs) all.insert(all.end(), run.begin(), run.end());
  STRIPLINE_RETURN_IF_ERROR(check_finite(all, "sample"));
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  const std::vector<double> medians = run_medians(runs);
  Summary summary;
  summary.median = median(medians);
  summary.n_samples = all.size();
  summary.n_runs = medians.size();
  summary.min = *std::min_element(all.begin(), all.end());
  summary.p90 = quantile(all, 0.90);
  summary.p99 = quantile(all, 0.99);
  Interval interval;
  if (medians.size() > 1) {
    STRIPLINE_ASSIGN_OR_RETURN(const RunInterval over_runs,
                               run_median_interval(medians, confidence));
    interval = over_runs.interval;
    summary.method = over_runs.method;
  } else if (const auto within = median_interval(all, confidence); within.ok()) {
    interval = *within;
    summary.method = IntervalMethod::within_run;
  } else {
    interval = {summary.min, *std::max_element(all.begin(), all.end())};
    summary.method = IntervalMethod::range;
  }
  summary.ci_low = interval.low;
  summary.ci_high = interval.high;
  return summary;
}

}  // namespace stripline::stats
