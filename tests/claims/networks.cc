#include "tests/claims/networks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numbers>
#include <string>
#include <utility>

#include "optimizer/campaign/next_run.h"
#include "optimizer/fit/fit_model.h"

namespace stripline::claims {
namespace {

constexpr uint32_t kEnoughRuns = 6;
constexpr double kStartS = 1;
constexpr uint32_t kReps = 8;

fit::TrueOperation operation_of(const char* name, Draw& draw, double L, double G, double o,
                                const std::vector<uint64_t>& switches,
                                const std::vector<double>& steps_s, double queue) {
  fit::TrueOperation operation;
  operation.name = name;
  operation.queue_depth = queue;
  double latency = L * draw.between(0.95, 1.15);
  double per_byte = G * draw.between(0.95, 1.1);
  const double issue = o * draw.between(0.7, 1.3);
  const double copy = draw.one_in(2) ? 0 : per_byte * draw.scaled(0.01, 0.3);
  const double retire = issue * draw.scaled(0.1, 1);
  const double retire_copy = draw.one_in(2) ? 0 : per_byte * draw.scaled(0.01, 0.2);
  const double g = issue * draw.scaled(0.05, 2);
  for (size_t i = 0; i <= switches.size(); ++i) {
    fit::TrueSegment s;
    s.from_bytes = i == 0 ? 0 : switches[i - 1];
    if (i > 0) {
      latency += steps_s[i - 1] / 2;
      per_byte *= draw.between(0.75, 1);
    }
    s.o_base = issue;
    s.o_per_byte = copy;
    s.L = latency;
    s.g = g;
    s.G = per_byte;
    s.r_base = retire;
    s.r_per_byte = retire_copy;
    operation.segments.push_back(s);
  }
  return operation;
}

model::Parameter exactly(double value) {
  model::Parameter parameter;
  parameter.value = parameter.ci_low = parameter.ci_high = value;
  parameter.runs = 1;
  parameter.samples = 1;
  parameter.method = "known";
  return parameter;
}

model::OperationModel exact_operation(const fit::TrueOperation& truth) {
  model::OperationModel operation;
  for (size_t i = 0; i < truth.segments.size(); ++i) {
    const fit::TrueSegment& t = truth.segments[i];
    model::Segment s;
    s.from_bytes = t.from_bytes;
    s.to_bytes =
        i + 1 < truth.segments.size() ? truth.segments[i + 1].from_bytes : uint64_t{1} << 40;
    s.o_base_s = exactly(t.o_base);
    s.o_per_byte_s = exactly(t.o_per_byte);
    s.L_s = exactly(t.L);
    s.g_s = exactly(t.g);
    s.G_s_per_byte = exactly(t.G);
    s.r_base_s = exactly(t.r_base);
    s.r_per_byte_s = exactly(t.r_per_byte);
    operation.segments.push_back(s);
  }
  operation.queue_depth = exactly(truth.queue_depth);
  return operation;
}

// As the server thins them (server/core/campaigns/campaign_planner.cc), one within the other.
fit::NestedPoints plan_of(const std::vector<fit::TrueOperation>& machine, bool virtual_clock) {
  fit::SyntheticCampaign declared = fit::full_campaign();
  declared.bursts = {1, 2, 4, 8, 16, 32, 64, 128, 256};
  const auto all = virtual_clock ? thinned(declared, 18, 9) : thinned(declared, 12, 5);
  const auto core = virtual_clock ? thinned(all, 12, 5) : thinned(all, 6, 4);
  const fit::SyntheticCampaign grids[] = {thinned(core, 3, 4), core, all};
  return fit::nested_points(machine, grids);
}

}  // namespace

double Draw::scaled(double least, double most) {
  return least * std::exp(share() * std::log(most / least));
}

double Draw::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - share()));
  return radius * std::cos(2 * std::numbers::pi * share());
}

Network draw_network(Draw& draw) {
  Network network;
  const double L = draw.scaled(0.5e-6, 100e-6);
  const double G = draw.scaled(20e-12, 10e-9);
  const double o = std::min(draw.scaled(0.05e-6, 5e-6), L);
  std::vector<uint64_t> switches;
  std::vector<double> steps_s;
  for (uint64_t count = draw.below(3); count > 0; --count) {
    switches.push_back(static_cast<uint64_t>(draw.scaled(512, 256 << 10)) / 8 * 8);
    steps_s.push_back(draw.between(0, 3) * L);
  }
  std::ranges::sort(switches);
  switches.erase(std::unique(switches.begin(), switches.end()), switches.end());
  const double queue = std::round(draw.scaled(2, 512));
  for (const char* name : {"get", "put", "am"}) {
    network.operations.push_back(operation_of(name, draw, L, G, o, switches, steps_s, queue));
  }
  network.noise.within_run = draw.between(0, 0.3);
  network.noise.between_runs = draw.between(0, 0.04);
  network.noise.effect = draw.one_in(2) ? fit::RunEffect::shared : fit::RunEffect::per_point;
  network.strip_overhead_s = draw.scaled(30e-9, 300e-9);
  return network;
}

model::PathModel exact_path(const Network& network) {
  model::PathModel path;
  for (const fit::TrueOperation& operation : network.operations) {
    (operation.name == "get"   ? path.get
     : operation.name == "put" ? path.put
                               : path.am) = exact_operation(operation);
  }
  return path;
}

Campaign run_campaign(const Network& network, Draw& draw) {
  const fit::NestedPoints plan = plan_of(network.operations, draw.one_in(2));
  campaign::Rule rule;
  rule.width = 0.05;
  rule.pilot = true;
  rule.least_points = plan.least;
  rule.core_points = plan.core;
  rule.all_points = static_cast<uint32_t>(plan.points.size());
  rule.nodes = 2;
  rule.refine_breaks = true;
  const double point_s = 0.005;
  // From what some runs of the coarsest grid take to what all runs of all points do.
  rule.time_budget_s = draw.scaled(20, 120);
  campaign::PointTable table(plan.points);
  campaign::Progress progress;
  std::vector<experiment::SampleSeries> series;
  uint64_t points_in_all = 0;
  Campaign result;
  while (true) {
    const campaign::Next next = campaign::next_run(rule, progress);
    if (next.done) {
      result.usable = next.usable && progress.runs.size() >= rule.fewest_runs;
      break;
    }
    std::vector<uint32_t> places = next.places;
    if (places.empty()) {
      for (uint32_t place = 0; place < next.grid; ++place) places.push_back(place);
    }
    for (const experiment::Point& point : next.added) places.push_back(table.add(point));
    const auto count = static_cast<uint32_t>(places.size());
    const double run_s = kStartS + point_s * count * draw.between(0.8, 1.2);
    progress.spent_s += run_s;
    if (campaign::used_up(rule, progress)) {
      result.usable = progress.runs.size() >= rule.fewest_runs;
      break;
    }
    std::vector<experiment::Point> points;
    for (const uint32_t place : places) points.push_back(table.points()[place].point);
    const auto run = static_cast<uint32_t>(progress.runs.size() + 1);
    auto measured = fit::measure(network.operations, points, run, kReps, network.noise,
                                 draw.below(uint64_t{1} << 62));
    std::vector<campaign::PointResult> results;
    for (size_t i = 0; i < measured.size(); ++i) {
      results.push_back(campaign::result_of(measured[i], places[i]));
    }
    table.add_run(run, results);
    std::ranges::move(measured, std::back_inserter(series));
    points_in_all += count;
    progress.runs.push_back({next.grid, count, kStartS, run_s});
    progress.points = &table;
  }
  result.runs = static_cast<uint32_t>(progress.runs.size());
  if (!result.usable) return result;
  result.points_per_run = static_cast<double>(points_in_all) / result.runs;
  // Points that enough runs measured, as the server fits (server/core/models/fit_job.cc).
  const uint32_t needed = result.runs < kEnoughRuns ? rule.fewest_runs : kEnoughRuns;
  std::map<std::string, uint32_t> runs_of;
  for (const auto& one : series) ++runs_of[point_key(one.point)];
  std::erase_if(series, [&](const auto& one) { return runs_of[point_key(one.point)] < needed; });
  fit::FitRequest request;
  request.name = "claims";
  request.fitted_at = "2026-01-01T00:00:00Z";
  auto fitted = fit::fit_model(series, request);
  if (!fitted.ok()) {
    result.usable = false;
    return result;
  }
  result.model = std::move(fitted->model);
  model::Parameter overhead = exactly(network.strip_overhead_s * draw.between(0.95, 1.05));
  overhead.ci_low *= 0.9;
  overhead.ci_high *= 1.1;
  result.model.strip = model::StripModel{overhead, std::nullopt};
  return result;
}

}  // namespace stripline::claims
