// Tables of results, in Markdown or as text for a terminal, numbers as they stand in them, and
// lines of JSON for other programs. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "optimizer/stats/interval.h"

namespace stripline::suites {

/// Columns whose heading starts with '>' are aligned to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : headings_(std::move(headings)) {}
  /// As many cells as headings.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// A pipe table, or else columns as wide as their widest cell.
  std::string text(bool markdown = true) const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// Four digits with the fitting prefix: "12.34 us", "1.500 ms", "0.250 ns"; other units are written
/// plainly. A parameter value or a count is not for this.
std::string with_unit(double value, std::string_view unit);

/// "[11.90, 12.60] us": both ends with the prefix of the larger. No unit: "[0.873, 0.912]".
std::string interval_text(double low, double high, std::string_view unit);

/// "0.873"
std::string ratio_text(double ratio);

/// "12.3 %" with `digits` digits after the point; "–" if the share is not finite.
std::string percent(double share, int digits = 1);

/// "0.987" with `digits` digits after the point; "–" if not finite.
std::string number(double value, int digits = 3);

/// "0.987 [0.981, 0.993]".
std::string bounded(double value, double low, double high);

/// "met" or "NOT MET".
std::string met(bool is_met);

/// "at most 1.050: met"; empty for a bound of 0, which is none.
std::string at_most(double bound, double value, int digits = 3);

/// What a time means for a row whose metric is "latency", "rate" or "bandwidth": itself, or what
/// passes in a second, of which an operation is `amount` (operations or bytes).
double metric_value(const std::string& metric, double amount, double seconds);
/// "12.34 us", "1.234 Mop/s", "1.23 GB/s".
std::string metric_text(const std::string& metric, double amount, double seconds);

/// What a line of JSON is about.
struct Measured {
  std::string experiment;
  std::string variant;
  std::string fabric;
  Json params = Json::object();
  std::string metric;
  std::string unit;
  bool verified = true;
};
/// An object as docs/cli.md has them for results, with the median of `values` and its interval, and
/// a line break.
std::string json_line(const Measured& what, const std::vector<double>& values);

/// How certain intervals of comparisons are.
inline constexpr double kConfidence = 0.95;

}  // namespace stripline::suites
