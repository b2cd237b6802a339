#include "suites/compare/row_table.h"

#include <algorithm>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/harness/table.h"

namespace stripline::suites::compare {
namespace {

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

std::string side_line(const RowTimes& row, const std::string& variant, const std::string& fabric,
                      const std::vector<double>& seconds) {
  std::vector<double> values;
  for (const double one_s : seconds) values.push_back(metric_value(row.metric, row.amount, one_s));
  return json_line({.experiment = "compare." + row.name,
                    .variant = variant,
                    .fabric = fabric,
                    .metric = row.metric,
                    .unit = row.metric == "latency" ? "s"
                            : row.metric == "rate"  ? "1/s"
                                                    : "B/s",
                    .verified = row.verified},
                   values);
}

}  // namespace

Json to_json(const std::vector<RowTimes>& rows) {
  Json json = Json::array();
  for (const RowTimes& row : rows) {
    json.push_back({{"name", row.name},
                    {"metric", row.metric},
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
                      .amount = row.at("amount").get<double>(),
                      .most = row.at("most").get<double>(),
                      .baseline = row.at("baseline").get<std::string>(),
                      .first_s = row.at("first_s").get<std::vector<double>>(),
                      .second_s = row.at("second_s").get<std::vector<double>>(),
                      .verified = row.at("verified").get<bool>()});
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
  Table table({"operation", ">stripline", ">baseline", "baseline is", ">ratio of times",
               ">95% interval", "criterion", "verified"});
  for (const RowTimes& row : rows) {
    STRIPLINE_ASSIGN_OR_RETURN(const Comparison comparison, comparison_of(row));
    table.add({row.name, metric_text(row.metric, row.amount, stats::median(row.first_s)),
               metric_text(row.metric, row.amount, stats::median(row.second_s)), row.baseline,
               ratio_text(comparison.ratio), comparison.interval,
               at_most(row.most, comparison.ratio), row.verified ? "yes" : "NO"});
  }
  return table.text(markdown);
}

std::string row_json_lines(const std::vector<RowTimes>& rows, const std::string& fabric) {
  std::string lines;
  for (const RowTimes& row : rows) {
    lines += side_line(row, "stripline", fabric, row.first_s);
    lines += side_line(row, row.baseline, fabric, row.second_s);
  }
  return lines;
}

}  // namespace stripline::suites::compare
