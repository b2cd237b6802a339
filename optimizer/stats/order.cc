#include "optimizer/stats/order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace stripline::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kTukeyReach = 1.5;

bool unusable(std::span<const double> values) {
  return values.empty() ||
         std::any_of(values.begin(), values.end(), [](double v) { return std::isnan(v); });
}

double quantile_of_sorted(const std::vector<double>& x, double q) {
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(x.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= x.size()) return x.back();
  const double share = position - static_cast<double>(below);
  if (share == 0.0) return x[below];
  return x[below] + share * (x[below + 1] - x[below]);
}

}  // namespace

double median(std::span<const double> values) {
  if (unusable(values)) return kNan;
  std::vector<double> x(values.begin(), values.end());
  const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  if (x.size() % 2 == 1) return *middle;
  const double below = *std::max_element(x.begin(), middle);
  return below + (*middle - below) / 2.0;
}

double quantile(std::span<const double> values, double q) {
  if (unusable(values) || std::isnan(q)) return kNan;
  std::vector<double> x(values.begin(), values.end());
  std::sort(x.begin(), x.end());
  return quantile_of_sorted(x, q);
}

Moments mean_and_variance(std::span<const double> values) {
  if (values.empty()) return {kNan, kNan};
  double sum = 0.0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double variance =
      values.size() > 1 ? squares / static_cast<double>(values.size() - 1) : 0.0;
  return {mean, std::isnan(mean) ? kNan : variance};
}

OutlierCounts tukey_outliers(std::span<const double> values) {
  OutlierCounts counts;
  if (unusable(values)) return {0, 0, kNan, kNan};
  std::vector<double> x(values.begin(), values.end());
  std::sort(x.begin(), x.end());
  const double q1 = quantile_of_sorted(x, 0.25);
  const double q3 = quantile_of_sorted(x, 0.75);
  counts.fence_low = q1 - kTukeyReach * (q3 - q1);
  counts.fence_high = q3 + kTukeyReach * (q3 - q1);
  for (const double value : x) {
    if (value < counts.fence_low) ++counts.low;
    if (value > counts.fence_high) ++counts.high;
  }
  return counts;
}

}  // namespace stripline::stats
