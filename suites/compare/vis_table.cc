#include "suites/compare/vis_table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/json.h"
#include "optimizer/stats/compare.h"
#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/bench/text_table.h"
#include "suites/results/markdown.h"

namespace stripline::suites::compare {
namespace {

constexpr double kConfidence = 0.95;
// By so much what was chosen may be slower than the better of loop and hand.
constexpr double kMargin = 0.05;

const std::array<const char*, 7> kWays = {"loop",         "by hand", "pipelined", "native iov",
                                          "bounding box", "packed",  "chosen"};

double bandwidth(const VisCell& cell, double seconds) {
  return static_cast<double>(cell.pieces.total()) / seconds;
}

std::string mib_text(const VisCell& cell, const char* name) {
  for (const VisWay& way : cell.ways) {
    if (way.name != name) continue;
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.1f",
                        bandwidth(cell, stats::median(way.seconds)) / (1 << 20));
    return text.data();
  }
  return "–";
}

}  // namespace

std::string VisTable::verdict() const {
  return std::to_string(met) + " of " + std::to_string(cells) +
         " transfers are not slower than the better of loop and hand by more than " +
         results::percent(kMargin, 0) + ", " + std::to_string(inconclusive) +
         " are INCONCLUSIVE, " + std::to_string(not_met()) + " are slower.";
}

Result<VisTable> vis_table(const std::vector<VisCell>& cells, bool markdown) {
  VisTable result;
  result.cells = cells.size();
  std::vector<std::string> headings = {"transfer", ">piece, B"};
  for (const char* way : kWays) headings.push_back(std::string(">") + way);
  headings.insert(headings.end(),
                  {">chosen / better of loop, hand", ">95% interval", "criterion", "verified"});
  bench::TextTable table(headings);
  results::MarkdownTable pipes(headings);
  for (const VisCell& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const stats::Ratio ratio,
                               stats::paired_ratio(cell.ways[cell.chosen].seconds,
                                                   cell.ways[cell.rival].seconds, kConfidence));
    std::vector<std::string> row = {cell.is_put ? "put" : "get", std::to_string(cell.pieces.bytes)};
    for (const char* way : kWays) row.push_back(mib_text(cell, way));
    row.push_back(bench::ratio_text(ratio.value));
    row.push_back(bench::interval_text(ratio.interval.low, ratio.interval.high, ""));
    STRIPLINE_ASSIGN_OR_RETURN(
        const stats::NonInferiorityTest test,
        stats::non_inferiority(cell.ways[cell.chosen].seconds, cell.ways[cell.rival].seconds,
                               kMargin, kConfidence));
    const bool met = test.verdict == stats::NonInferiority::non_inferior;
    const bool inconclusive = test.verdict == stats::NonInferiority::inconclusive;
    result.met += met ? 1 : 0;
    result.inconclusive += inconclusive ? 1 : 0;
    row.push_back("at most " + bench::ratio_text(1 + kMargin) + ": " +
                  (inconclusive ? "INCONCLUSIVE" : results::met(met)));
    row.emplace_back(cell.verified ? "yes" : "NO");
    table.add(row);
    pipes.add(row);
  }
  result.text = markdown ? pipes.text() : table.text();
  return result;
}

std::string vis_json_lines(const std::vector<VisCell>& cells, const std::string& fabric) {
  std::string lines;
  for (const VisCell& cell : cells) {
    for (const VisWay& way : cell.ways) {
      std::vector<double> values;
      for (const double seconds : way.seconds) values.push_back(bandwidth(cell, seconds));
      const auto interval = stats::median_interval(values, kConfidence);
      const Json line = {
          {"experiment", cell.is_put ? "compare.strided put" : "compare.strided get"},
          {"variant", way.name},
          {"fabric", fabric},
          {"ranks", 2},
          {"params",
           {{"piece_bytes", cell.pieces.bytes},
            {"stride_bytes", cell.pieces.stride},
            {"pieces", cell.pieces.count}}},
          {"metric", "bandwidth"},
          {"unit", "B/s"},
          {"median", stats::median(values)},
          {"ci_low", interval.ok() ? Json(interval->low) : Json()},
          {"ci_high", interval.ok() ? Json(interval->high) : Json()},
          {"runs", values.size()},
          {"verified", cell.verified},
          {"plan", ""}};
      lines += line.dump() + "\n";
    }
  }
  return lines;
}

}  // namespace stripline::suites::compare
