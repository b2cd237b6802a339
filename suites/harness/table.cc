#include "suites/harness/table.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "optimizer/stats/order.h"
#include "suites/bench/text_table.h"

namespace stripline::suites {

std::string Table::text(bool markdown) const {
  if (!markdown) {
    bench::TextTable table(headings_);
    for (const auto& row : rows_) table.add(row);
    return table.text();
  }
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

std::string bounded(double value, double low, double high) {
  return number(value) + " [" + number(low) + ", " + number(high) + "]";
}

std::string met(bool is_met) { return is_met ? "met" : "NOT MET"; }

std::string at_most(double bound, double value, int digits) {
  if (bound == 0) return {};
  return "at most " + number(bound, digits) + ": " + met(value <= bound);
}

double metric_value(const std::string& metric, double amount, double seconds) {
  return metric == "latency" ? seconds : amount / seconds;
}

std::string metric_text(const std::string& metric, double amount, double seconds) {
  const double value = metric_value(metric, amount, seconds);
  if (metric == "latency") return bench::with_unit(value, "s");
  return metric == "rate" ? number(value / 1e6, 3) + " Mop/s" : number(value / 1e9, 2) + " GB/s";
}

std::string json_line(const Measured& what, const std::vector<double>& values) {
  const auto interval = stats::median_interval(values, kConfidence);
  const Json line = {{"experiment", what.experiment},
                     {"variant", what.variant},
                     {"fabric", what.fabric},
                     {"ranks", 2},
                     {"params", what.params},
                     {"metric", what.metric},
                     {"unit", what.unit},
                     {"median", stats::median(values)},
                     {"ci_low", interval.ok() ? Json(interval->low) : Json()},
                     {"ci_high", interval.ok() ? Json(interval->high) : Json()},
                     {"runs", values.size()},
                     {"verified", what.verified},
                     {"plan", ""}};
  return line.dump() + "\n";
}

}  // namespace stripline::suites
