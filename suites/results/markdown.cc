#include "suites/results/markdown.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace stripline::suites::results {

std::string MarkdownTable::text() const {
  std::string head = "|";
  std::string rule = "|";
  for (const std::string& heading : headings_) {
    const bool right = heading.starts_with('>');
    head += " " + heading.substr(right ? 1 : 0) + " |";
    rule += right ? "---:|" : "---|";
  }
  std::string text = head + "\n" + rule + "\n";
  for (const auto& row : rows_) {
    text += "|";
    for (const std::string& cell : row) text += " " + cell + " |";
    text += "\n";
  }
  return text;
}

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string percent(double share, int digits) {
  if (!std::isfinite(share)) return "–";
  return number(100 * share, digits) + " %";
}

std::string met(bool is_met) { return is_met ? "met" : "NOT MET"; }

}  // namespace stripline::suites::results
