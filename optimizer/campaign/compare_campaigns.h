// Two campaigns beside each other, point by point: where one is surely faster, by how much, and
// where nothing can be said. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/campaign/median_table.h"
#include "optimizer/stats/estimate.h"

namespace stripline::campaign {

/// Why nothing is said of a point.
enum class Unsaid : uint8_t {
  nothing,  ///< Something is.
  only_of_b,
  only_of_a,
  other_experiment,  ///< It is not the same on both sides: ComparisonTerms.
  no_sample_of_a,
  no_sample_of_b,
  single_run,  ///< Comparable, and too few runs were made.
};

/// A point of either campaign. `a` is the baseline, `b` what is compared with it.
struct ComparedPoint {
  std::optional<uint32_t> a;  ///< Its place in the tables; nullopt: it is not in that one.
  std::optional<uint32_t> b;
  /// b against a; nullopt: they are not comparable.
  std::optional<stats::Verdict> verdict;
  Unsaid unsaid = Unsaid::nothing;
  uint32_t a_runs = 0;
  uint32_t b_runs = 0;
  std::optional<double> a_median;  ///< Over the runs, in the metric's unit.
  std::optional<double> b_median;
  /// b over a (geometric means of the runs) with its 95 % interval; nullopt where a time may be
  /// zero or less, as a difference of two times may, or a side has a single run.
  std::optional<double> ratio;
  double low = 0;
  double high = 0;
  /// By what part of `a` they would have to differ for such runs to show it in four of five cases:
  /// the smallest difference that could have been seen. nullopt where nothing can be said.
  std::optional<double> detectable;
  double p_value = 1;  ///< How likely such a difference is between equals.
};

/// "FASTER", "SLOWER", "EQUIVALENT", "INCONCLUSIVE" or "INCOMPARABLE".
std::string_view verdict_text(const ComparedPoint& point);

/// What the times of a point may differ by and be equivalent, where nothing else is said: as
/// narrow as budgeted campaigns measure them.
inline constexpr double kPointMargin = 0.05;

struct ComparisonTerms {
  double margin = kPointMargin;     ///< What two times may differ by and be equivalent.
  double false_discoveries = 0.05;  ///< Share of those said to differ, at most.
  /// Experiments that are not the same on both sides, and why.
  std::map<std::string, std::string> other_experiments;
};

/// What was compared, with what came of it.
struct Comparison {
  MedianTable a;
  MedianTable b;
  ComparisonTerms terms;
  std::vector<ComparedPoint> points;

  const std::string& experiment(const ComparedPoint& point) const;
  const std::string& variant(const ComparedPoint& point) const;
  /// As MedianTable::params_json(), of `a` if it has the point.
  std::string_view params_json(const ComparedPoint& point) const;
  /// Why they are not comparable, or that too few runs were made; else empty.
  std::string_view why(const ComparedPoint& point) const;
};

/// Each point of which either has a sample, in the order of `a` and then of what `b` has alone;
/// points of grids that neither has measured are left out. Runs of the two campaigns were made
/// apart, so that they are compared by Welch's test on the logarithms of run medians
/// (stats/compare.h), those that may be zero by the medians themselves. Equivalent: two one-sided
/// tests at 5 % have the ratio within the margin, on whichever side of 1. Of those that are called
/// faster or slower the share that differs by chance alone is at most `false_discoveries`
/// (Benjamini and Hochberg 1995).
Comparison compare_campaigns(MedianTable a, MedianTable b, ComparisonTerms terms = {});

}  // namespace stripline::campaign
