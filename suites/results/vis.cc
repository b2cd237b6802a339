#include "suites/results/vis.h"

#include <array>
#include <cstdio>
#include <set>
#include <utility>
#include <vector>

#include "optimizer/plan/vis_costs.h"
#include "suites/results/campaign.h"
#include "suites/results/fabrics.h"
#include "suites/results/markdown.h"
#include "suites/results/vis_regret.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;
using experiment::SampleSeries;
using plan::VisMethod;
using plan::VisPlan;
using plan::VisRequest;

constexpr uint64_t kSeed = 2;
constexpr double kMeanBound = 0.02;
constexpr double kWorstBound = 0.15;
constexpr uint32_t kIovLimit = 4;  // as the points

// The series of a campaign that say what operations, packing, chunks and windows cost.
std::vector<SampleSeries> without_cells(std::vector<SampleSeries> series) {
  std::erase_if(series,
                [](const SampleSeries& one) { return one.point.experiment == "micro.vis"; });
  return series;
}

model::VisModel only_vis(const model::TunedModel& model) {
  return model.vis.empty() ? model::VisModel{} : model.vis.begin()->second;
}

VisRequest request_of_cell(const VisCell& cell, const model::VisModel& tuned) {
  VisRequest request =
      fit::request_of(cell.shape, cell.compute, vis_chunk_bytes(cell.shape.direction, tuned));
  request.iov_limit = kIovLimit;
  return request;
}

std::string settings_of(const std::optional<model::VisDirection>& direction) {
  if (!direction) return "–";
  const auto text = [](const auto& value) {
    return value ? std::to_string(*value) : std::string("–");
  };
  return text(direction->chunk_bytes) + " B x " + text(direction->window) + ", " +
         text(direction->pipelined_window);
}

struct Tables {
  MarkdownTable tuned{{"network", ">cells judged", ">mean regret", "criterion", ">worst regret",
                       "criterion", "worst cell", ">fastest chosen", ">uncertain",
                       "chunk x window, operations: get", "put"}};
  MarkdownTable fixed{{"network", "rule", ">mean regret", ">worst regret", ">fastest chosen"}};
};

Status judge(const Options& options, const Network& network, Tables& tables) {
  STRIPLINE_ASSIGN_OR_RETURN(auto campaign, load_or_measure(options, network));
  std::vector<SampleSeries> series = without_cells(std::move(campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit base, fit_network(network, series));
  const model::VisModel tuned = only_vis(base.model);

  const std::vector<VisCell> cells = vis_cells(options.quick);
  std::vector<Point> points;
  std::set<std::string> judged;
  for (const VisCell& cell : cells) {
    for (Point& point : vis_points(cell, tuned)) {
      if (cell.judged) judged.insert(experiment::point_key(point));
      points.push_back(std::move(point));
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto measured,
      load_or_measure_runs(options, network, kSeed, options.path("vis") / file_name(network.fabric),
                           points));
  for (const SampleSeries& one : measured) {
    if (!judged.contains(experiment::point_key(one.point))) series.push_back(one);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const fit::Fit fitted, fit_network(network, series));
  const model::VisModel vis = only_vis(fitted.model);
  const plan::VisCosts costs(fitted.model.network.begin()->second, fitted.model.pack, &vis);

  const fit::VisSamples samples = fit::sort_vis_samples(measured);
  size_t uncertain = 0;
  const VisRegret regret = vis_regret(cells, samples, [&](const VisCell& cell) {
    const VisPlan plan = plan::plan_vis(request_of_cell(cell, tuned), &costs);
    uncertain += plan.uncertain ? 1 : 0;
    return plan.method;
  });
  if (regret.cells == 0) {
    return Error(ErrorCode::failed_precondition,
                 "no transfer of many regions could be measured on " + network.fabric);
  }
  const auto share = [&](size_t count) {
    return percent(static_cast<double>(count) / static_cast<double>(regret.cells), 0);
  };
  tables.tuned.add({network.fabric, std::to_string(regret.cells), percent(regret.mean),
                    met(regret.mean <= kMeanBound), percent(regret.worst),
                    met(regret.worst <= kWorstBound), regret.worst_cell, share(regret.best),
                    share(uncertain), settings_of(tuned.get), settings_of(tuned.put)});

  const auto add_rule = [&](const char* rule,
                            const std::function<VisMethod(const VisCell&)>& choose) {
    const VisRegret of_rule = vis_regret(cells, samples, choose);
    tables.fixed.add(
        {network.fabric, rule, percent(of_rule.mean), percent(of_rule.worst), share(of_rule.best)});
  };
  add_rule("without a model", [&](const VisCell& cell) {
    return plan::plan_vis(request_of_cell(cell, tuned), nullptr).method;
  });
  const plan::VisCosts model_only(fitted.model.network.begin()->second, fitted.model.pack, nullptr);
  add_rule("cost model without residuals", [&](const VisCell& cell) {
    return plan::plan_vis(request_of_cell(cell, tuned), &model_only).method;
  });
  add_rule("always packed", [](const VisCell&) { return VisMethod::packed; });
  add_rule("always pipelined", [](const VisCell&) { return VisMethod::pipelined; });
  return {};
}

}  // namespace

Status print_vis(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> judged_on, networks(options, true));
  Tables tables;
  for (const Network& network : judged_on) {
    STRIPLINE_RETURN_IF_ERROR(judge(options, network, tables));
  }
  std::printf(
      "Regret: time of the chosen method over that of the best one measured, less 1, computation "
      "included; on cells that were not fitted (every other one of a grid of region size, data, "
      "class and direction; as many are fitted), %u runs. Criteria: at most %s on average, %s at "
      "worst.\n\n%s\nThe same cells by fixed rules:\n\n%s",
      campaign_runs(options.quick), percent(kMeanBound, 0).c_str(), percent(kWorstBound, 0).c_str(),
      tables.tuned.text().c_str(), tables.fixed.text().c_str());
  return {};
}

}  // namespace stripline::suites::results
