#include "suites/bench/text_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace stripline::suites::bench {
namespace {

struct Scale {
  double factor;
  const char* prefix;
};

Scale scale_for(double value, std::string_view unit) {
  if (unit != "s") return {1, ""};
  const double size = std::abs(value);
  if (size == 0 || size >= 1) return {1, ""};
  if (size >= 1e-3) return {1e3, "m"};
  if (size >= 1e-6) return {1e6, "u"};
  return {1e9, "n"};
}

std::string fixed(double value, int decimals) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string four_digits(double value) {
  const double size = std::abs(value);
  // What rounds up to the next power of ten has a digit more before the point.
  const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  return fixed(value, decimals);
}

}  // namespace

std::string with_unit(double value, std::string_view unit) {
  const Scale scale = scale_for(value, unit);
  return four_digits(value * scale.factor) + " " + scale.prefix + std::string(unit);
}

std::string interval_text(double low, double high, std::string_view unit) {
  const Scale scale = scale_for(std::max(std::abs(low), std::abs(high)), unit);
  std::string text =
      "[" + four_digits(low * scale.factor) + ", " + four_digits(high * scale.factor) + "]";
  if (!unit.empty()) text += " " + std::string(scale.prefix) + std::string(unit);
  return text;
}

std::string ratio_text(double ratio) { return fixed(ratio, ratio >= 100 ? 1 : 3); }

std::string TextTable::text() const {
  std::vector<bool> right;
  std::vector<std::vector<std::string>> all{{}};
  for (const std::string& heading : headings_) {
    right.push_back(heading.starts_with('>'));
    all.front().push_back(right.back() ? heading.substr(1) : heading);
  }
  all.insert(all.end(), rows_.begin(), rows_.end());
  std::vector<size_t> widths(headings_.size(), 0);
  for (const auto& row : all) {
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : all) {
    std::string line;
    for (size_t i = 0; i < row.size() && i < widths.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      if (i > 0) line += "  ";
      line += right[i] ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace stripline::suites::bench
