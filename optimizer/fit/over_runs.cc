#include "optimizer/fit/over_runs.h"

#include <algorithm>
#include <limits>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {

std::optional<model::Parameter> over_runs(std::span<const double> per_run, uint32_t samples,
                                          const std::string& method,
                                          const OverRunsOptions& options) {
  const auto interval = stats::mean_interval(per_run, options.confidence);
  if (!interval.ok()) return std::nullopt;
  const double floor = options.nonnegative ? 0.0 : -std::numeric_limits<double>::infinity();
  const double mean = stats::mean_and_variance(per_run).mean;
  const double half = std::max(interval->half_width(), options.least_half_width);
  model::Parameter parameter;
  parameter.value = std::max(floor, mean);
  parameter.ci_low = std::max(floor, mean - half);
  parameter.ci_high = std::max(parameter.value, mean + half);
  parameter.runs = static_cast<uint32_t>(per_run.size());
  parameter.samples = samples;
  parameter.method = method;
  return parameter;
}

}  // namespace stripline::fit
