#include "optimizer/stats/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace stripline::stats {
namespace {

constexpr double kConfidence = 0.95;

// The standard error that one side of an interval implies. With a single run nothing is known.
struct Deviation {
  double error = 0;
  double degrees_of_freedom = 0;
};
Deviation deviation(const Estimate& estimate, double side) {
  const double freedom = estimate.runs > 1 ? static_cast<double>(estimate.runs - 1) : 1;
  return {std::max(side, 0.0) / t_two_sided(kConfidence, freedom), freedom};
}

double p_value(const Deviation& a, const Deviation& b, double difference) {
  const double squared = a.error * a.error + b.error * b.error;
  if (difference == 0) return 1;
  if (squared == 0) return 0;
  const double freedom =
      squared * squared /
      (std::pow(a.error, 4) / a.degrees_of_freedom + std::pow(b.error, 4) / b.degrees_of_freedom);
  return t_two_sided_p(difference / std::sqrt(squared), freedom);
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::equivalent:
      return "EQUIVALENT";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
  }
  return "INCONCLUSIVE";
}

EstimateComparison compare_estimates(const Estimate& candidate, const Estimate& baseline,
                                     double margin) {
  const double difference = candidate.value - baseline.value;
  // What may make the difference smaller, and what larger.
  const double below_of_candidate = candidate.value - candidate.interval.low;
  const double above_of_candidate = candidate.interval.high - candidate.value;
  const double below_of_baseline = baseline.value - baseline.interval.low;
  const double above_of_baseline = baseline.interval.high - baseline.value;
  EstimateComparison comparison;
  comparison.difference = {difference - std::hypot(below_of_candidate, above_of_baseline),
                           difference + std::hypot(above_of_candidate, below_of_baseline)};
  const bool less = difference < 0;
  comparison.p_value =
      p_value(deviation(candidate, less ? above_of_candidate : below_of_candidate),
              deviation(baseline, less ? below_of_baseline : above_of_baseline), difference);
  const double allowed = margin * std::abs(baseline.value);
  const Interval& interval = comparison.difference;
  if (interval.low >= -allowed && interval.high <= allowed) {
    comparison.verdict = Verdict::equivalent;
  } else if (interval.high < 0) {
    comparison.verdict = Verdict::faster;
  } else if (interval.low > 0) {
    comparison.verdict = Verdict::slower;
  }
  return comparison;
}

void control_false_discoveries(std::span<EstimateComparison> all, double rate) {
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return all[i].p_value; });
  std::size_t discoveries = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double bound = rate * static_cast<double>(i + 1) / static_cast<double>(order.size());
    if (all[order[i]].p_value <= bound) discoveries = i + 1;
  }
  for (std::size_t i = discoveries; i < order.size(); ++i) {
    Verdict& verdict = all[order[i]].verdict;
    if (verdict != Verdict::equivalent) verdict = Verdict::inconclusive;
  }
}

}  // namespace stripline::stats
