#include "suites/compare/vis_table.h"

#include <array>

#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"

namespace stripline::suites::compare {
namespace {

constexpr double kSlower = asked::kStridedMargin;

const std::array<const char*, 7> kMethods = {"loop",         "by hand", "pipelined", "native iov",
                                             "bounding box", "packed",  "chosen"};

double bandwidth(const VisCell& cell, double seconds) {
  return static_cast<double>(cell.pieces.total()) / seconds;
}

std::string mib_text(const VisCell& cell, const char* name) {
  for (const VisTimes& method : cell.methods) {
    if (method.name == name) {
      return number(bandwidth(cell, stats::median(method.seconds)) / (1 << 20), 1);
    }
  }
  return "–";
}

}  // namespace

std::string VisTable::verdict() const {
  return std::to_string(met) + " of " + std::to_string(cells) +
         " transfers are not slower than the better of loop and hand by more than " +
         percent(kSlower, 0) + ", " + std::to_string(inconclusive) + " are INCONCLUSIVE, " +
         std::to_string(not_met()) + " are slower.";
}

Result<VisTable> vis_table(const std::vector<VisCell>& cells, bool markdown) {
  VisTable result;
  result.cells = cells.size();
  std::vector<std::string> headings = {"transfer", ">piece, B"};
  for (const char* method : kMethods) headings.push_back(std::string(">") + method);
  headings.insert(headings.end(),
                  {">chosen / better of loop, hand", ">95% interval", "criterion", "verified"});
  Table table(headings);
  for (const VisCell& cell : cells) {
    const std::vector<double>& chosen = cell.methods[cell.chosen].seconds;
    const std::vector<double>& rival = cell.methods[cell.rival].seconds;
    STRIPLINE_ASSIGN_OR_RETURN(const stats::Ratio ratio,
                               stats::paired_ratio(chosen, rival, kConfidence));
    std::vector<std::string> row = {cell.is_put ? "put" : "get", std::to_string(cell.pieces.bytes)};
    for (const char* method : kMethods) row.push_back(mib_text(cell, method));
    row.push_back(ratio_text(ratio.value));
    row.push_back(interval_text(ratio.interval.low, ratio.interval.high, ""));
    STRIPLINE_ASSIGN_OR_RETURN(const stats::NonInferiorityTest test,
                               stats::non_inferiority(chosen, rival, kSlower, kConfidence));
    const bool met = test.verdict == stats::NonInferiority::non_inferior;
    const bool inconclusive = test.verdict == stats::NonInferiority::inconclusive;
    result.met += met ? 1 : 0;
    result.inconclusive += inconclusive ? 1 : 0;
    row.push_back("at most " + ratio_text(1 + kSlower) + ": " +
                  (inconclusive ? "INCONCLUSIVE" : suites::met(met)));
    row.emplace_back(cell.verified ? "yes" : "NO");
    table.add(row);
  }
  result.text = table.text(markdown);
  return result;
}

std::string vis_json_lines(const std::vector<VisCell>& cells, const std::string& fabric) {
  std::string lines;
  for (const VisCell& cell : cells) {
    for (const VisTimes& method : cell.methods) {
      std::vector<double> values;
      for (const double seconds : method.seconds) values.push_back(bandwidth(cell, seconds));
      lines +=
          json_line({.experiment = std::string("compare.strided ") + (cell.is_put ? "put" : "get"),
                     .variant = method.name,
                     .fabric = fabric,
                     .params = {{"piece_bytes", cell.pieces.bytes},
                                {"stride_bytes", cell.pieces.stride},
                                {"pieces", cell.pieces.count}},
                     .metric = "bandwidth",
                     .unit = "B/s",
                     .verified = cell.verified},
                    values);
    }
  }
  return lines;
}

}  // namespace stripline::suites::compare
