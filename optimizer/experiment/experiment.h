// Experiment declarations and sample types: plain data that suites declare, agents advertise, the
// server plans with and stores, and the fitter reads.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stripline::experiment {

/// The value of one factor at one point.
using ParamValue = std::variant<int64_t, double, std::string>;
using Params = std::map<std::string, ParamValue>;

/// A factor: an input of an experiment that a campaign may vary.
struct Factor {
  std::string name;                ///< e.g. "bytes"
  std::string unit;                ///< "B", "s", "1" (a count), or "" for a name
  std::string description;         ///< one sentence
  std::vector<ParamValue> values;  ///< the default grid, in order; never empty
  std::optional<double> minimum;   ///< smallest and largest accepted number, where it is one
  std::optional<double> maximum;
};

/// What one repetition yields.
struct Metric {
  std::string name;  ///< e.g. "time_per_operation"
  std::string unit;  ///< SI: "s", "B/s", "1"
  bool lower_is_better = true;
};

/// The numbers of ranks, of those in its range, that an experiment can divide its work among.
enum class RankCount { any, power_of_two, square };
std::string_view to_string(RankCount count);  ///< The enumerator's name.
std::optional<RankCount> rank_count_from_string(std::string_view name);
/// "any number", "a power of two", "a square".
std::string describe(RankCount count);

/// A registered experiment. Names are "micro.latency", "kernel.matvec".
struct Experiment {
  std::string name;
  int version = 1;  ///< Raised when samples are no longer comparable with older ones.
  std::string title;
  std::string description;
  std::vector<Factor> factors;
  std::vector<std::string> variants;  ///< Never empty; the first is the baseline.
  Metric metric;
  uint32_t min_ranks = 1;
  uint32_t max_ranks = 1;
  RankCount rank_count = RankCount::any;
  std::string verification;        ///< How a result is checked, in a sentence.
  std::vector<std::string> feeds;  ///< Model parameters it informs, e.g. "network.get.L".
};

/// One thing to measure: an experiment, a variant, a value for every factor.
struct Point {
  std::string experiment;
  std::string variant;
  Params params;
  bool operator==(const Point&) const = default;
};

/// A stable text key, "micro.latency/get?bytes=64": equal for equal points, and different for
/// points that differ, except that an integer and a number of the same value count as equal.
std::string point_key(const Point& point);

/// Numeric factor of a point; nullopt if absent or not a number.
std::optional<double> number_param(const Point& point, std::string_view name);
/// Text factor of a point; nullopt if absent or a number.
std::optional<std::string> text_param(const Point& point, std::string_view name);

/// Checks variant, factor names and ranges against the declaration and fills in the defaults (the
/// first grid value) of factors that are left out. Returns a message naming what is wrong and what
/// would be accepted, or nullopt.
std::optional<std::string> complete_point(const Experiment& declaration, Point& point);

/// Each of the combinations with each value of one more factor, which varies fastest. Begin with
/// one that is empty: {{}}.
std::vector<Params> crossed(const std::vector<Params>& combinations, const std::string& factor,
                            const std::vector<ParamValue>& values);

/// Appends all points of the declaration: its variants, each at every combination of the values of
/// its factors.
void append_points(const Experiment& declaration, std::vector<Point>& points);

/// When to stop repeating a point within one run, and how many runs to make (docs/measurement.md,
/// "Runs, intervals, stopping"; applied by optimizer/stats/stopping.h).
struct StopRule {
  uint32_t min_reps = 8;
  uint32_t max_reps = 200;
  uint32_t min_runs = 6;
  double confidence = 0.95;
  double relative_half_width = 0.02;  ///< (high - low) / (2 median) to reach
  double time_budget_s = 0.02;        ///< per point and run
};

enum class StopReason { converged, max_reps, time_budget, cancelled };
std::string_view to_string(StopReason reason);
std::optional<StopReason> stop_reason_from_string(std::string_view name);

/// All repetitions of one point in one run, raw and in order.
struct SampleSeries {
  Point point;
  uint32_t run = 0;                  ///< Number of the run (fresh ranks, endpoints) in a campaign.
  std::vector<double> values;        ///< In the metric's unit; warm-up is not among them.
  std::vector<double> timestamps_s;  ///< When each ended, on rank 0's fabric clock.
  uint32_t warmup_dropped = 0;
  StopReason stop_reason = StopReason::max_reps;
  bool verified = false;  ///< A false one is an error, never a number.
  std::string note;       ///< The plan used, or why verification failed.
  /// A file that measuring has made, of the first series that it belongs to: settings of another
  /// runtime, as `stripline export pack` writes them. Empty, but of kTuneExperiment.
  std::string result = {};
};

/// What a group of ranks is asked to measure in one run.
struct Assignment {
  std::string name;            ///< unique; the unit of lease and de-duplication
  uint64_t fence = 0;          ///< grows each time the assignment is given out again
  std::string fabric;          ///< "tcp", "emulated:opteron-vapi", "emulated:FILE.json"
  std::string clock = "real";  ///< "real" | "virtual"
  uint32_t ranks = 2;
  uint32_t run = 0;
  uint64_t seed = 0;       ///< shuffles the points; feeds the emulated fabric's jitter
  std::string model_json;  ///< a tuned model for the planners, or empty
  double deadline_s = 60;  ///< the whole run; exceeding it aborts the group
  StopRule stop_rule;
  std::vector<Point> points;
};

}  // namespace stripline::experiment
