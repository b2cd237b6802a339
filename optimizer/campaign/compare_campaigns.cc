#include "optimizer/campaign/compare_campaigns.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::campaign {
namespace {

using stats::EstimateComparison;
using stats::Verdict;

using Medians = std::span<const double>;

bool are_times(Medians medians) {
  return std::ranges::all_of(medians, [](double median) { return median > 0; });
}

Unsaid unsaid_of(const ComparedPoint& point, const Comparison& all) {
  if (!point.a) return Unsaid::only_of_b;
  if (!point.b) return Unsaid::only_of_a;
  if (all.terms.other_experiments.contains(all.experiment(point))) return Unsaid::other_experiment;
  if (point.a_runs == 0) return Unsaid::no_sample_of_a;
  return point.b_runs == 0 ? Unsaid::no_sample_of_b : Unsaid::nothing;
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

stats::Estimate mean_of(Medians medians) {
  stats::Estimate estimate;
  estimate.value = stats::mean_and_variance(medians).mean;
  estimate.runs = medians.size();
  const auto interval = stats::mean_interval(medians, kPointConfidence);
  if (interval.ok()) estimate.interval = *interval;
  return estimate;
}

// Fills in what the runs say. Returns it for the control of false discoveries.
EstimateComparison compare_runs(Medians a, Medians b, double margin, ComparedPoint& point) {
  EstimateComparison comparison;
  if (a.size() < 2 || b.size() < 2) {
    point.unsaid = Unsaid::single_run;
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

Medians medians_of(const MedianTable& table, const std::optional<uint32_t>& place) {
  return place ? table.medians(*place) : Medians();
}

// A point with what each side says of it alone; nullopt: neither has a sample.
std::optional<ComparedPoint> point_of(const Comparison& all, const std::optional<uint32_t>& a,
                                      const std::optional<uint32_t>& b) {
  const auto fill = [](Medians medians, uint32_t& runs, std::optional<double>& median) {
    runs = static_cast<uint32_t>(medians.size());
    if (runs > 0) median = stats::median(medians);
  };
  ComparedPoint point;
  point.a = a;
  point.b = b;
  fill(medians_of(all.a, a), point.a_runs, point.a_median);
  fill(medians_of(all.b, b), point.b_runs, point.b_median);
  if (point.a_runs + point.b_runs == 0) return std::nullopt;
  point.unsaid = unsaid_of(point, all);
  return point;
}

}  // namespace

std::string_view verdict_text(const ComparedPoint& point) {
  return point.verdict ? stats::to_string(*point.verdict) : "INCOMPARABLE";
}

const std::string& Comparison::experiment(const ComparedPoint& point) const {
  return point.a ? a.experiment(*point.a) : b.experiment(*point.b);
}

const std::string& Comparison::variant(const ComparedPoint& point) const {
  return point.a ? a.variant(*point.a) : b.variant(*point.b);
}

std::string_view Comparison::params_json(const ComparedPoint& point) const {
  return point.a ? a.params_json(*point.a) : b.params_json(*point.b);
}

std::string_view Comparison::why(const ComparedPoint& point) const {
  switch (point.unsaid) {
    case Unsaid::nothing:
      return "";
    case Unsaid::only_of_b:
      return "only the other campaign measures it";
    case Unsaid::only_of_a:
      return "only the baseline measures it";
    case Unsaid::other_experiment:
      return terms.other_experiments.at(experiment(point));
    case Unsaid::no_sample_of_a:
      return "the baseline has no sample of it";
    case Unsaid::no_sample_of_b:
      return "the other campaign has no sample of it";
    case Unsaid::single_run:
      return "a single run has no interval";
  }
  return "";
}

Comparison compare_campaigns(MedianTable a, MedianTable b, ComparisonTerms terms) {
  Comparison all{std::move(a), std::move(b), std::move(terms), {}};
  const std::vector<std::optional<uint32_t>> of_b = all.a.places_of(all.b);
  std::vector<std::optional<uint32_t>> of_a(all.a.size());
  for (uint32_t place = 0; place < of_b.size(); ++place) {
    if (of_b[place]) of_a[*of_b[place]] = place;
  }
  std::vector<size_t> places;  // of those that are comparable
  std::vector<EstimateComparison> comparisons;
  const auto is_in_a = [](const std::optional<uint32_t>& place) { return place.has_value(); };
  all.points.reserve(of_a.size() + static_cast<size_t>(std::ranges::count(of_b, false, is_in_a)));
  for (uint32_t place = 0; place < of_a.size(); ++place) {
    auto point = point_of(all, place, of_a[place]);
    if (!point) continue;
    if (point->unsaid == Unsaid::nothing) {
      places.push_back(all.points.size());
      comparisons.push_back(
          compare_runs(all.a.medians(place), all.b.medians(*point->b), all.terms.margin, *point));
    }
    all.points.push_back(*point);
  }
  for (uint32_t place = 0; place < of_b.size(); ++place) {
    if (of_b[place]) continue;
    if (const auto point = point_of(all, std::nullopt, place)) all.points.push_back(*point);
  }
  control_false_discoveries(comparisons, all.terms.false_discoveries);
  for (size_t i = 0; i < places.size(); ++i) {
    all.points[places[i]].verdict = comparisons[i].verdict;
    all.points[places[i]].p_value = comparisons[i].p_value;
  }
  return all;
}

}  // namespace stripline::campaign
