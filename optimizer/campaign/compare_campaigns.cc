#include "optimizer/campaign/compare_campaigns.h"

#include <algorithm>
#include <cmath>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::campaign {
namespace {

using stats::EstimateComparison;
using stats::Verdict;

std::vector<double> medians_of(const PointStatus& point) {
  std::vector<double> medians;
  for (const auto& [run, median] : point.medians) medians.push_back(median);
  return medians;
}

bool are_times(const std::vector<double>& medians) {
  return std::ranges::all_of(medians, [](double median) { return median > 0; });
}

// A null side: it does not have the point.
std::string why_not(const PointStatus* a, const PointStatus* b, const ComparisonTerms& terms) {
  if (a == nullptr) return "only the other campaign measures it";
  if (b == nullptr) return "only the baseline measures it";
  const auto other = terms.other_experiments.find(a->point.experiment);
  if (other != terms.other_experiments.end()) return other->second;
  if (a->medians.empty()) return "the baseline has no sample of it";
  if (b->medians.empty()) return "the other campaign has no sample of it";
  return "";
}

// The verdict of a ratio with its interval, before others are looked at.
Verdict verdict_of(const stats::UnpairedRatio& of, double margin) {
  if (of.equivalence.low >= 1 / (1 + margin) && of.equivalence.high <= 1 + margin) {
    return Verdict::equivalent;
  }
  const stats::Interval& interval = of.ratio.interval;
  if (interval.high < 1) return Verdict::faster;
  return interval.low > 1 ? Verdict::slower : Verdict::inconclusive;
}

stats::Estimate mean_of(const std::vector<double>& medians) {
  stats::Estimate estimate;
  estimate.value = stats::mean_and_variance(medians).mean;
  estimate.runs = medians.size();
  const auto interval = stats::mean_interval(medians, kPointConfidence);
  if (interval.ok()) estimate.interval = *interval;
  return estimate;
}

// Fills in what the runs say. Returns it for the control of false discoveries.
EstimateComparison compare_runs(const std::vector<double>& a, const std::vector<double>& b,
                                double margin, ComparedPoint& point) {
  EstimateComparison comparison;
  if (a.size() < 2 || b.size() < 2) {
    point.why = "a single run has no interval";
    return comparison;
  }
  if (!are_times(a) || !are_times(b)) {
    const stats::Estimate baseline = mean_of(a);
    const auto compared = stats::compare_estimates(mean_of(b), baseline, margin);
    if (baseline.value != 0) point.detectable = compared.detectable / std::abs(baseline.value);
    return compared;
  }
  const auto ratio = stats::unpaired_ratio(b, a, kPointConfidence);
  if (!ratio.ok()) return comparison;
  point.ratio = ratio->ratio.value;
  point.low = ratio->ratio.interval.low;
  point.high = ratio->ratio.interval.high;
  point.detectable = ratio->detectable;
  comparison.p_value = ratio->p_value;
  comparison.verdict = verdict_of(*ratio, margin);
  return comparison;
}

ComparedPoint compared(const PointStatus* a, const PointStatus* b, const ComparisonTerms& terms) {
  ComparedPoint point;
  point.point = a != nullptr ? a->point : b->point;
  const auto fill = [](const PointStatus* side, uint32_t& runs, std::optional<double>& median) {
    if (side == nullptr || side->medians.empty()) return;
    runs = static_cast<uint32_t>(side->medians.size());
    median = stats::median(medians_of(*side));
  };
  fill(a, point.a_runs, point.a_median);
  fill(b, point.b_runs, point.b_median);
  point.why = why_not(a, b, terms);
  return point;
}

bool is_measured(const PointStatus* point) { return point != nullptr && !point->medians.empty(); }

}  // namespace

std::string_view verdict_text(const ComparedPoint& point) {
  return point.verdict ? stats::to_string(*point.verdict) : "INCOMPARABLE";
}

std::vector<ComparedPoint> compare_campaigns(const PointTable& a, const PointTable& b,
                                             const ComparisonTerms& terms) {
  std::vector<ComparedPoint> points;
  std::vector<size_t> places;  // of those that are comparable
  std::vector<EstimateComparison> comparisons;
  for (const PointStatus& ours : a.points()) {
    const auto found = b.find(ours.point);
    const PointStatus* theirs = found ? &b.points()[*found] : nullptr;
    if (!is_measured(&ours) && !is_measured(theirs)) continue;
    points.push_back(compared(&ours, theirs, terms));
    if (!points.back().why.empty()) continue;
    places.push_back(points.size() - 1);
    comparisons.push_back(
        compare_runs(medians_of(ours), medians_of(*theirs), terms.margin, points.back()));
  }
  for (const PointStatus& theirs : b.points()) {
    if (is_measured(&theirs) && !a.find(theirs.point))
      points.push_back(compared(nullptr, &theirs, terms));
  }
  control_false_discoveries(comparisons, terms.false_discoveries);
  for (size_t i = 0; i < places.size(); ++i) {
    points[places[i]].verdict = comparisons[i].verdict;
    points[places[i]].p_value = comparisons[i].p_value;
  }
  return points;
}

}  // namespace stripline::campaign
