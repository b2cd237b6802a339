#include "suites/results/choices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/quantity.h"
#include "optimizer/model/model_json.h"
#include "optimizer/stats/interval.h"
#include "suites/harness/asked.h"
#include "suites/harness/paired_regret.h"
#include "suites/harness/table.h"
#include "suites/results/campaign.h"

namespace stripline::suites::results {
namespace {

constexpr uint64_t kCampaignSeed = 1;
constexpr uint32_t kCampaignRuns = 6;
constexpr uint32_t kRuns = 4;
constexpr uint32_t kQuickRuns = 2;

Result<std::string> model_for(const ChoiceQuestion& question, const Options& options,
                              const Network& network) {
  if (const auto given = options.models.find(network.fabric); given != options.models.end()) {
    return given->second;
  }
  const std::filesystem::path folder = options.path(question.name) / file_name(network.path());
  const std::filesystem::path file = folder / "model.stripline.json";
  if (std::filesystem::exists(file)) return file.string();
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto series,
      load_or_measure_runs(options, network, kCampaignSeed, folder / "campaign",
                           question.campaign(network, options.quick), kCampaignRuns));
  STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
  STRIPLINE_RETURN_IF_ERROR(model::save_model(fitted.model, file));
  return file.string();
}

// What the cells of a network lose.
struct Losses {
  std::vector<double> logs;  // cells in which the choice was faster count as 0
  double worst = 0;          // of the cells that are known to lose, with its interval
  double worst_low = 0;
  std::string worst_cell;

  void add(const std::string& cell, const PairedRegret& regret) {
    logs.push_back(std::max(0.0, regret.value));
    if (regret.low > 0 && regret.value > worst) {
      worst = regret.value;
      worst_low = regret.low;
      worst_cell = cell;
    }
  }
  double mean() const {
    double sum = 0;
    for (const double log : logs) sum += log;
    return std::expm1(sum / static_cast<double>(logs.size()));
  }
  std::string verdict(double bound) const {
    if (std::expm1(worst) <= bound) return met(true);
    return std::expm1(worst_low) > bound ? met(false) : "INCONCLUSIVE";
  }
};

asked::Losses bounds_on(const std::string& network) {
  return network.starts_with("emulated:") ? asked::choices::kEmulated : asked::choices::kReal;
}

// By more than it differs from run to run.
bool is_fastest(const CellResult& cell) {
  const std::vector<double>& chosen = cell.times.at(kChosenRow);
  return std::ranges::all_of(cell.times, [&](const auto& row) {
    if (row.first == kChosenRow) return true;
    std::vector<double> logs(chosen.size());
    std::ranges::transform(chosen, row.second, logs.begin(),
                           [](double one, double other) { return std::log(one / other); });
    const auto interval = stats::mean_interval(logs, kConfidence);
    return interval.ok() && interval->high < 0;
  });
}

// A sentence about the cells with many ranks; nothing where there are none.
std::string mixed_text(const std::vector<CellResult>& cells) {
  size_t all = 0;
  size_t fastest = 0;
  for (const CellResult& cell : cells) {
    if (cell.ranks < asked::choices::kMixedRanks) continue;
    ++all;
    if (is_fastest(cell)) ++fastest;
  }
  if (all == 0) return {};
  return "\nWhat is chosen is faster than each method of the sweep, with all of the 95 % interval "
         "over runs, in " +
         std::to_string(fastest) + " of " + std::to_string(all) + " cells with " +
         std::to_string(asked::choices::kMixedRanks) + " ranks or more (criterion: at least " +
         std::to_string(asked::choices::kMixedCells) +
         "): " + met(fastest >= asked::choices::kMixedCells) + ".\n";
}

std::string mean_text(const std::vector<double>& logs) {
  double sum = 0;
  for (const double log : logs) sum += log;
  return seconds_text(std::exp(sum / static_cast<double>(logs.size())));
}

}  // namespace

Error no_such_cell(const Options& options, const std::vector<std::string>& networks) {
  std::string names;
  for (const std::string& network : networks) names += (names.empty() ? "" : ", ") + network;
  return Error(ErrorCode::invalid_argument,
               "no cell on '" + options.only + "' has '" + options.cells +
                   "' in its name, such as \"8 ranks\"; they are on " + names);
}

Result<std::string> choice_tables(const ChoiceQuestion& question,
                                  const std::vector<CellResult>& cells) {
  Table summary(
      {"network", ">cells", ">mean loss", "criterion", ">worst loss", "criterion", "worst cell"});
  Table details({"network", ">ranks", question.problems, "chosen", ">time of one",
                 "best of the sweep", ">time of one", ">loss", ">95 % interval"});
  std::map<std::string, Losses> losses;
  for (const CellResult& cell : cells) {
    std::vector<std::string> names;
    std::vector<std::vector<double>> logs;
    for (const auto& [row, times] : cell.times) {
      names.push_back(row);
      logs.emplace_back();
      for (const double time : times) logs.back().push_back(std::log(time));
    }
    const auto chosen =
        static_cast<size_t>(std::ranges::find(names, std::string(kChosenRow)) - names.begin());
    const auto regret = chosen == names.size() ? std::nullopt : paired_regret(logs, chosen);
    if (!regret) {
      return Error(ErrorCode::failed_precondition,
                   cell.key + ": fewer than two runs were measured");
    }
    const std::string name = std::to_string(cell.ranks) + " ranks, " + cell.problem;
    for (const std::string& network : {cell.fabric, std::string("all")}) {
      losses[network].add(network == "all" ? cell.fabric + ", " + name : name, *regret);
    }
    details.add({cell.fabric, std::to_string(cell.ranks), cell.problem, cell.plans.at(kChosenRow),
                 mean_text(logs[chosen]), names[regret->best], mean_text(logs[regret->best]),
                 percent(std::expm1(regret->value)),
                 percent(std::expm1(regret->low)) + " to " + percent(std::expm1(regret->high))});
  }
  for (const auto& [network, lost] : losses) {
    const asked::Losses bounds = bounds_on(network);
    summary.add({network, std::to_string(lost.logs.size()), percent(lost.mean()),
                 met(lost.mean() <= bounds.mean), percent(std::expm1(lost.worst)),
                 lost.verdict(bounds.worst), lost.worst_cell});
  }
  return summary.text() + (question.mixes ? mixed_text(cells) : "") + "\n" + details.text();
}

Status print_choices(const ChoiceQuestion& question, const Options& options,
                     const std::vector<Cell>& cells) {
  const uint32_t runs = options.quick ? kQuickRuns : kRuns;
  const auto measure = [&](const Cell& cell) -> Result<CellResult> {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string model, model_for(question, options, cell.network));
    STRIPLINE_ASSIGN_OR_RETURN(const RowPoints rows, question.rows(cell));
    return measure_rows(options, cell, model, rows, runs);
  };
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::vector<CellResult> results,
      kept_or_measured(options, question.name, cells, question.name + ".jsonl", {}, measure));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string tables, choice_tables(question, results));
  std::printf(
      "Loss: time of the method that the runtime chooses with a model of the network, over that of "
      "the best one of the sweep, less 1. The best one is chosen on every other run and compared "
      "in the runs between them, and vice versa, %u runs with fresh ranks, in which all "
      "methods take turns; cells in which the choice was faster count as 0. Means are geometric, "
      "the worst is that of the cells whose 95 %% interval over runs lies above 0. %s Criteria: at "
      "most %s on average on emulated networks and %s on others, %s at worst (INCONCLUSIVE: the "
      "interval holds it).\n\n%s",
      runs, question.explained.c_str(), percent(asked::choices::kEmulated.mean, 0).c_str(),
      percent(asked::choices::kReal.mean, 0).c_str(),
      percent(asked::choices::kReal.worst, 0).c_str(), tables.c_str());
  return {};
}

}  // namespace stripline::suites::results
