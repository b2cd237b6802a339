#include "optimizer/stats/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "optimizer/stats/order.h"

namespace stripline::stats {
namespace {

constexpr double kUsualConfidence = 0.95;
// Level of each of the two tests for equivalence.
constexpr double kOneSided = 0.95;
// In how many of all cases a detectable difference is found.
constexpr double kPower = 0.8;

// Quantiles of Student's t, of which each of hundreds of thousands of points needs three.
struct Quantiles {
  TQuantile two_sided{(1.0 + kUsualConfidence) / 2.0};
  TQuantile one_sided{kOneSided};
  TQuantile power{kPower};
};
const Quantiles& quantiles() {
  static const Quantiles all;
  return all;
}

Result<std::vector<double>> logs(std::span<const double> times, const char* what) {
  STRIPLINE_RETURN_IF_ERROR(check_finite(times, what));
  std::vector<double> result;
  result.reserve(times.size());
  for (const double time : times) {
    if (!(time > 0.0)) {
      return Error(ErrorCode::invalid_argument,
                   std::string(what) + " holds a time that is not above zero; it cannot be a cost");
    }
    result.push_back(std::log(time));
  }
  return result;
}

Status check_margin(double margin, double confidence) {
  if (margin >= 0.0 && std::isfinite(margin) && confidence > 0.5 && confidence < 1.0) return {};
  return Error(ErrorCode::invalid_argument,
               "a verdict needs a margin of zero or more and a confidence between 0.5 and 1, got " +
                   std::to_string(margin) + " and " + std::to_string(confidence));
}

}  // namespace

Result<std::vector<double>> paired_log_ratios(std::span<const double> candidate,
                                              std::span<const double> baseline) {
  if (candidate.size() != baseline.size()) {
    return Error(ErrorCode::invalid_argument, "paired ratios need as many runs on each side, got " +
                                                  std::to_string(candidate.size()) + " and " +
                                                  std::to_string(baseline.size()));
  }
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<double> result, logs(candidate, "candidate"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> base, logs(baseline, "baseline"));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= base[i];
  return result;
}

Result<Ratio> paired_ratio(std::span<const double> candidate, std::span<const double> baseline,
                           double confidence) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> ratios,
                             paired_log_ratios(candidate, baseline));
  STRIPLINE_ASSIGN_OR_RETURN(const Interval interval, mean_interval(ratios, confidence));
  return Ratio{std::exp(mean_and_variance(ratios).mean),
               {std::exp(interval.low), std::exp(interval.high)},
               ratios.size()};
}

Result<UnpairedRatio> unpaired_ratio(std::span<const double> candidate,
                                     std::span<const double> baseline, double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_confidence(confidence));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> ours, logs(candidate, "candidate"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> theirs, logs(baseline, "baseline"));
  if (ours.size() < 2 || theirs.size() < 2) {
    return Error(ErrorCode::invalid_argument,
                 "a ratio of what was measured apart needs two or more runs of each");
  }
  const Moments a = mean_and_variance(ours);
  const Moments b = mean_and_variance(theirs);
  const auto runs_a = static_cast<double>(ours.size());
  const auto runs_b = static_cast<double>(theirs.size());
  const double of_a = a.variance / runs_a;
  const double of_b = b.variance / runs_b;
  const double difference = a.mean - b.mean;
  UnpairedRatio result;
  result.ratio.value = std::exp(difference);
  result.ratio.runs = std::min(ours.size(), theirs.size());
  const double squared = of_a + of_b;
  double half = 0;
  double half_one_sided = 0;
  if (squared > 0) {
    const double freedom =
        squared * squared / (of_a * of_a / (runs_a - 1) + of_b * of_b / (runs_b - 1));
    const double error = std::sqrt(squared);
    const double usual = quantiles().two_sided.at(freedom);
    half = (confidence == kUsualConfidence ? usual : t_two_sided(confidence, freedom)) * error;
    half_one_sided = quantiles().one_sided.at(freedom) * error;
    // As detectable_errors() has it.
    result.detectable = std::expm1((usual + quantiles().power.at(freedom)) * error);
    result.p_value = t_two_sided_p(difference / error, freedom);
  } else if (difference != 0) {
    result.p_value = 0;
  }
  result.ratio.interval = {std::exp(difference - half), std::exp(difference + half)};
  result.equivalence = {std::exp(difference - half_one_sided),
                        std::exp(difference + half_one_sided)};
  return result;
}

const char* to_string(NonInferiority verdict) {
  switch (verdict) {
    case NonInferiority::non_inferior:
      return "NON_INFERIOR";
    case NonInferiority::inferior:
      return "INFERIOR";
    case NonInferiority::inconclusive:
      return "INCONCLUSIVE";
  }
  return "INCONCLUSIVE";
}

Result<NonInferiorityTest> non_inferiority(std::span<const double> candidate,
                                           std::span<const double> baseline, double margin,
                                           double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_margin(margin, confidence));
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<double> ratios,
                             paired_log_ratios(candidate, baseline));
  NonInferiorityTest test;
  if (ratios.size() < 2) {
    test.ratio = std::exp(ratios.front());
    test.upper = std::numeric_limits<double>::infinity();
    return test;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Interval interval,
                             mean_interval(ratios, 2.0 * confidence - 1.0));
  test.ratio = std::exp(mean_and_variance(ratios).mean);
  test.lower = std::exp(interval.low);
  test.upper = std::exp(interval.high);
  if (test.upper < 1.0 + margin) {
    test.verdict = NonInferiority::non_inferior;
  } else if (test.lower > 1.0 + margin) {
    test.verdict = NonInferiority::inferior;
  }
  return test;
}

Result<GeometricMean> geometric_mean(const std::vector<std::vector<double>>& cells,
                                     double confidence) {
  STRIPLINE_RETURN_IF_ERROR(check_margin(0.0, confidence));
  if (cells.empty()) {
    return Error(ErrorCode::invalid_argument, "a geometric mean over cells needs one cell or more");
  }
  double sum = 0.0;
  double variance = 0.0;
  double satterthwaite = 0.0;
  for (const std::vector<double>& cell : cells) {
    STRIPLINE_RETURN_IF_ERROR(check_finite(cell, "cell"));
    if (cell.size() < 2) {
      return Error(ErrorCode::invalid_argument,
                   "every cell needs two or more runs; measure more or leave the cell out");
    }
    const Moments moments = mean_and_variance(cell);
    const auto n = static_cast<double>(cell.size());
    const double of_mean = moments.variance / n;
    sum += moments.mean;
    variance += of_mean;
    satterthwaite += of_mean * of_mean / (n - 1.0);
  }
  const auto count = static_cast<double>(cells.size());
  const double mean = sum / count;
  double half = 0.0;
  if (satterthwaite > 0.0) {
    const double dof = variance * variance / satterthwaite;
    half = t_one_sided(confidence, dof) * std::sqrt(variance) / count;
  }
  return GeometricMean{std::exp(mean), std::exp(mean - half), std::exp(mean + half), cells.size()};
}

}  // namespace stripline::stats
