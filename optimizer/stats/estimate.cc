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

// Deviation of the difference of two.
Deviation of_both(const Deviation& a, const Deviation& b) {
  const double squared = a.error * a.error + b.error * b.error;
  if (squared == 0) return {};
  return {std::sqrt(squared), squared * squared /
                                  (std::pow(a.error, 4) / a.degrees_of_freedom +
                                   std::pow(b.error, 4) / b.degrees_of_freedom)};
}

double p_value(const Deviation& both, double difference) {
  if (difference == 0) return 1;
  return both.error == 0 ? 0 : t_two_sided_p(difference / both.error, both.degrees_of_freedom);
}

double detectable(const Deviation& both) {
  return both.error == 0 ? 0 : detectable_errors(both.degrees_of_freedom) * both.error;
}

// How much of a two-sided interval's half a one-sided bound at the same confidence takes.
double one_sided_part(const Estimate& estimate) {
  const double freedom = estimate.runs > 1 ? static_cast<double>(estimate.runs - 1) : 1;
  return t_one_sided(kConfidence, freedom) / t_two_sided(kConfidence, freedom);
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
      p_value(of_both(deviation(candidate, less ? above_of_candidate : below_of_candidate),
                      deviation(baseline, less ? below_of_baseline : above_of_baseline)),
              difference);
  comparison.detectable = std::max(detectable(of_both(deviation(candidate, below_of_candidate),
                                                      deviation(baseline, above_of_baseline))),
                                   detectable(of_both(deviation(candidate, above_of_candidate),
                                                      deviation(baseline, below_of_baseline))));
  const double allowed = margin * std::abs(baseline.value);
  const double part_of_candidate = one_sided_part(candidate);
  const double part_of_baseline = one_sided_part(baseline);
  const double low = difference - std::hypot(part_of_candidate * below_of_candidate,
                                             part_of_baseline * above_of_baseline);
  const double high = difference + std::hypot(part_of_candidate * above_of_candidate,
                                              part_of_baseline * below_of_baseline);
  const Interval& interval = comparison.difference;
  if (low >= -allowed && high <= allowed) {
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
