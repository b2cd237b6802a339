// Aligned text for terminals, and numbers as people write them. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stripline::suites::bench {

/// Four digits with the fitting prefix: "12.34 us", "1.500 ms", "0.250 ns"; other units are written
/// plainly. A parameter value or a count is not for this.
std::string with_unit(double value, std::string_view unit);

/// "[11.90, 12.60] us": both ends with the prefix of the larger. No unit: "[0.873, 0.912]".
std::string interval_text(double low, double high, std::string_view unit);

/// "0.873"
std::string ratio_text(double ratio);

/// Columns as wide as their widest cell, two spaces apart; numbers are not told from words, a
/// column whose heading starts with '>' is aligned to the right. No trailing spaces.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stripline::suites::bench
