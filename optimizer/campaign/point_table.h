// What is known of each point of a campaign: its medians by run. Filled run by run, so that what is
// decided next costs no second look at samples. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

/// One point in one run.
struct PointResult {
  uint32_t place = 0;    ///< The point's, in the table.
  double median = 0;     ///< Over the repetitions, in the metric's unit.
  uint64_t samples = 0;  ///< 0: it failed verification, or cannot be measured.
  double seconds = 0;    ///< That its repetitions took.
};

/// What a series says of its point, which is at this place.
PointResult result_of(const experiment::SampleSeries& series, uint32_t place);

struct PointStatus {
  experiment::Point point;
  std::map<uint32_t, double> medians;  ///< By run.
  uint64_t samples = 0;                ///< In all runs.
  uint32_t failed = 0;                 ///< Runs that gave no sample of it.
  double seconds = 0;                  ///< That its repetitions took in the last run.

  /// Runs that have tried it.
  uint32_t runs() const { return static_cast<uint32_t>(medians.size()) + failed; }
};

/// Where the median over runs lies.
struct Estimate {
  double median = 0;
  std::optional<double> low;  ///< Ends of its interval; none with fewer than two runs.
  std::optional<double> high;

  bool operator==(const Estimate&) const = default;
};

/// Nullopt while no run has given a sample. The confidence must lie in (0, 1).
std::optional<Estimate> estimate_of(const PointStatus& point, double confidence);

/// The confidence of what is shown of points.
inline constexpr double kPointConfidence = 0.95;

class PointTable {
 public:
  PointTable() = default;
  explicit PointTable(std::vector<experiment::Point> points);

  /// Appends a point that is not in the table yet. Returns its place.
  uint32_t add(experiment::Point point);
  /// Nullopt if the point is not in the table.
  std::optional<uint32_t> find(const experiment::Point& point) const;
  std::optional<uint32_t> find(const std::string& key) const;  ///< by its point_key()
  /// What a run has said of these points, which must be in the table. Each run is added once.
  void add_run(uint32_t run, std::span<const PointResult> results);

  /// By place.
  const std::vector<PointStatus>& points() const { return points_; }

 private:
  std::vector<PointStatus> points_;
  std::unordered_map<std::string, uint32_t> places_;
};

}  // namespace stripline::campaign
