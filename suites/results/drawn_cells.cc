#include "suites/results/drawn_cells.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "optimizer/plan/vis.h"
#include "optimizer/plan/vis_costs.h"
#include "suites/kernels/candidates.h"
#include "suites/kernels/decomposition.h"
#include "suites/kernels/strided_variants.h"
#include "suites/registry.h"
#include "suites/results/cells.h"
#include "suites/results/gather_choices.h"
#include "suites/results/update_choices.h"

namespace stripline::suites::results {
namespace {

using experiment::Params;
using experiment::Point;

constexpr const char* kTuned = "tuned";
constexpr const char* kUntuned = "untuned";

// Draws numbers and names.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}

  // Evenly on a logarithmic scale.
  int64_t size(double least, double most) {
    std::uniform_real_distribution<> logs(std::log(least), std::log(most));
    return std::clamp(static_cast<int64_t>(std::llround(std::exp(logs(random_)))),
                      static_cast<int64_t>(least), static_cast<int64_t>(most));
  }
  uint64_t below(uint64_t end) { return random_() % end; }
  template <typename T, size_t N>
  T one_of(const T (&all)[N]) {  // NOLINT(*-c-arrays)
    return all[below(N)];
  }
  std::string name_of(std::initializer_list<const char*> names) {
    return *(names.begin() + below(names.size()));
  }

 private:
  std::mt19937_64 random_;
};

DrawnCell drawn(ProblemKind kind, uint32_t ranks, const char* experiment, Params params) {
  return {kind, ranks, {experiment, kTuned, std::move(params)}, std::nullopt};
}

DrawnCell draw_loop(Chance& chance) {
  constexpr double kLeastBytes = 512;
  constexpr double kMostBytes = 4 << 20;
  const uint32_t ranks = chance.one_of({uint32_t{2}, uint32_t{3}, uint32_t{4}});
  const uint64_t which = chance.below(5);
  if (which < 3) {
    const auto elements = static_cast<double>(chance.size(kLeastBytes, kMostBytes)) / 8;
    const int64_t columns = chance.size(3, std::min(2000.0, elements));
    const int64_t rows = std::max<int64_t>(1, std::llround(elements / double(columns)));
    return drawn(ProblemKind::loop, 2, kernels::kMatvec.name,
                 {{"rows", rows},
                  {"cols", columns},
                  {"passes", chance.size(1, 24)},
                  {"active", chance.name_of({"one", "all"})}});
  }
  if (which == 3) {
    return drawn(ProblemKind::loop, ranks, kernels::kTranspose.name,
                 {{"n", ranks * chance.size(4, 256)}, {"passes", chance.size(1, 8)}});
  }
  return drawn(ProblemKind::loop, ranks, kernels::kPrkTranspose.name,
               {{"n", ranks * chance.size(4, 300)}, {"iterations", int64_t{1}}});
}

DrawnCell draw_nest(Chance& chance) {
  constexpr double kMostElements = 1 << 17;
  if (chance.below(4) == 0) {
    return drawn(ProblemKind::nest, 2, kernels::kTriad.name,
                 {{"elements", chance.size(40, kMostElements)}});
  }
  const int64_t rows = chance.size(2, 1500);
  const int64_t columns = chance.size(2, std::min(1500.0, kMostElements / double(rows)));
  return drawn(ProblemKind::nest, chance.one_of({uint32_t{2}, uint32_t{2}, uint32_t{4}}),
               kernels::kTile.name,
               {{"rows", rows},
                {"cols", columns},
                {"pitch", columns + chance.size(1, 1200)},
                {"order", chance.name_of({"rows", "columns"})},
                {"direction", chance.name_of({"get", "put"})},
                {"flops", 2 * chance.size(1, 60)}});
}

DrawnCell draw_call(Chance& chance) {
  constexpr double kMostBytes = 1 << 20;
  constexpr double kMostRegions = 2048;  // as micro.vis
  constexpr uint64_t kAlignment = 8;
  const auto region = static_cast<uint64_t>(chance.size(16, 32 << 10)) / kAlignment * kAlignment;
  const double most = std::min(kMostRegions, kMostBytes / static_cast<double>(region));
  const VisCell call{
      {chance.below(2) == 0 ? plan::Direction::get : plan::Direction::put, region,
       static_cast<uint64_t>(chance.size(2, std::max(3.0, most))), 2 + chance.below(3)},
      static_cast<plan::ComputeClass>(chance.below(3))};
  DrawnCell cell;
  cell.kind = ProblemKind::call;
  cell.problem = vis_points(call, nullptr).front();
  cell.call = call;
  return cell;
}

DrawnCell draw_update(Chance& chance) {
  const uint32_t ranks = chance.one_of({uint32_t{2}, uint32_t{4}, uint32_t{8}});
  const std::string mode = chance.name_of({"accumulate", "log"});
  const int64_t updates = chance.size(30, 20000);
  if (chance.below(2) == 0) {
    return drawn(ProblemKind::update, ranks, kernels::kHistogram.name,
                 {{"keys", std::string("uniform")},
                  {"bins_per_rank", chance.size(50, 200000)},
                  {"updates", updates},
                  {"mode", mode}});
  }
  return drawn(ProblemKind::update, ranks, kernels::kGups.name,
               {{"log2_cells", chance.size(10, 20)},
                {"updates", updates},
                {"look_ahead", int64_t{0}},
                {"mode", mode}});
}

DrawnCell draw_gather(Chance& chance) {
  const std::string matrix = chance.name_of({"banded", "plane", "space", "power_law", "random"});
  Params params = {{"matrix", matrix},
                   {"rows", chance.size(200, 30000)},
                   {"iterations", chance.size(2, 40)},
                   {"inspection", chance.name_of({"before", "timed"})}};
  if (matrix == "banded" || matrix == "random") params["entries"] = chance.size(2, 20);
  return drawn(ProblemKind::gather, chance.one_of({uint32_t{2}, uint32_t{4}, uint32_t{8}}),
               kernels::kSpmv.name, std::move(params));
}

DrawnCell draw(ProblemKind kind, Chance& chance) {
  switch (kind) {
    case ProblemKind::loop:
      return draw_loop(chance);
    case ProblemKind::nest:
      return draw_nest(chance);
    case ProblemKind::call:
      return draw_call(chance);
    case ProblemKind::update:
      return draw_update(chance);
    case ProblemKind::gather:
      return draw_gather(chance);
  }
  return {};
}

Status complete(const DrawnCell& cell, Point& point) {
  const Benchmark* const benchmark = find_benchmark(point.experiment);
  if (benchmark == nullptr) {
    return Error(ErrorCode::internal, "there is no experiment '" + point.experiment + "'");
  }
  if (const auto refused = experiment::complete_point(benchmark->declaration, point)) {
    return Error(ErrorCode::internal, cell.text() + ": " + *refused);
  }
  return {};
}

// The method's point among those of a call.
const Point& by_method(const std::vector<Point>& points, plan::VisMethod method) {
  const auto found = std::ranges::find(points, plan::to_string(method), &Point::variant);
  return found == points.end() ? points.front() : *found;
}

DrawnPoints points_of_call(const VisCell& call, const model::TunedModel& model) {
  const model::VisModel tuned = model.vis.empty() ? model::VisModel{} : model.vis.begin()->second;
  const plan::VisCosts costs(model.network.begin()->second, model.pack, &tuned);
  const std::vector<Point> with_model = vis_points(call, &costs);
  DrawnPoints points;
  points.sweep = vis_points(call, nullptr);
  points.chosen = by_method(with_model, plan::plan_vis(request_of_cell(call), &costs).method);
  points.untuned = by_method(points.sweep, plan::plan_vis(request_of_cell(call), nullptr).method);
  for (const Point& point : with_model) {
    if (std::ranges::find(points.sweep, point) == points.sweep.end()) points.sweep.push_back(point);
  }
  // The computation alone is not a method.
  std::erase_if(points.sweep,
                [](const Point& point) { return point.variant == experiment::variant::kCompute; });
  return points;
}

// Points of a question on choices: its first row decides by the model.
DrawnPoints points_of_rows(const RowPoints& rows) {
  DrawnPoints points;
  points.chosen = rows.front().second;
  points.untuned = rows.front().second;
  for (size_t i = 1; i < rows.size(); ++i) points.sweep.push_back(rows[i].second);
  return points;
}

}  // namespace

std::string_view to_string(ProblemKind kind) {
  constexpr std::array<std::string_view, kProblemKinds> kNames = {"loops", "nests", "calls",
                                                                  "updates", "gathers"};
  return kNames[static_cast<size_t>(kind)];
}

std::string DrawnCell::text() const {
  return std::to_string(ranks) + " ranks, " +
         (call ? call->text() : Cell{{}, ranks, problem}.problem_text());
}

std::vector<DrawnCell> draw_cells(uint64_t seed, const DrawnCounts& counts) {
  Chance chance(seed);
  std::vector<DrawnCell> cells;
  for (size_t kind = 0; kind < kProblemKinds; ++kind) {
    for (size_t i = 0; i < counts.of_kind[kind]; ++i) {
      cells.push_back(draw(static_cast<ProblemKind>(kind), chance));
    }
  }
  return cells;
}

Result<DrawnPoints> points_of(const DrawnCell& cell, const model::TunedModel& model) {
  DrawnPoints points;
  const Cell measured{{}, cell.ranks, cell.problem};
  switch (cell.kind) {
    case ProblemKind::call:
      points = points_of_call(*cell.call, model);
      break;
    case ProblemKind::update: {
      STRIPLINE_ASSIGN_OR_RETURN(const RowPoints rows, update_rows(measured));
      points = points_of_rows(rows);
      break;
    }
    case ProblemKind::gather: {
      STRIPLINE_ASSIGN_OR_RETURN(const RowPoints rows, gather_rows(measured));
      points = points_of_rows(rows);
      break;
    }
    case ProblemKind::loop:
    case ProblemKind::nest: {
      points.chosen = cell.problem;
      points.untuned = cell.problem;
      points.untuned.variant = kUntuned;
      Point base = cell.problem;
      STRIPLINE_RETURN_IF_ERROR(complete(cell, base));
      STRIPLINE_ASSIGN_OR_RETURN(points.sweep, search_candidates(base, cell.ranks));
      break;
    }
  }
  STRIPLINE_RETURN_IF_ERROR(complete(cell, points.chosen));
  STRIPLINE_RETURN_IF_ERROR(complete(cell, points.untuned));
  for (Point& point : points.sweep) STRIPLINE_RETURN_IF_ERROR(complete(cell, point));
  return points;
}

}  // namespace stripline::suites::results
