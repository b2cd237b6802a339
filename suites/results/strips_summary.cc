#include "suites/results/strips_summary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimizer/stats/order.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/registry.h"

namespace stripline::suites::results {
namespace {

constexpr double kLeastGain = 0.01;
constexpr double kHalf = 0.5;
constexpr double kMost = 0.9;

bool shares_interfaces(const std::string& fabric) {
  return fabric.find("power5-lapi") != std::string::npos;
}

Result<double> over_bulk(const CellResult& cell, const char* row) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto ratio,
                             stats::paired_ratio(cell.times.at(row), cell.times.at("blocking")));
  return ratio.value;
}

// The share of one cell; NaN unless the best plan surely gains 1 %, as shares of what jitter gains
// mean nothing.
Result<double> share_of(const CellResult& cell) {
  STRIPLINE_ASSIGN_OR_RETURN(const double model, over_bulk(cell, "tuned"));
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto best, stats::non_inferiority(cell.times.at("best"), cell.times.at("blocking")));
  return gain_of(best.upper) < kLeastGain ? std::nan("") : share_of_gain(model, best.ratio);
}

std::string gain_text(double ratio) { return percent(gain_of(ratio)); }

// The gain of a mean, with its bounds.
std::string bounded_gain(const stats::GeometricMean& mean) {
  return gain_text(mean.value) + " [" + percent(gain_of(mean.upper)) + ", " +
         percent(gain_of(mean.lower)) + "]";
}

std::string part_of(size_t part, size_t all) {
  return std::to_string(part) + " of " + std::to_string(all);
}

Status add_gain(const std::vector<CellResult>& applications, const std::string& kernel,
                double bound, Table& table) {
  std::vector<CellResult> of_kernel = applications;
  std::erase_if(of_kernel,
                [&](const CellResult& cell) { return !cell.problem.starts_with(kernel + ":"); });
  for (const auto& [fabric, cells] : by_fabric(of_kernel)) {
    STRIPLINE_ASSIGN_OR_RETURN(const StripSummary summary, summarize_strips(cells));
    const double gain = gain_of(summary.model_over_bulk.value);
    const bool asked = kernel != kernels::kNasIs.name || !shares_interfaces(fabric);
    table.add({kernel + " on " + fabric + ", mean over ranks: gain of the model",
               bounded_gain(summary.model_over_bulk), asked ? percent(bound, 0) : "–",
               asked ? met(gain >= bound) : "–"});
  }
  return {};
}

Result<std::string> criteria_table(const StripResults& results) {
  Table table({"criterion", ">value", ">bound", "verdict"});
  for (const auto& [fabric, cells] : by_fabric(results.sweep)) {
    STRIPLINE_ASSIGN_OR_RETURN(const StripSummary summary, summarize_strips(cells));
    const auto needed = asked::strips::kWithHalf * static_cast<double>(summary.gaining);
    table.add({"one loop, by size, on " + fabric + ": at least half of the gain",
               part_of(summary.with_half, summary.gaining), percent(asked::strips::kWithHalf, 0),
               met(static_cast<double>(summary.with_half) >= needed)});
  }
  std::vector<CellResult> all = results.kernels;
  all.insert(all.end(), results.applications.begin(), results.applications.end());
  for (const auto& [fabric, cells] : by_fabric(all)) {
    STRIPLINE_ASSIGN_OR_RETURN(const StripSummary summary, summarize_strips(cells));
    if (!std::isfinite(summary.share())) continue;
    table.add({"kernels on " + fabric + ": share of the gain", percent(summary.share(), 0),
               percent(asked::strips::kShareOfGain, 0),
               met(summary.share() >= asked::strips::kShareOfGain)});
  }
  all.insert(all.end(), results.sweep.begin(), results.sweep.end());
  for (const auto& [fabric, cells] : by_fabric(all)) {
    STRIPLINE_ASSIGN_OR_RETURN(const StripSummary summary, summarize_strips(cells));
    const std::string shared =
        shares_interfaces(fabric) ? ", where 8 ranks share an interface" : "";
    table.add({"all on " + fabric + shared + ": not slower than bulk by more than 2 % (worst: " +
                   number(summary.worst) + ", " + summary.worst_cell + ")",
               summary.against_bulk.text(), "no INFERIOR",
               met(summary.against_bulk.inferior == 0)});
  }
  STRIPLINE_RETURN_IF_ERROR(
      add_gain(results.applications, kernels::kNasFt.name, asked::strips::kGainOfFt, table));
  STRIPLINE_RETURN_IF_ERROR(
      add_gain(results.applications, kernels::kNasIs.name, asked::strips::kGainOfIs, table));
  return table.text();
}

Result<std::string> networks_table(const StripResults& results,
                                   const std::map<std::string, double>& hidden) {
  Table table({"network", ">hidden share of a get", "loops", ">cells", ">gain of the model",
               ">gain of exhaustive search", ">share", ">can surely gain 1 %",
               ">of these, half of it", ">90 % of it"});
  for (const auto& [name, cells] :
       {std::pair("one, by size", &results.sweep), std::pair("kernels", &results.kernels),
        std::pair("FT, IS", &results.applications)}) {
    for (const auto& [fabric, group] : by_fabric(*cells)) {
      STRIPLINE_ASSIGN_OR_RETURN(const StripSummary summary, summarize_strips(group));
      table.add({fabric, share_text(hidden, fabric), name, std::to_string(summary.cells),
                 bounded_gain(summary.model_over_bulk), bounded_gain(summary.best_over_bulk),
                 percent(summary.share(), 0), std::to_string(summary.gaining),
                 std::to_string(summary.with_half), std::to_string(summary.with_most)});
    }
  }
  return table.text();
}

Result<std::string> cells_table(const std::vector<CellResult>& cells) {
  Table table({"network", ">ranks", "problem", ">bulk", ">gain of HAND", ">gain of the model",
               ">gain of exhaustive search", ">share", "against bulk", "plan of the model",
               "best plan"});
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const double hand, over_bulk(cell, "hand"));
    STRIPLINE_ASSIGN_OR_RETURN(const double model, over_bulk(cell, "tuned"));
    STRIPLINE_ASSIGN_OR_RETURN(const double best, over_bulk(cell, "best"));
    STRIPLINE_ASSIGN_OR_RETURN(const double share, share_of(cell));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("blocking"), kMargin));
    table.add({cell.fabric, std::to_string(cell.ranks), cell.problem,
               with_unit(stats::median(cell.times.at("blocking")), "s"), gain_text(hand),
               gain_text(model), gain_text(best), percent(share, 0),
               stats::to_string(against.verdict), cell.plans.at("tuned"), cell.plans.at("best")});
  }
  return table.text();
}

}  // namespace

double gain_of(double ratio) { return 1 / ratio - 1; }

double share_of_gain(double model, double best) {
  return gain_of(best) < kLeastGain ? std::nan("") : gain_of(model) / gain_of(best);
}

double StripSummary::share() const {
  return share_of_gain(model_over_bulk.value, best_over_bulk.value);
}

Result<StripSummary> summarize_strips(const std::vector<CellResult>& cells) {
  StripSummary summary;
  summary.cells = cells.size();
  STRIPLINE_ASSIGN_OR_RETURN(summary.model_over_bulk, mean_ratio(cells, "tuned", "blocking"));
  STRIPLINE_ASSIGN_OR_RETURN(summary.best_over_bulk, mean_ratio(cells, "best", "blocking"));
  for (const CellResult& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const double share, share_of(cell));
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto against,
        stats::non_inferiority(cell.times.at("tuned"), cell.times.at("blocking"), kMargin));
    summary.against_bulk.add(against.verdict);
    if (against.ratio > summary.worst) {
      summary.worst = against.ratio;
      summary.worst_cell = std::to_string(cell.ranks) + " ranks, " + cell.problem;
    }
    if (!std::isfinite(share)) continue;
    ++summary.gaining;
    if (share >= kHalf) ++summary.with_half;
    if (share >= kMost) ++summary.with_most;
  }
  return summary;
}

Result<std::string> strip_tables(const StripResults& results,
                                 const std::map<std::string, double>& hidden) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string criteria, criteria_table(results));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string networks, networks_table(results, hidden));
  std::string text =
      "Bulk: vectorised blocking transfers, the baseline of Chen, section 5.5. Gains are those of "
      "speed over it (bulk / time - 1); bounds are one-sided at 95 %. The plans of the model run "
      "without a guard; exhaustive search tries strips, depths and programs by hand, and what it "
      "found is measured again.\n\n" +
      criteria + "\nBy network (geometric means over cells):\n\n" + networks;
  for (const auto& [name, cells] :
       {std::pair("FT and IS", &results.applications),
        std::pair("One loop, by size", &results.sweep), std::pair("Kernels", &results.kernels)}) {
    if (cells->empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const std::string table, cells_table(*cells));
    text += "\n" + std::string(name) + ":\n\n" + table;
  }
  return text;
}

}  // namespace stripline::suites::results
