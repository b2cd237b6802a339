#include "suites/harness/table.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/table.h"
#include "optimizer/stats/order.h"

namespace stripline::suites {
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

std::string four_digits(double value) {
  const double size = std::abs(value);
  // What rounds up to the next power of ten has a digit more before the point.
  const int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
  return number(value, decimals);
}

}  // namespace

std::string Table::text(bool markdown) const {
  if (!markdown) {
    std::vector<stripline::Table::Column> columns;
    for (const std::string& heading : headings_) {
      const bool right = heading.starts_with('>');
      columns.push_back({heading.substr(right ? 1 : 0),
                         right ? stripline::Table::Align::right : stripline::Table::Align::left});
    }
    stripline::Table table(std::move(columns));
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

std::string ratio_text(double ratio) { return number(ratio, ratio >= 100 ? 1 : 3); }

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return "–";
  return formatted("%.*f", digits, value);
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
  if (metric == "latency") return with_unit(value, "s");
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
