// What launches of stripline-neighbours measured, as a table with a verdict per row. Pure.
//
// A ratio is of times, ours to a neighbour's, below 1 where we are faster. Both ran a batch in
// every round of a launch; a launch counts as one value, the median of its rounds' ratios, and the
// interval is that of their median over launches (stats::run_median_interval).
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/compare.h"

namespace stripline::suites::neighbours {

/// One line of stripline-neighbours: a row by one system in one launch.
struct Sample {
  std::string path;  ///< "network" or "node"
  std::string row;
  std::string metric;    ///< "latency", "rate" or "bandwidth"
  double amount = 1;     ///< operations or bytes of an operation
  std::string family;    ///< the library: "Stripline", "libfabric", or a neighbour
  std::string method;    ///< which of its methods, "" if it has one
  std::string settings;  ///< with which settings, "" for its own
  std::string launch;
  std::vector<double> seconds;  ///< of an operation, by round
  bool verified = false;
};

/// Errors: data_loss for a line that is none, naming its number.
Result<std::vector<Sample>> read_samples(std::istream& lines);

enum class Verdict : uint8_t {
  ahead,          ///< the whole interval is below 1
  equal,          ///< it contains 1, or comes within 2 %, and does not exceed 1.1
  undecided,      ///< it contains 1, but is wider than that
  lost,           ///< the best neighbour is faster
  lost_provider,  ///< so it is, and bare libfabric is slower than it, too, and we are within 5 % of
                  ///< that
};

/// A neighbour's method on a row.
struct Rival {
  std::string family;
  std::string method;  ///< with settings, as a table shows it
  double seconds = 0;
  stats::Ratio ratio;  ///< ours to it
};

struct Comparison {
  std::string path;
  std::string row;
  std::string metric;
  double amount = 1;
  double ours_s = 0;
  double libfabric_s = 0;  ///< 0: not measured
  std::vector<Rival> rivals;
  size_t best = 0;  ///< of `rivals`: against which we look worst
  Verdict verdict = Verdict::undecided;
  bool verified = true;  ///< every system's data, in every launch
};

/// Rows in the order of their first sample. Errors: failed_precondition if a row was measured in
/// fewer than two launches, without us, or without a neighbour.
Result<std::vector<Comparison>> compare_samples(const std::vector<Sample>& samples);

/// The rows of a path: ours, bare libfabric, each family's best method, the ratio to the best of
/// all, and the verdict. As Markdown, or as text for a terminal.
std::string comparison_table(const std::vector<Comparison>& comparisons, const std::string& path,
                             bool markdown);

}  // namespace stripline::suites::neighbours
