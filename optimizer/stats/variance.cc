#include "optimizer/stats/variance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

constexpr std::size_t kTheilSenPoints = 1000;

}  // namespace

Result<NestedVariance> nested_variance(const Runs& runs) {
  double total = 0.0;
  double count = 0.0;
  double squared_sizes = 0.0;
  double groups = 0.0;
  for (const std::vector<double>& run : runs) {
    if (run.empty()) continue;
    STRIPLINE_RETURN_IF_ERROR(check_finite(run, "run"));
    for (const double value : run) total += value;
    const auto size = static_cast<double>(run.size());
    count += size;
    squared_sizes += size * size;
    groups += 1.0;
  }
  if (groups < 2.0 || count - groups < 1.0) {
    return Error(ErrorCode::failed_precondition,
                 "variance components need two runs and more samples than runs");
  }
  const double grand_mean = total / count;
  double within_squares = 0.0;
  double between_squares = 0.0;
  for (const std::vector<double>& run : runs) {
    if (run.empty()) continue;
    const Moments moments = mean_and_variance(run);
    const auto size = static_cast<double>(run.size());
    within_squares += moments.variance * (size - 1.0);
    between_squares += size * (moments.mean - grand_mean) * (moments.mean - grand_mean);
  }
  const double mean_square_within = within_squares / (count - groups);
  const double mean_square_between = between_squares / (groups - 1.0);
  const double typical_size = (count - squared_sizes / count) / (groups - 1.0);
  NestedVariance result;
  result.within = mean_square_within;
  result.between = std::max(0.0, (mean_square_between - mean_square_within) / typical_size);
  const double sum = result.within + result.between;
  result.icc = sum > 0.0 ? result.between / sum : 0.0;
  return result;
}

Dependence lag1_dependence(std::span<const double> series) {
  Dependence result;
  const std::size_t n = series.size();
  if (n < 4) return result;
  const double mean = mean_and_variance(series).mean;
  double squares = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += (series[i] - mean) * (series[i] - mean);
    if (i + 1 < n) products += (series[i] - mean) * (series[i + 1] - mean);
  }
  if (!(squares > 0.0)) return result;
  result.rho1 = products / squares;
  result.significant = std::abs(result.rho1) > 2.0 / std::sqrt(static_cast<double>(n));
  if (result.significant && result.rho1 > 0.0) {
    const double batch = std::ceil(1.0 / (1.0 - std::min(result.rho1, 0.999)));
    result.batch_size = std::max<std::size_t>(2, static_cast<std::size_t>(batch));
  }
  return result;
}

std::vector<double> batch_medians(std::span<const double> series, std::size_t batch_size) {
  const std::size_t size = std::max<std::size_t>(1, batch_size);
  const std::size_t batches = std::max<std::size_t>(1, series.size() / size);
  std::vector<double> medians;
  if (series.empty()) return medians;
  medians.reserve(batches);
  for (std::size_t b = 0; b < batches; ++b) {
    const std::size_t begin = b * size;
    const std::size_t end = b + 1 == batches ? series.size() : begin + size;
    medians.push_back(median(series.subspan(begin, end - begin)));
  }
  return medians;
}

Result<Drift> theil_sen(std::span<const double> x, std::span<const double> y, double confidence) {
  if (x.size() != y.size() || x.size() < 3) {
    return Error(ErrorCode::invalid_argument,
                 "a drift needs three or more points with one time each, got " +
                     std::to_string(x.size()) + " times and " + std::to_string(y.size()) +
                     " values");
  }
  STRIPLINE_RETURN_IF_ERROR(check_finite(x, "times"));
  STRIPLINE_RETURN_IF_ERROR(check_finite(y, "values"));
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  const std::size_t batch = (x.size() + kTheilSenPoints - 1) / kTheilSenPoints;
  const std::vector<double> xs = batch_medians(x, batch);
  const std::vector<double> ys = batch_medians(y, batch);
  std::vector<double> slopes;
  slopes.reserve(xs.size() * (xs.size() - 1) / 2);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    for (std::size_t j = i + 1; j < xs.size(); ++j) {
      if (xs[i] != xs[j]) slopes.push_back((ys[j] - ys[i]) / (xs[j] - xs[i]));
    }
  }
  if (slopes.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "all times are equal: there is no slope over time");
  }
  std::sort(slopes.begin(), slopes.end());
  Drift drift;
  drift.slope = median(slopes);
  std::vector<double> rest(xs.size());
  for (std::size_t i = 0; i < xs.size(); ++i) rest[i] = ys[i] - drift.slope * xs[i];
  drift.intercept = median(rest);
  const auto n = static_cast<double>(xs.size());
  const auto pairs = static_cast<double>(slopes.size());
  const double spread =
      normal_two_sided(confidence) * std::sqrt(n * (n - 1.0) * (2.0 * n + 5.0) / 18.0);
  // As many slopes lie below the interval as above it.
  const double outside = std::floor((pairs - spread) / 2.0);
  constexpr double kUnbounded = std::numeric_limits<double>::infinity();
  drift.slope_interval = {-kUnbounded, kUnbounded};
  if (outside >= 1.0) {
    const auto rank = static_cast<std::size_t>(outside);
    drift.slope_interval = {slopes[rank - 1], slopes[slopes.size() - rank]};
  }
  drift.significant = !drift.slope_interval.contains(0.0);
  return drift;
}

}  // namespace stripline::stats
