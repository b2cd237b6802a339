#include "suites/results/vis.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/json.h"
#include "optimizer/model/model_json.h"
#include "optimizer/plan/vis_costs.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/results/campaign.h"
#include "suites/results/fabrics.h"
#include "suites/results/vis_regret.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
using plan::VisMethod;

constexpr uint64_t kCampaignSeed = 1;
constexpr uint64_t kJudgedSeed = 2;
constexpr uint64_t kConfirmedSeed = 3;
constexpr uint32_t kRuns = 8;  // as a budgeted campaign
constexpr uint32_t kConfirmingRuns = 24;

uint32_t runs_of(const Options& options) { return options.quick ? campaign_runs(true) : kRuns; }

uint32_t confirming_runs_of(const Options& options) {
  return options.quick ? campaign_runs(true) : kConfirmingRuns;
}

model::VisModel only_vis(const model::TunedModel& model) {
  return model.vis.empty() ? model::VisModel{} : model.vis.begin()->second;
}

std::string settings_of(const std::optional<model::VisDirection>& direction) {
  if (!direction) return "–";
  const auto text = [](const auto& value) {
    return value ? std::to_string(*value) : std::string("–");
  };
  return text(direction->chunk_bytes) + " B x " + text(direction->window) + ", " +
         text(direction->pipelined_window);
}

std::string worst_text(const VisRegret& regret) {
  if (regret.worst_cell.empty()) return percent(0);
  return percent(regret.worst) + " [" + percent(regret.worst_low) + ", " +
         percent(regret.worst_high) + "]";
}

std::string worst_verdict(const VisRegret& regret) {
  if (regret.worst <= asked::kVis.worst) return met(true);
  return regret.worst_low > asked::kVis.worst ? met(false) : "INCONCLUSIVE";
}

struct Tables {
  Table tuned{{"network", ">cells judged", ">mean regret", "criterion", ">worst regret",
               "criterion", "worst cell", ">measured again", ">not known to lose", ">uncertain",
               "chunk x window, operations: get", "put"}};
  Table fixed{{"network", "rule", ">mean regret", ">worst regret", ">not known to lose"}};
};

// A line for each cell: the choice, the best one, what is lost, and of each method the time that
// was measured and that the planner expected.
Status write_cells(const std::filesystem::path& file, const VisRegret& regret,
                   const fit::VisSamples& samples, const plan::VisCosts& costs) {
  std::ofstream out(file);
  for (const CellRegret& one : regret.cells) {
    plan::VisRecord record;
    (void)plan::plan_vis(request_of_cell(one.cell), &costs, record);
    std::array<plan::VisAlternative, plan::kVisMethods> expected{};
    for (const auto& [alternative, predicted_s] : record.alternatives) {
      expected[static_cast<size_t>(alternative.candidate.method)] = alternative;
    }
    Json line = {{"cell", one.cell.text()},
                 {"chosen", to_string(one.chosen)},
                 {"best", to_string(one.best)},
                 {"regret", one.value},
                 {"low", one.low},
                 {"high", one.high}};
    const fit::VisTimes& times =
        samples.cells[static_cast<size_t>(one.cell.compute)].at(one.cell.shape);
    if (!times.compute.empty()) line["compute_s"] = fit::across_runs(times.compute);
    for (size_t m = 0; m < plan::kVisMethods; ++m) {
      if (times.methods[m].empty()) continue;
      line["methods"][std::string(to_string(static_cast<VisMethod>(m)))] = {
          {"measured_s", fit::across_runs(times.methods[m].begin()->second)},
          {"expected_s", expected[m].predicted_s()},
          {"residual", expected[m].residual}};
    }
    out << line.dump() << "\n";
  }
  if (out.flush()) return {};
  return Error(ErrorCode::unavailable, "cannot write '" + file.string() + "'");
}

Status judge(const Options& options, const Network& network, Tables& tables) {
  const std::filesystem::path folder = options.path("vis") / file_name(network.fabric);
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto series,
      load_or_measure_runs(options, network, kCampaignSeed, folder / "campaign",
                           vis_campaign_points(network, options.quick), runs_of(options)));
  STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
  const model::VisModel tuned = only_vis(fitted.model);
  const plan::VisCosts costs(fitted.model.network.begin()->second, fitted.model.pack, &tuned);
  STRIPLINE_RETURN_IF_ERROR(model::save_model(fitted.model, folder / "model.stripline.json"));

  const auto measure = [&](const std::vector<VisCell>& cells, uint64_t seed, const char* name,
                           uint32_t runs) -> Result<fit::VisSamples> {
    std::vector<Point> points;
    for (const VisCell& cell : cells) {
      for (Point& point : vis_points(cell, &costs)) points.push_back(std::move(point));
    }
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto measured,
        load_or_measure_runs(options, network, seed, folder / name, points, runs));
    return fit::sort_vis_samples(fit::SampleTable(measured));
  };
  const auto plan_of = [&](const VisCell& cell) {
    return plan::plan_vis(request_of_cell(cell), &costs);
  };
  const auto chosen = [&](const VisCell& cell) { return plan_of(cell).method; };
  const std::vector<VisCell> cells = vis_cells(options.quick);
  STRIPLINE_ASSIGN_OR_RETURN(const fit::VisSamples samples,
                             measure(cells, kJudgedSeed, "judged", runs_of(options)));
  VisRegret regret = vis_regret(cells, samples, chosen);
  const std::vector<VisCell> doubtful = suspects(regret, asked::kVis.worst);
  if (!doubtful.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(
        const fit::VisSamples again,
        measure(doubtful, kConfirmedSeed, "confirmed", confirming_runs_of(options)));
    regret = confirmed(regret, vis_regret(doubtful, again, chosen));
  }
  const auto uncertain = static_cast<size_t>(
      std::count_if(regret.cells.begin(), regret.cells.end(),
                    [&](const CellRegret& one) { return plan_of(one.cell).uncertain; }));
  if (regret.cells.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "no transfer of many regions could be measured on " + network.fabric);
  }
  STRIPLINE_RETURN_IF_ERROR(write_cells(folder / "cells.jsonl", regret, samples, costs));
  const auto share = [&](size_t count) {
    return percent(static_cast<double>(count) / static_cast<double>(regret.cells.size()), 0);
  };
  tables.tuned.add({network.fabric, std::to_string(regret.cells.size()), percent(regret.mean),
                    met(regret.mean <= asked::kVis.mean), worst_text(regret), worst_verdict(regret),
                    regret.worst_cell, std::to_string(doubtful.size()), share(regret.best),
                    share(uncertain), settings_of(tuned.get), settings_of(tuned.put)});

  const auto add_rule = [&](const char* rule,
                            const std::function<VisMethod(const VisCell&)>& choose) {
    const VisRegret of_rule = vis_regret(cells, samples, choose);
    tables.fixed.add(
        {network.fabric, rule, percent(of_rule.mean), percent(of_rule.worst), share(of_rule.best)});
  };
  add_rule("without a model", [&](const VisCell& cell) {
    return plan::plan_vis(request_of_cell(cell), nullptr).method;
  });
  const plan::VisCosts model_only(fitted.model.network.begin()->second, fitted.model.pack, nullptr);
  add_rule("cost model without residuals", [&](const VisCell& cell) {
    return plan::plan_vis(request_of_cell(cell), &model_only).method;
  });
  add_rule("always packed", [](const VisCell&) { return VisMethod::packed; });
  add_rule("always pipelined", [](const VisCell&) { return VisMethod::pipelined; });
  return {};
}

}  // namespace

Status print_vis(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> judged_on,
                             networks(options, true, {"net", "shm"}));
  Tables tables;
  for (const Network& network : judged_on) {
    STRIPLINE_RETURN_IF_ERROR(judge(options, network, tables));
  }
  std::printf(
      "Regret: time of the chosen method over that of the best one, less 1, computation included; "
      "on cells whose sizes of regions and of data no campaign measures. The best one is chosen on "
      "every other run and compared in the runs between them, and vice versa, %u runs; "
      "cells in which the choice was faster count as 0, and the worst is that of the cells whose "
      "95 %% interval over runs, in brackets, lies above 0. Criteria: at most %s on average, %s at "
      "worst (INCONCLUSIVE: the interval holds it). Cells whose interval reaches beyond %s are "
      "measured again in %u other runs, which then count in place of the first: the worst of many "
      "cells is in part the one with the worst luck.\n\n%s\nThe same cells by fixed rules, in the "
      "first runs:\n\n%s",
      runs_of(options), percent(asked::kVis.mean, 0).c_str(), percent(asked::kVis.worst, 0).c_str(),
      percent(asked::kVis.worst, 0).c_str(), confirming_runs_of(options),
      tables.tuned.text().c_str(), tables.fixed.text().c_str());
  return {};
}

}  // namespace stripline::suites::results
