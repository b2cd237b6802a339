#include "suites/results/budgeted.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <variant>

#include "base/json.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/model/model_json.h"
#include "optimizer/plan/vis_costs.h"
#include "suites/bench/failure.h"
#include "suites/bench/progress.h"
#include "suites/bench/search.h"
#include "suites/harness/asked.h"
#include "suites/harness/table.h"
#include "suites/harness/verdicts.h"
#include "suites/kernels/candidates.h"
#include "suites/results/campaign.h"
#include "suites/results/cell_result.h"
#include "suites/results/cells.h"
#include "suites/results/fabrics.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr uint64_t kShapesSeed = 1;
constexpr uint64_t kMeasuringSeed = 5;
constexpr size_t kShapes = 36;
constexpr size_t kQuickShapes = 4;
constexpr uint32_t kShapeRuns = 6;
constexpr const char* kRowsOfStrips[] = {"tuned", "best"};

struct Judged {
  std::string network;
  std::string model;
  Ratios strips;
  Ratios shapes;
};

// A cell with the fastest plan of its search, by which others are judged.
struct Searched {
  Cell cell;
  Point best;
};

Result<std::vector<Searched>> search(const Options& options, const Network& network) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells,
                             strip_sweep(declared(network), options));
  std::vector<Searched> searched;
  bench::Progress progress;
  for (const Cell& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto candidates, search_candidates(cell.problem, cell.ranks));
    auto found = bench::find_best_plan(target_of(options, cell.network, cell.ranks, ""), candidates,
                                       options.search_budget_s, progress);
    if (const auto* failure = std::get_if<bench::Failure>(&found)) return error_of(*failure);
    searched.push_back({cell, std::get<bench::BestPlan>(std::move(found)).point});
  }
  return searched;
}

Result<Ratios> judge_strips(const Options& options, const std::vector<Searched>& cells,
                            const std::string& model, const std::filesystem::path& folder) {
  const auto parse = [](const Json& json) { return cell_result_from_json(json, kRowsOfStrips); };
  STRIPLINE_ASSIGN_OR_RETURN(KeptCells kept, KeptCells::open(folder / "strips.jsonl", parse));
  Ratios losses;
  for (const Searched& one : cells) {
    Point tuned = one.cell.problem;
    tuned.variant = "tuned";
    const auto measure = [&] {
      return measure_rows(options, one.cell, model, {{"tuned", tuned}, {"best", one.best}});
    };
    STRIPLINE_ASSIGN_OR_RETURN(const CellResult result, kept.get(one.cell.key(), measure));
    const std::vector<double>& ours = result.times.at("tuned");
    const std::vector<double>& best = result.times.at("best");
    double logs = 0;
    const size_t runs = std::min(ours.size(), best.size());
    for (size_t i = 0; i < runs; ++i) logs += std::log(ours[i] / best[i]);
    losses.add(std::exp(logs / static_cast<double>(runs)), result.problem);
  }
  return losses;
}

Result<Ratios> judge_shapes(const Options& options, const Network& network,
                            const model::TunedModel& model, const std::filesystem::path& folder) {
  const model::VisModel tuned = model.vis.empty() ? model::VisModel{} : model.vis.begin()->second;
  const plan::VisCosts costs(model.network.begin()->second, model.pack, &tuned);
  const std::vector<VisCell> cells =
      random_vis_cells(options.quick ? kQuickShapes : kShapes, kShapesSeed);
  std::vector<Point> points;
  for (const VisCell& cell : cells) {
    for (Point& point : vis_points(cell, &costs)) points.push_back(std::move(point));
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto measured, load_or_measure_runs(options, network, kMeasuringSeed, folder / "shapes",
                                                points, options.quick ? 2 : kShapeRuns));
  const VisRegret regret = vis_regret(
      cells, fit::sort_vis_samples(fit::SampleTable(measured)),
      [&](const VisCell& cell) { return plan::plan_vis(request_of_cell(cell), &costs).method; });
  Ratios losses;
  for (const CellRegret& one : regret.cells) {
    losses.add(1 + std::max(0.0, one.lost() ? one.value : 0.0),
               one.cell.text() + " (" + std::string(to_string(one.chosen)) + " instead of " +
                   std::string(to_string(one.best)) + ")");
  }
  return losses;
}

std::string at_most(double bound) {
  std::ostringstream text;
  text << "at most " << bound;
  return text.str();
}

std::string text_of(const std::vector<Judged>& models) {
  Table table({"network", "model", ">strips / best", ">worst", "worst strips", ">shapes / best",
               ">worst", "worst shape"});
  std::map<std::string, std::pair<Ratios, Ratios>> by_network;
  for (const Judged& one : models) {
    table.add({one.network, one.model, number(one.strips.mean()), number(one.strips.worst),
               one.strips.worst_name, number(one.shapes.mean()), number(one.shapes.worst),
               one.shapes.worst_name});
    auto& [strips, shapes] = by_network[one.network];
    strips.add(one.strips.mean(), one.model);
    shapes.add(one.shapes.mean(), one.model);
    shapes.worst = std::max(shapes.worst, one.shapes.worst);
  }
  Table verdicts(
      {"network", ">models", ">strips, geometric mean", at_most(asked::kBudgetedStrips.mean),
       ">worst model", at_most(asked::kBudgetedStrips.worst), ">shapes, geometric mean",
       at_most(asked::kBudgetedShapes.mean), ">worst cell", at_most(asked::kBudgetedShapes.worst)});
  for (const auto& [network, losses] : by_network) {
    const auto& [strips, shapes] = losses;
    verdicts.add({network, std::to_string(strips.count), number(strips.mean()),
                  met(strips.mean() <= asked::kBudgetedStrips.mean), number(strips.worst),
                  met(strips.worst <= asked::kBudgetedStrips.worst), number(shapes.mean()),
                  met(shapes.mean() <= asked::kBudgetedShapes.mean), number(shapes.worst),
                  met(shapes.worst <= asked::kBudgetedShapes.worst)});
  }
  return verdicts.text() + "\n" + table.text();
}

}  // namespace

std::vector<VisCell> random_vis_cells(size_t count, uint64_t seed) {
  using plan::ComputeClass;
  using plan::Direction;
  constexpr double kLeastRegion = 16;
  constexpr double kMostRegion = 16 << 10;
  constexpr double kMostRegions = 2048;  // as micro.vis
  constexpr double kMostBytes = 512 << 10;
  constexpr uint64_t kAlignment = 8;
  constexpr ComputeClass kClasses[] = {ComputeClass::communication_only, ComputeClass::light,
                                       ComputeClass::heavy};
  std::mt19937_64 random(seed);
  const auto between = [&](double least, double most) {
    return std::exp(std::uniform_real_distribution<>(std::log(least), std::log(most))(random));
  };
  // Some of those that were once chosen badly come first.
  std::vector<VisCell> cells = {{{Direction::get, 5000, 40, 2}, ComputeClass::heavy},
                                {{Direction::get, 48, 700, 2}, ComputeClass::light},
                                {{Direction::get, 64, 2000, 2}, ComputeClass::communication_only},
                                {{Direction::put, 200, 300, 2}, ComputeClass::heavy}};
  while (cells.size() < count) {
    const auto region =
        static_cast<uint64_t>(between(kLeastRegion, kMostRegion)) / kAlignment * kAlignment;
    const double most = std::min(kMostRegions, kMostBytes / static_cast<double>(region));
    const auto regions = static_cast<uint64_t>(between(2, std::max(3.0, most)));
    const Direction direction = random() % 2 == 0 ? Direction::get : Direction::put;
    cells.push_back({{direction, region, regions, 2 + random() % 2}, kClasses[random() % 3]});
  }
  cells.resize(count);
  return cells;
}

Status print_budgeted(const Options& options) {
  if (options.models.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "no model is given; name each with --model emulated:PROFILE=FILE");
  }
  std::vector<Judged> judged;
  std::map<std::string, std::vector<Searched>> searched;
  for (const auto& [fabric, file] : options.models) {
    if (!experiment::is_emulated(fabric)) {
      return Error(ErrorCode::invalid_argument, "models are judged on emulated networks, and '" +
                                                    fabric + "' is not one of them");
    }
    const Network network{.fabric = fabric, .clock = "virtual"};
    if (!searched.contains(fabric)) {
      std::fprintf(stderr, "budgeted: %s: the best strips\n", fabric.c_str());
      STRIPLINE_ASSIGN_OR_RETURN(searched[fabric], search(options, network));
    }
    std::fprintf(stderr, "budgeted: %s: %s\n", fabric.c_str(), file.c_str());
    STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, model::load_model(file));
    if (model.network.empty()) {
      return Error(ErrorCode::failed_precondition, "'" + file + "' holds no network");
    }
    const std::string name = std::filesystem::path(file).stem().stem().string();
    const std::filesystem::path folder =
        options.path("budgeted") / file_name(fabric) / file_name(file);
    std::error_code ignored;  // writing says what is wrong
    std::filesystem::create_directories(folder, ignored);
    Judged one{network.fabric, name, {}, {}};
    STRIPLINE_ASSIGN_OR_RETURN(one.strips, judge_strips(options, searched[fabric], file, folder));
    STRIPLINE_ASSIGN_OR_RETURN(one.shapes, judge_shapes(options, network, model, folder));
    judged.push_back(std::move(one));
  }
  std::printf(
      "Times of what models decide over the best ones measured, geometric means; each model is of "
      "a "
      "campaign of its own. Strips: %s. Shapes: transfers of many regions that no campaign "
      "measures, those that are not known to lose count as 1.\n\n%s",
      "loops over transfers from 1 KiB to 1 MiB, light and heavy, beside an exhaustive search",
      text_of(judged).c_str());
  return {};
}

}  // namespace stripline::suites::results
