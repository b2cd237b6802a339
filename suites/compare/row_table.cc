#include "suites/compare/row_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/bench/text_table.h"
#include "suites/results/markdown.h"

namespace stripline::suites::compare {
namespace {

using bench::interval_text;
using bench::ratio_text;
using bench::TextTable;
using bench::with_unit;

constexpr double kConfidence = 0.95;

/// A time as the row's metric: itself, or what passes per second.
double metric_of(const RowTimes& row, double seconds) {
  return row.metric == "latency" ? seconds : row.amount / seconds;
}

std::string metric_text(const RowTimes& row, double value) {
  if (row.metric == "latency") return with_unit(value, row.unit);
  const bool rate = row.metric == "rate";
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), rate ? "%.3f Mop/s" : "%.2f GB/s",
                      value / (rate ? 1e6 : 1e9));
  return text.data();
}

struct Comparison {
  double ratio = 1;
  std::string interval;
};

Result<Comparison> comparison_of(const RowTimes& row) {
  if (row.launch_ratios.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(const stats::Ratio ratio,
                               stats::paired_ratio(row.first_s, row.second_s, kConfidence));
    return Comparison{ratio.value, interval_text(ratio.interval.low, ratio.interval.high, "")};
  }
  const auto interval = stats::median_interval(row.launch_ratios, kConfidence);
  return Comparison{stats::median(row.launch_ratios),
                    interval.ok() ? interval_text(interval->low, interval->high, "") : "–"};
}

Json side_json(const RowTimes& row, const char* variant, const std::string& fabric,
               const std::vector<double>& seconds) {
  std::vector<double> values;
  for (const double value : seconds) values.push_back(metric_of(row, value));
  const auto interval = stats::median_interval(values, kConfidence);
  return {{"experiment", "compare." + row.name},
          {"variant", variant},
          {"fabric", fabric},
          {"ranks", 2},
          {"params", Json::object()},
          {"metric", row.metric},
          {"unit", row.unit},
          {"median", stats::median(values)},
          {"ci_low", interval.ok() ? Json(interval->low) : Json()},
          {"ci_high", interval.ok() ? Json(interval->high) : Json()},
          {"runs", values.size()},
          {"verified", row.verified},
          {"plan", ""}};
}

}  // namespace

Json to_json(const std::vector<RowTimes>& rows) {
  Json json = Json::array();
  for (const RowTimes& row : rows) {
    json.push_back({{"name", row.name},
                    {"metric", row.metric},
                    {"unit", row.unit},
                    {"amount", row.amount},
                    {"most", row.most},
                    {"baseline", row.baseline},
                    {"first_s", row.first_s},
                    {"second_s", row.second_s},
                    {"verified", row.verified}});
  }
  return json;
}

Result<std::vector<RowTimes>> rows_from_json(const Json& json) {
  try {
    std::vector<RowTimes> rows;
    for (const Json& row : json) {
      rows.push_back({.name = row.at("name").get<std::string>(),
                      .metric = row.at("metric").get<std::string>(),
                      .unit = row.at("unit").get<std::string>(),
                      .amount = row.at("amount").get<double>(),
                      .most = row.at("most").get<double>(),
                      .baseline = row.at("baseline").get<std::string>(),
                      .first_s = row.at("first_s").get<std::vector<double>>(),
                      .second_s = row.at("second_s").get<std::vector<double>>(),
                      .verified = row.at("verified").get<bool>(),
                      .launch_ratios = {}});
    }
    return rows;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("rows of a launch: ") + error.what());
  }
}

Result<std::vector<RowTimes>> merge_launches(const std::vector<std::vector<RowTimes>>& launches) {
  if (launches.size() == 1) return launches.front();
  std::vector<RowTimes> merged;
  for (const std::vector<RowTimes>& rows : launches) {
    if (merged.empty()) {
      merged = rows;
      for (RowTimes& row : merged) {
        row.first_s.clear();
        row.second_s.clear();
      }
    }
    const bool same = std::equal(
        rows.begin(), rows.end(), merged.begin(), merged.end(),
        [](const RowTimes& one, const RowTimes& other) { return one.name == other.name; });
    if (!same) return Error(ErrorCode::data_loss, "the launches have measured different rows");
    for (size_t i = 0; i < rows.size(); ++i) {
      STRIPLINE_ASSIGN_OR_RETURN(
          const stats::Ratio ratio,
          stats::paired_ratio(rows[i].first_s, rows[i].second_s, kConfidence));
      merged[i].launch_ratios.push_back(ratio.value);
      merged[i].first_s.push_back(stats::median(rows[i].first_s));
      merged[i].second_s.push_back(stats::median(rows[i].second_s));
      merged[i].verified = merged[i].verified && rows[i].verified;
    }
  }
  return merged;
}

Result<std::string> row_table(const std::vector<RowTimes>& rows, bool markdown) {
  const std::vector<std::string> headings = {"operation",   ">stripline",      ">baseline",
                                             "baseline is", ">ratio of times", ">95% interval",
                                             "criterion",   "verified"};
  TextTable table(headings);
  results::MarkdownTable marked(headings);
  for (const RowTimes& row : rows) {
    STRIPLINE_ASSIGN_OR_RETURN(const Comparison comparison, comparison_of(row));
    std::string criterion;
    if (row.most > 0) {
      criterion =
          "at most " + ratio_text(row.most) + ": " + results::met(comparison.ratio <= row.most);
    }
    const std::vector<std::string> cells = {
        row.name,
        metric_text(row, metric_of(row, stats::median(row.first_s))),
        metric_text(row, metric_of(row, stats::median(row.second_s))),
        row.baseline,
        ratio_text(comparison.ratio),
        comparison.interval,
        criterion,
        row.verified ? "yes" : "NO"};
    table.add(cells);
    marked.add(cells);
  }
  return markdown ? marked.text() : table.text();
}

std::string row_json_lines(const std::vector<RowTimes>& rows, const std::string& fabric) {
  std::string lines;
  for (const RowTimes& row : rows) {
    lines += side_json(row, "stripline", fabric, row.first_s).dump() + "\n";
    lines += side_json(row, row.baseline.c_str(), fabric, row.second_s).dump() + "\n";
  }
  return lines;
}

}  // namespace stripline::suites::compare
