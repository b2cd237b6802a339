#include "suites/results/update_choices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "base/quantity.h"
#include "optimizer/experiment/json.h"
#include "optimizer/model/model_json.h"
#include "suites/registry.h"
#include "suites/results/campaign.h"
#include "suites/results/markdown.h"
#include "suites/results/paired_regret.h"

namespace stripline::suites::results {
namespace {

using experiment::Params;
using experiment::Point;

constexpr uint64_t kCampaignSeed = 1;
constexpr uint32_t kCampaignRuns = 6;
constexpr uint32_t kRuns = 4;
constexpr uint32_t kQuickRuns = 2;
constexpr double kMeanBound = 0.05;
constexpr double kWorstBound = 0.15;
constexpr const char* kVariant = "tuned";

const std::vector<std::string> kProviders = {"shm"};
const std::vector<std::string> kFabrics = {"tcp", "shm", "emulated:cloud-ethernet",
                                           "emulated:modern-rdma", "emulated:opteron-vapi"};

// Messages, and operations of the network, take microseconds each; locks four round trips.
constexpr int64_t kFewUpdates = 100;
constexpr int64_t kMostSingly = 1000;

Point histogram(const char* keys, int64_t updates, const char* mode) {
  return {kernels::kHistogram.name,
          kVariant,
          {{"keys", std::string(keys)}, {"updates", updates}, {"mode", std::string(mode)}}};
}

Point uniform_histogram(int64_t bins, int64_t updates) {
  Point point = histogram("uniform", updates, "accumulate");
  point.params["bins_per_rank"] = bins;
  return point;
}

Point random_access(int64_t log2_cells, int64_t updates, const char* mode) {
  return {kernels::kGups.name,
          kVariant,
          {{"log2_cells", log2_cells},
           {"updates", updates},
           {"look_ahead", int64_t{0}},
           {"mode", std::string(mode)}}};
}

Point triangles(int64_t vertices, int64_t edges) {
  return {
      kernels::kTriangleCount.name,
      kVariant,
      {{"vertices", vertices}, {"edges_per_vertex", edges}, {"mode", std::string("accumulate")}}};
}

std::vector<Point> problems(uint32_t ranks) {
  std::vector<Point> all = {uniform_histogram(1000, 16384),
                            histogram("out_degree", 4096, "accumulate"),
                            random_access(20, 4096, "log")};
  if (ranks > 8) return all;
  all.push_back(uniform_histogram(1000, kFewUpdates));
  all.push_back(histogram("language", 16384, "log"));
  if (ranks > 2) return all;
  all.push_back(triangles(1024, 16));
  all.push_back(random_access(12, kFewUpdates, "log"));
  return all;
}

std::vector<Point> problems_of_real_networks() {
  std::vector<Point> all = problems(2);
  all.push_back(uniform_histogram(int64_t{1} << 18, 65536));
  all.push_back(histogram("sorting", 65536, "accumulate"));
  all.push_back(random_access(20, kMostSingly, "accumulate"));
  return all;
}

int64_t updates_of(const Point& point) {
  return static_cast<int64_t>(experiment::number_param(point, "updates").value_or(1e9));
}

// The points that decisions on updates rest on.
std::vector<Point> update_campaign_points(const Network& network, bool quick) {
  std::vector<Point> points = vis_campaign_points(network, quick);
  std::erase_if(points, [](const Point& point) {
    return point.experiment != micro::kLatency && point.experiment != micro::kIssue &&
           point.experiment != micro::kFlood;
  });
  for (Point& point : campaign_points(network, quick)) {
    if (point.experiment == micro::kUpdateItem || point.experiment == micro::kAtomic) {
      points.push_back(std::move(point));
    }
  }
  return points;
}

Result<std::string> update_model(const Options& options, const Network& network) {
  if (const auto given = options.models.find(network.fabric); given != options.models.end()) {
    return given->second;
  }
  const std::filesystem::path folder = options.path("updates") / file_name(network.fabric);
  const std::filesystem::path file = folder / "model.stripline.json";
  if (std::filesystem::exists(file)) return file.string();
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto series,
      load_or_measure_runs(options, network, kCampaignSeed, folder / "campaign",
                           update_campaign_points(network, options.quick), kCampaignRuns));
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
  std::string verdict() const {
    if (std::expm1(worst) <= kWorstBound) return met(true);
    return std::expm1(worst_low) > kWorstBound ? met(false) : "INCONCLUSIVE";
  }
};

std::string mean_text(const std::vector<double>& logs) {
  double sum = 0;
  for (const double log : logs) sum += log;
  return seconds_text(std::exp(sum / static_cast<double>(logs.size())));
}

}  // namespace

Result<std::vector<Cell>> update_cells(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Network> all, networks(options, true, kProviders));
  std::vector<Cell> cells;
  for (const Network& network : all) {
    if (std::ranges::find(kFabrics, network.fabric) == kFabrics.end()) continue;
    const std::vector<uint32_t> ranks = network.emulated() && !options.quick
                                            ? std::vector<uint32_t>{2, 8, 64}
                                            : std::vector<uint32_t>{2};
    for (const uint32_t count : ranks) {
      // More ranks than processors would be measured beside each other's caches.
      const Network judged = count > 2 ? declared(network) : network;
      for (const Point& problem :
           network.emulated() ? problems(count) : problems_of_real_networks()) {
        Cell cell{judged, count, problem};
        if (cell.key().find(options.cells) != std::string::npos) cells.push_back(std::move(cell));
      }
    }
  }
  if (options.quick && cells.size() > 2) cells.resize(2);
  if (!cells.empty()) return cells;
  std::string names;
  for (const std::string& fabric : kFabrics) names += (names.empty() ? "" : ", ") + fabric;
  return Error(ErrorCode::invalid_argument,
               "no cell on '" + options.only + "' has '" + options.cells +
                   "' in its name, such as \"8 ranks\" or \"keys=uniform\"; they are on " + names);
}

Result<RowPoints> update_rows(const Cell& cell) {
  const experiment::Experiment& declaration = find_benchmark(cell.problem.experiment)->declaration;
  RowPoints rows;
  const auto add = [&](const std::string& row, const char* method, int64_t buffer_bytes,
                       bool merges = true) {
    Point point = cell.problem;
    point.params["method"] = std::string(method);
    point.params["buffer_bytes"] = buffer_bytes;
    if (!merges) point.params["mode"] = std::string("log");
    rows.emplace_back(row, std::move(point));
  };
  add(kChosenRow, "automatic", 0);
  const bool may_merge = experiment::text_param(cell.problem, "mode") == "accumulate";
  for (const int64_t kib : {1, 4, 16, 64}) {
    const std::string size = std::to_string(kib) + " KiB";
    add("buffers of " + size, "buffers", kib << 10);
    if (may_merge && kib >= 16) add("unmerged, " + size, "buffers", kib << 10, false);
  }
  const int64_t updates = updates_of(cell.problem);
  if (may_merge && updates <= kMostSingly) {
    add("messages", "messages", 0);
    add("provider", "provider", 0);
  }
  if (updates <= kFewUpdates) {
    add("owner locks", "owner_locks", 0);
    add("cell locks", "cell_locks", 0);
  }
  for (auto& [row, point] : rows) {
    if (const auto refused = experiment::complete_point(declaration, point)) {
      return Error(ErrorCode::internal, cell.key() + ", " + row + ": " + *refused);
    }
  }
  return rows;
}

Result<std::string> update_tables(const std::vector<CellResult>& cells) {
  MarkdownTable summary(
      {"network", ">cells", ">mean loss", "criterion", ">worst loss", "criterion", "worst cell"});
  MarkdownTable details({"network", ">ranks", "updates", "chosen", ">time of one",
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
    summary.add({network, std::to_string(lost.logs.size()), percent(lost.mean()),
                 met(lost.mean() <= kMeanBound), percent(std::expm1(lost.worst)), lost.verdict(),
                 lost.worst_cell});
  }
  return summary.text() + "\n" + details.text();
}

Status print_update_choices(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Cell> cells, update_cells(options));
  const auto parse = [](const Json& json) { return cell_result_from_json(json, {}); };
  STRIPLINE_ASSIGN_OR_RETURN(KeptCells kept, KeptCells::open(options.path("updates.jsonl"), parse));
  const uint32_t runs = options.quick ? kQuickRuns : kRuns;
  std::vector<CellResult> results;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto measure = [&]() -> Result<CellResult> {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string model, update_model(options, cells[i].network));
      std::fprintf(stderr, "updates: cell %zu of %zu: %s\n", i + 1, cells.size(),
                   cells[i].key().c_str());
      STRIPLINE_ASSIGN_OR_RETURN(const RowPoints rows, update_rows(cells[i]));
      return measure_rows(options, cells[i], model, rows, runs);
    };
    STRIPLINE_ASSIGN_OR_RETURN(CellResult result, kept.get(cells[i].key(), measure));
    results.push_back(std::move(result));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string tables, update_tables(results));
  std::printf(
      "Loss: time of the way that the runtime chooses with a model of the network, over that of "
      "the best one of the sweep, less 1. The best one is chosen on every other run and compared "
      "in the runs between them, and the other way round, %u runs with fresh ranks, in which all "
      "ways "
      "take turns; cells in which the choice was faster count as 0. Means are geometric, the worst "
      "is that of the cells whose 95 %% interval over runs lies above 0. The sweep: buffers of 1, "
      "4, 16 and 64 KiB, those of 16 and 64 KiB also without merging; messages and operations of "
      "the network for at most %lld updates a rank, locks for at most %lld. Criteria: at most %s "
      "on average, %s at worst (INCONCLUSIVE: the interval holds it).\n\n%s",
      runs, static_cast<long long>(kMostSingly), static_cast<long long>(kFewUpdates),
      percent(kMeanBound, 0).c_str(), percent(kWorstBound, 0).c_str(), tables.c_str());
  return {};
}

}  // namespace stripline::suites::results
