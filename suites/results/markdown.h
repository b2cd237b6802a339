// Tables in Markdown, and numbers as they stand in them. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace stripline::suites::results {

/// A pipe table. Columns whose heading starts with '>' are aligned to the right.
class MarkdownTable {
 public:
  explicit MarkdownTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}
  /// As many cells as headings.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text() const;

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12.3 %" with `digits` digits after the point; "–" if the share is not finite.
std::string percent(double share, int digits = 1);

/// "0.987" with `digits` digits after the point; "–" if not finite.
std::string number(double value, int digits = 3);

/// "met" or "NOT MET".
std::string met(bool is_met);

}  // namespace stripline::suites::results
