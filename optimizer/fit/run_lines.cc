#include "optimizer/fit/run_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimizer/fit/least_squares.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr double kSmallestScale = 1e-3;  // Floor of relative weighting, by the largest cost.
constexpr double kClearlyNoisier = 2.0;  // Ratio of variances below which no test is made.
constexpr double kNoisierConfidence = 0.999;

double mean(const std::vector<double>& values) { return stats::mean_and_variance(values).mean; }

using RelativeCurve = std::map<uint64_t, std::map<uint32_t, double>>;

// Divides by what a run has in common at all sizes: a network that is slow as a whole does not make
// any size less trustworthy than another.
void remove_run_effects(RelativeCurve& curve) {
  std::map<uint32_t, std::vector<double>> by_run;
  for (const auto& [bytes, runs] : curve) {
    for (const auto& [run, value] : runs) by_run[run].push_back(value);
  }
  for (auto& [bytes, runs] : curve) {
    for (auto& [run, value] : runs) {
      if (const double effect = stats::median(by_run.at(run)); effect > 0.0) value /= effect;
    }
  }
}

using PointsByRun = std::map<uint32_t, std::vector<LinePoint>>;

PointsByRun points_by_run(const SizeCurve& curve, const SizeCurve& measured) {
  const std::map<uint64_t, double> weights = weights_of(measured);
  PointsByRun points;
  for (const auto& [bytes, medians] : curve) {
    for (const auto& [run, value] : medians) {
      points[run].push_back({static_cast<double>(bytes), value, weights.at(bytes)});
    }
  }
  return points;
}

// The line of this slope.
RunLine line_of_slope(const std::vector<LinePoint>& points, double slope) {
  double sum = 0.0;
  double weight = 0.0;
  for (const LinePoint& p : points) {
    sum += p.weight * (p.y - slope * p.x);
    weight += p.weight;
  }
  return {sum / weight, slope};
}

double slope_through_origin(const std::vector<LinePoint>& points) {
  double xy = 0.0;
  double xx = 0.0;
  for (const LinePoint& p : points) {
    xy += p.weight * p.x * p.y;
    xx += p.weight * p.x * p.x;
  }
  return xx > 0.0 ? xy / xx : 0.0;
}

// The curve of means over runs, with the weights of the runs' points.
std::vector<LinePoint> mean_points(const PointsByRun& points) {
  std::map<double, std::pair<LinePoint, double>> sums;
  for (const auto& [run, of_run] : points) {
    for (const LinePoint& p : of_run) {
      auto& [sum, count] = sums[p.x];
      sum = {p.x, sum.y + p.y, p.weight};
      count += 1.0;
    }
  }
  std::vector<LinePoint> means;
  means.reserve(sums.size());
  for (const auto& [x, entry] : sums) {
    means.push_back({x, entry.first.y / entry.second, entry.first.weight});
  }
  return means;
}

// What the residuals of the mean curve say of the coefficients: lack of fit shows here, and not in
// the spread over runs, because all runs share it.
void judge_fit(const PointsByRun& points, RunLines& lines) {
  const std::vector<LinePoint> means = mean_points(points);
  const auto fit = fit_line(means);
  if (!fit.ok() || fit->points < 3) return;
  lines.intercept_misfit = fit->intercept_variance;
  lines.slope_misfit = fit->slope_variance;
  lines.misfit_freedom = static_cast<double>(fit->points) - 2.0;
}

RunLines constants(const PointsByRun& points) {
  RunLines lines;
  for (const auto& [run, of_run] : points) {
    lines.used[run] = line_of_slope(of_run, 0.0);
    lines.free_intercepts.push_back(lines.used[run].intercept);
  }
  return lines;
}

}  // namespace

std::map<uint64_t, double> weights_of(const SizeCurve& curve) {
  std::map<uint64_t, double> scales;
  double largest = 0.0;
  for (const auto& [bytes, medians] : curve) {
    scales[bytes] = std::abs(across_runs(medians));
    largest = std::max(largest, scales[bytes]);
  }
  RelativeCurve relative;
  for (auto& [bytes, scale] : scales) {
    scale = largest > 0.0 ? std::max(scale, kSmallestScale * largest) : 1.0;
    for (const auto& [run, value] : curve.at(bytes)) relative[bytes][run] = value / scale;
  }
  remove_run_effects(relative);
  std::map<uint64_t, double> variances;
  std::vector<double> all_variances;
  for (const auto& [bytes, runs] : relative) {
    std::vector<double> values;
    for (const auto& [run, value] : runs) values.push_back(value);
    variances[bytes] = stats::mean_and_variance(values).variance;
    all_variances.push_back(variances[bytes]);
  }
  const double typical = stats::median(all_variances);
  std::map<uint64_t, double> weights;
  for (const auto& [bytes, scale] : scales) {
    double& weight = weights[bytes];
    weight = 1.0 / (scale * scale);
    const double ratio = typical > 0.0 ? variances[bytes] / typical : 0.0;
    if (ratio < kClearlyNoisier) continue;
    const auto freedom = static_cast<double>(curve.at(bytes).size()) - 1.0;
    const auto pooled_freedom = freedom * static_cast<double>(curve.size());
    if (ratio > stats::f_quantile(kNoisierConfidence, freedom, pooled_freedom)) weight /= ratio;
  }
  return weights;
}

RunLines fit_run_lines(const SizeCurve& curve, const SizeCurve& measured, bool robust,
                       double most_slope) {
  const PointsByRun points = points_by_run(curve, measured);
  if (curve.size() == 1) return constants(points);
  RunLines lines;
  for (const auto& [run, of_run] : points) {
    const auto line = fit_line(of_run, {.huber_k = robust ? kHuber : 0.0});
    if (!line.ok()) continue;
    lines.used[run] = {line->intercept, line->slope};
    lines.free_intercepts.push_back(line->intercept);
    lines.free_slopes.push_back(line->slope);
    lines.slope_variance += line->slope_variance;
  }
  if (lines.used.empty()) return lines;
  lines.slope_variance /= static_cast<double>(lines.used.size());
  judge_fit(points, lines);
  const double slope = mean(lines.free_slopes);
  if (slope < 0.0 || slope > most_slope) {
    lines.free_intercepts.clear();
    if (slope > most_slope) lines.free_slopes.assign(lines.used.size(), most_slope);
    for (auto& [run, line] : lines.used) {
      line = line_of_slope(points.at(run), std::clamp(slope, 0.0, most_slope));
      lines.free_intercepts.push_back(line.intercept);
    }
  } else if (mean(lines.free_intercepts) < 0.0) {
    lines.free_slopes.clear();
    for (auto& [run, line] : lines.used) {
      line = {0.0, slope_through_origin(points.at(run))};
      lines.free_slopes.push_back(line.slope);
    }
  }
  return lines;
}

RunLines fit_run_lines_of_slope(const SizeCurve& curve, const SizeCurve& measured, double slope) {
  const PointsByRun points = points_by_run(curve, measured);
  RunLines lines;
  for (const auto& [run, of_run] : points) {
    lines.used[run] = line_of_slope(of_run, slope);
    lines.free_intercepts.push_back(lines.used[run].intercept);
    lines.free_slopes.push_back(slope);
  }
  const std::vector<LinePoint> means = mean_points(points);
  if (means.size() < 2) return lines;
  const double intercept = line_of_slope(means, slope).intercept;
  double squares = 0.0;
  double weight = 0.0;
  for (const LinePoint& p : means) {
    const double residual = p.y - intercept - slope * p.x;
    squares += p.weight * residual * residual;
    weight += p.weight;
  }
  lines.misfit_freedom = static_cast<double>(means.size()) - 1.0;
  lines.intercept_misfit = squares / lines.misfit_freedom / weight;
  return lines;
}

void linearize_logs(SizeCurve& curve) {
  constexpr double kLowest = 0.5;
  for (auto& [bytes, medians] : curve) {
    const double typical = across_runs(medians);
    if (!(typical > 0.0)) continue;
    for (auto& [run, value] : medians) {
      const double ratio = value / typical;
      if (ratio <= 0.0) continue;
      const double linear =
          ratio >= kLowest ? 1.0 + std::log(ratio) : ratio / kLowest * (1.0 + std::log(kLowest));
      value = typical * linear;
    }
  }
}

SizeCurve subtract(const SizeCurve& curve, const RunLines& lines) {
  if (lines.used.empty()) return curve;
  SizeCurve result;
  for (const auto& [bytes, medians] : curve) {
    for (const auto& [run, value] : medians) {
      const auto line = lines.used.find(run);
      if (line == lines.used.end()) continue;
      result[bytes][run] =
          value - line->second.intercept - line->second.slope * static_cast<double>(bytes);
    }
  }
  return result;
}

RunLines levelled(RunLines lines, const SizeCurve& inside) {
  lines.free_intercepts.clear();
  for (auto& [run, line] : lines.used) {
    double sum = 0.0;
    double sizes = 0.0;
    for (const auto& [bytes, medians] : inside) {
      const auto found = medians.find(run);
      if (found == medians.end()) continue;
      sum += found->second - line.slope * static_cast<double>(bytes);
      sizes += 1.0;
    }
    if (sizes > 0.0) line.intercept = sum / sizes;
    lines.free_intercepts.push_back(line.intercept);
  }
  return lines;
}

RunLines add(const RunLines& a, const RunLines& b) {
  RunLines sum;
  for (const auto& [run, line] : a.used) {
    const auto other = b.used.find(run);
    if (other == b.used.end()) continue;
    sum.used[run] = {line.intercept + other->second.intercept, line.slope + other->second.slope};
  }
  return sum;
}

double interpolate(const SizeCurve& curve, uint64_t bytes, std::optional<uint32_t> run) {
  const auto value = [&](const RunMedians& medians) {
    if (run) {
      if (const auto found = medians.find(*run); found != medians.end()) return found->second;
    }
    return across_runs(medians);
  };
  return linear_between(curve, bytes, value);
}

}  // namespace stripline::fit
