// From the series of several runs to rows: medians over runs with intervals, ratios to a baseline
// measured in the same runs, and the JSON form that all results speak.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/stats/compare.h"
#include "optimizer/stats/summary.h"
#include "suites/bench/failure.h"
#include "suites/bench/verdict.h"

namespace stripline::suites::bench {

/// All samples of one point. Pools what a run measured of it in several rounds.
class PointSamples {
 public:
  explicit PointSamples(experiment::Point point) : point_(std::move(point)) {}

  void add(const experiment::SampleSeries& series);

  const experiment::Point& point() const { return point_; }
  /// The plan that was used: the first line of the latest note. The lines behind it explain it.
  std::string plan() const;
  std::string explanation() const;
  /// Why the point has no number: not measurable here, or a failed verification. Empty if it has.
  const std::string& problem() const { return problem_; }
  bool verification_failed() const { return verification_failed_; }
  /// Runs in ascending order.
  stats::Runs runs() const;
  /// The median of each run, by run number.
  std::map<uint32_t, double> medians() const;

 private:
  experiment::Point point_;
  std::map<uint32_t, std::vector<double>> values_;
  std::string note_;
  std::string problem_;
  bool verification_failed_ = false;
};

/// Collects series by point, in the order of `points`.
class Samples {
 public:
  explicit Samples(const std::vector<experiment::Point>& points);

  /// Series of other points are ignored.
  void add(const std::vector<experiment::SampleSeries>& series);

  const std::vector<PointSamples>& points() const { return points_; }
  const PointSamples* find(const experiment::Point& point) const;

  /// The first point that has no number: kExitVerification if its result was wrong, kExitUsage if
  /// it cannot be measured here.
  std::optional<Failure> check() const;

  /// Removes the points that cannot be measured here, of one variant or of all, but none whose
  /// result was wrong. Why, of each.
  std::vector<std::string> drop_unmeasurable(std::string_view variant = {});

 private:
  std::vector<PointSamples> points_;
  std::map<std::string, size_t> index_;
};

/// One line of output.
struct Row {
  std::string label;  ///< what the table calls it: the variant, or "best"
  experiment::Point point;
  std::string metric;
  std::string unit;
  stats::Summary summary;
  std::optional<stats::Ratio> ratio;  ///< to the baseline, over paired runs; none with one run
  bool verified = false;
  std::string plan;
  std::string explanation;
  std::optional<Verdict> without_model;  ///< of the tuned row, against the untuned one
};

/// Errors: those of PointSamples::problem.
Result<Row> make_row(const std::string& label, const experiment::Experiment& declaration,
                     const PointSamples& samples, const PointSamples* baseline);

/// What the model was worth, by the runs that have measured both. `load`, `ranks`: as of judge().
Result<Verdict> compare_without_model(const PointSamples& tuned, const PointSamples& untuned,
                                      const std::optional<HostLoad>& load, uint32_t ranks);

/// {experiment, variant, fabric, ranks, params, metric, unit, median, ci_low, ci_high, runs,
/// verified, plan}, and {row, ratio, ratio_ci_low, ratio_ci_high, without_model} where there are
/// such.
Json to_json(const Row& row, const std::string& fabric, uint32_t ranks);

}  // namespace stripline::suites::bench
