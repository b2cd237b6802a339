#include "optimizer/fit/over_runs.h"

#include <algorithm>
#include <cmath>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {

std::optional<model::Parameter> over_runs(std::span<const double> per_run, uint32_t samples,
                                          const std::string& method,
                                          const OverRunsOptions& options) {
  const auto interval = stats::mean_interval(per_run, options.confidence);
  if (!interval.ok()) return std::nullopt;
  const double mean = stats::mean_and_variance(per_run).mean;
  const double half = std::max(interval->half_width(), options.least_half_width);
  if (!std::isfinite(mean) || !std::isfinite(half)) return std::nullopt;
  model::Parameter parameter;
  parameter.value = std::max(0.0, mean);
  parameter.ci_low = std::max(0.0, mean - half);
  parameter.ci_high = std::max(parameter.value, mean + half);
  parameter.runs = static_cast<uint32_t>(per_run.size());
  parameter.samples = samples;
  parameter.method = method;
  return parameter;
}

std::optional<model::Parameter> over_runs(const SampleRow* row, double confidence) {
  if (row == nullptr) return std::nullopt;
  std::vector<double> per_run;
  for (const auto& [run, median] : row->medians) per_run.push_back(median);
  return over_runs(per_run, row->raw_samples(), "run-medians+t", {.confidence = confidence});
}

std::optional<model::Parameter> PublishedLines::intercept(const RunLines& lines) const {
  return over_runs(lines.free_intercepts, lines.intercept_misfit, lines.misfit_freedom, kMethod);
}

std::optional<model::Parameter> PublishedLines::slope(const RunLines& lines,
                                                      const std::string& method) const {
  return over_runs(lines.free_slopes, lines.slope_misfit, lines.misfit_freedom, method);
}

std::optional<model::Parameter> PublishedLines::over_runs(std::span<const double> per_run,
                                                          double misfit, double freedom,
                                                          const std::string& method) const {
  OverRunsOptions how{.confidence = confidence_};
  if (freedom > 0.0) {
    how.least_half_width = stats::t_two_sided(confidence_, freedom) * std::sqrt(misfit);
  }
  return fit::over_runs(per_run, samples_, method, how);
}

}  // namespace stripline::fit
