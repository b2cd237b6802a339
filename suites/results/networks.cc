#include "suites/results/networks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/model/model_json.h"
#include "suites/bench/progress.h"
#include "suites/bench/rows.h"
#include "suites/kernels/engine.h"
#include "suites/results/cell_result.h"
#include "suites/results/drawn_cells.h"
#include "suites/results/fabrics.h"
#include "suites/results/kept_records.h"
#include "suites/results/networks_summary.h"

namespace stripline::suites::results {
namespace {

using experiment::Point;

constexpr uint32_t kRuns = 6;
constexpr uint32_t kQuickRuns = 2;
constexpr DrawnCounts kQuickCounts{{2, 1, 2, 1, 1}};

using KeptNetworkCells = KeptRecords<NetworkCell, &NetworkCell::key>;

Network without_jitter(const Network& network) {
  Network exact = network;
  exact.fabric += ",jitter=off";
  return exact;
}

// Each network has problems of its own.
uint64_t seed_of(uint64_t seed, const std::string& network) {
  constexpr size_t kDigits = 16;
  return std::stoull(sha256_hex(std::to_string(seed) + " " + network).substr(0, kDigits), nullptr,
                     kDigits);
}

// What one launch has measured, by point.
class Measured {
 public:
  static Result<Measured> measure(const Options& options, const Network& network, uint32_t ranks,
                                  const std::string& model, uint32_t run,
                                  const std::vector<Point>& points) {
    const bench::Target target = target_of(options, network, ranks, model);
    Measured measured(points);
    STRIPLINE_ASSIGN_OR_RETURN(auto series, bench::measure_run(target, run, rule_without_host(),
                                                               in_rounds(points, target)));
    measured.samples_.add(settled(std::move(series)));
    for (const bench::PointSamples& point : measured.samples_.points()) {
      if (!point.verification_failed()) continue;
      return Error(ErrorCode::failed_precondition,
                   experiment::point_key(point.point()) + ": " + point.problem());
    }
    return measured;
  }

  // Infinity for what this network cannot do.
  double time_of(const Point& point) const {
    const bench::PointSamples* const found = samples_.find(point);
    const auto medians = found->medians();
    return medians.empty() ? std::numeric_limits<double>::infinity() : medians.begin()->second;
  }
  const bench::PointSamples& samples_of(const Point& point) const { return *samples_.find(point); }

 private:
  explicit Measured(const std::vector<Point>& points) : samples_(points) {}
  bench::Samples samples_;
};

void add_once(std::vector<Point>& points, const Point& point) {
  if (std::ranges::find(points, point) == points.end()) points.push_back(point);
}

std::string plan_of(const bench::PointSamples& samples) {
  const Point& point = samples.point();
  return samples.plan().empty() ? point.variant : point.variant + ": " + samples.plan();
}

// A cell with its points, while its network is measured.
struct Judged {
  NetworkCell cell;
  DrawnPoints points;
  Point best;
};

// True if what is chosen is what is done without a model: in virtual time without jitter, the same
// messages take exactly as long. Measured twice with jitter they would differ by chance.
bool carries_out_the_same(const NetworkCell& cell) {
  constexpr double kRounding = 1e-9;
  return std::abs(cell.exact_chosen_s / cell.exact_untuned_s - 1) < kRounding;
}

// The cells of one number of ranks.
Status measure(const Options& options, const Network& network, uint32_t ranks,
               const std::string& model, std::vector<Judged>& cells) {
  std::vector<Point> without;
  std::vector<Point> with;
  for (const Judged& one : cells) {
    for (const Point& point : one.points.sweep) add_once(without, point);
    add_once(without, one.points.untuned);
    add_once(with, one.points.chosen);
  }
  const Network exact = without_jitter(network);
  STRIPLINE_ASSIGN_OR_RETURN(const Measured sweep,
                             Measured::measure(options, exact, ranks, "", 1, without));
  STRIPLINE_ASSIGN_OR_RETURN(const Measured chosen,
                             Measured::measure(options, exact, ranks, model, 1, with));
  without.clear();
  for (Judged& one : cells) {
    one.cell.exact_chosen_s = chosen.time_of(one.points.chosen);
    one.cell.exact_untuned_s = sweep.time_of(one.points.untuned);
    one.best = one.points.untuned;
    one.cell.exact_best_s = one.cell.exact_untuned_s;
    for (const Point& point : one.points.sweep) {
      if (sweep.time_of(point) >= one.cell.exact_best_s) continue;
      one.cell.exact_best_s = sweep.time_of(point);
      one.best = point;
    }
    for (const auto& [measured, point] :
         {std::pair(&chosen, &one.points.chosen), std::pair(&sweep, &one.points.untuned)}) {
      if (measured->time_of(*point) < std::numeric_limits<double>::infinity()) continue;
      return Error(ErrorCode::failed_precondition,
                   experiment::point_key(*point) +
                       " cannot be measured: " + measured->samples_of(*point).problem());
    }
    one.cell.chosen_plan = plan_of(chosen.samples_of(one.points.chosen));
    one.cell.untuned_plan = plan_of(sweep.samples_of(one.points.untuned));
    one.cell.best_plan = plan_of(sweep.samples_of(one.best));
    one.cell.claim = claim_of(chosen.samples_of(one.points.chosen).explanation());
    add_once(without, one.points.untuned);
    add_once(without, one.best);
  }
  for (uint32_t run = 1; run <= (options.quick ? kQuickRuns : kRuns); ++run) {
    STRIPLINE_ASSIGN_OR_RETURN(const Measured plain,
                               Measured::measure(options, network, ranks, "", run, without));
    STRIPLINE_ASSIGN_OR_RETURN(const Measured tuned,
                               Measured::measure(options, network, ranks, model, run, with));
    for (Judged& one : cells) {
      one.cell.untuned_s.push_back(plain.time_of(one.points.untuned));
      one.cell.chosen_s.push_back(carries_out_the_same(one.cell)
                                      ? one.cell.untuned_s.back()
                                      : tuned.time_of(one.points.chosen));
      // What is chosen may be better than all of the sweep.
      const bool is_best = one.cell.exact_chosen_s <= one.cell.exact_best_s;
      one.cell.best_s.push_back(is_best ? one.cell.chosen_s.back() : plain.time_of(one.best));
    }
  }
  return {};
}

Status judge(const Options& options, const std::string& fabric, const std::string& file,
             KeptNetworkCells& kept, std::vector<NetworkCell>& all) {
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, model::load_model(file));
  if (model.network.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "'" + file + "' holds no network; measure " + fabric + " again");
  }
  const Network network = declared({.fabric = fabric, .clock = "virtual"});
  const std::string name = std::filesystem::path(fabric).stem().string();
  std::map<uint32_t, std::vector<Judged>> by_ranks;
  const std::vector<DrawnCell> cells =
      draw_cells(seed_of(options.seed, name), options.quick ? kQuickCounts : DrawnCounts{});
  for (const DrawnCell& cell : cells) {
    Judged one;
    one.cell.network = name;
    one.cell.kind = cell.kind;
    one.cell.problem = cell.text();
    STRIPLINE_ASSIGN_OR_RETURN(one.points, points_of(cell, model));
    by_ranks[cell.ranks].push_back(std::move(one));
  }
  for (auto& [ranks, group] : by_ranks) {
    const bool known = std::ranges::all_of(
        group, [&](const Judged& one) { return kept.find(one.cell.key()) != nullptr; });
    if (!known) {
      std::fprintf(stderr, "networks: %s: %zu cells of %u ranks\n", name.c_str(), group.size(),
                   ranks);
      STRIPLINE_RETURN_IF_ERROR(measure(options, network, ranks, file, group));
    }
    for (const Judged& one : group) {
      const auto measured = [&]() -> Result<NetworkCell> { return one.cell; };
      STRIPLINE_ASSIGN_OR_RETURN(NetworkCell cell, kept.get(one.cell.key(), measured));
      all.push_back(std::move(cell));
    }
  }
  return {};
}

}  // namespace

Status print_networks(const Options& options) {
  if (options.models.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "no model is given; name each with --model emulated:PROFILE=FILE");
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      KeptNetworkCells kept,
      KeptNetworkCells::open(options.path("networks-" + std::to_string(options.seed) + ".jsonl"),
                             network_cell_from_json));
  std::vector<NetworkCell> cells;
  for (const auto& [fabric, file] : options.models) {
    if (!experiment::is_emulated(fabric)) {
      return Error(ErrorCode::invalid_argument, "models are judged on emulated networks, and '" +
                                                    fabric + "' is not one of them");
    }
    STRIPLINE_RETURN_IF_ERROR(judge(options, fabric, file, kept, cells));
  }
  std::printf(
      "Random emulated networks, a model of one campaign each, on problems drawn by seed %llu. "
      "chosen: what programs do with the model; without a model: what they do with none; best: the "
      "fastest of a sweep over strips, windows, pieces, methods, buffers and forms by hand, or "
      "what is chosen where that is faster. The sweep is made without jitter; the three are then "
      "measured with it, %u runs each, paired. What takes exactly as long without jitter is the "
      "same plan, and is measured once.\n\n%s",
      static_cast<unsigned long long>(options.seed), options.quick ? kQuickRuns : kRuns,
      networks_tables(cells, NetworkCriteria{}).c_str());
  return {};
}

}  // namespace stripline::suites::results
