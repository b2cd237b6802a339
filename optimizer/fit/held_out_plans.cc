#include "optimizer/fit/held_out_plans.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>

#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/requirements.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/bulk.h"
#include "optimizer/plan/fine.h"
#include "optimizer/plan/gather.h"
#include "optimizer/plan/indirect.h"
#include "optimizer/plan/nest.h"
#include "optimizer/plan/shared_mechanism.h"
#include "optimizer/plan/strip.h"
#include "optimizer/plan/update.h"
#include "optimizer/plan/vis.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace variant = experiment::variant;
using experiment::HeldOutKind;
using experiment::HeldOutProblem;
using experiment::Point;

constexpr uint64_t kElementBytes = sizeof(double);  // of kernels

uint64_t number(const Point& point, const char* name) {
  return static_cast<uint64_t>(experiment::number_param(point, name).value_or(0));
}

std::string text(const Point& point, const char* name) {
  return experiment::text_param(point, name).value_or("");
}

bool has(std::span<const size_t> measured, size_t alternative) {
  return std::ranges::find(measured, alternative) != measured.end();
}

std::optional<size_t> if_measured(std::span<const size_t> measured, size_t alternative) {
  return has(measured, alternative) ? std::optional(alternative) : std::nullopt;
}

// The fastest by `predict`, which gives nullopt for one that the model cannot tell of.
template <typename Predict>
std::optional<size_t> fastest(std::span<const size_t> measured, const Predict& predict) {
  std::optional<size_t> best;
  double best_s = 0;
  for (const size_t one : measured) {
    const std::optional<double> time_s = predict(one);
    if (!time_s || (best && *time_s >= best_s)) continue;
    best = one;
    best_s = *time_s;
  }
  return best;
}

// The same, besides the one that is taken without a model: where that is of another form.
template <typename Predict>
std::optional<size_t> fastest_but_first(std::span<const size_t> measured, const Predict& predict) {
  return fastest(measured, [&](size_t one) -> std::optional<double> {
    return one == 0 ? std::nullopt : predict(one);
  });
}

// Emulated networks alone have puts whose flag travels with the data
// (runtime/fabric/fabric.h).
bool has_flags_with_data(const model::Fingerprint& fingerprint) {
  const auto fabric = fingerprint.find("fabric");
  return fabric != fingerprint.end() && experiment::is_emulated(fabric->second.value);
}

// Calls.

std::optional<plan::VisMethod> method_of(const Point& point) {
  for (size_t i = 0; i < plan::kVisMethods; ++i) {
    const auto method = static_cast<plan::VisMethod>(i);
    if (point.variant == plan::to_string(method)) return method;
  }
  return std::nullopt;
}

VisShape shape_of(const Point& point, plan::Direction direction) {
  const uint64_t region_bytes = std::max<uint64_t>(1, number(point, factor::kRegionBytes));
  return {direction, region_bytes, number(point, factor::kBytes) / region_bytes,
          number(point, factor::kStride)};
}

plan::Direction direction_of(const std::string& name) {
  return name == variant::kPut ? plan::Direction::put : plan::Direction::get;
}

plan::VisRequest call_request(const HeldOutProblem& problem, std::span<const size_t> measured) {
  const Point& point = problem.points.front();
  auto compute = plan::ComputeClass::communication_only;
  for (size_t i = 0; i < plan::kComputeClasses; ++i) {
    const auto one = static_cast<plan::ComputeClass>(i);
    if (text(point, factor::kClass) == plan::to_string(one)) compute = one;
  }
  plan::VisRequest request =
      request_of(shape_of(point, direction_of(text(point, factor::kDirection))), compute,
                 plan::kLandingSlotBytes);
  request.bounding_box_allowed = false;
  for (const size_t one : measured) {
    const auto method = method_of(problem.points[one]);
    // As networks have it that the experiment can be measured on.
    if (method == plan::VisMethod::native_iov) request.iov_limit = 4;
    if (method == plan::VisMethod::bounding_box) request.bounding_box_allowed = true;
  }
  return request;
}

std::optional<size_t> by_method(const HeldOutProblem& problem, std::span<const size_t> measured,
                                plan::VisMethod method) {
  for (const size_t one : measured) {
    if (method_of(problem.points[one]) == method) return one;
  }
  return std::nullopt;
}

// Windows: the smallest one that was measured and has as much in flight, else the largest.

std::optional<size_t> by_window(const HeldOutProblem& problem, std::span<const size_t> measured,
                                uint32_t window) {
  const auto of = [&](size_t one) { return number(problem.points[one], factor::kWindow); };
  std::optional<size_t> found;
  for (const size_t one : measured) {
    const bool is_enough = of(one) >= window;
    const bool has_enough = found && of(*found) >= window;
    if (!found || (is_enough && !has_enough) ||
        (is_enough == has_enough && (is_enough ? of(one) < of(*found) : of(one) > of(*found)))) {
      found = one;
    }
  }
  return found;
}

std::optional<size_t> choose_window(const plan::VisCosts& costs, const HeldOutProblem& problem,
                                    std::span<const size_t> measured) {
  const Point& point = problem.points.front();
  const plan::VisRequest request =
      request_of(shape_of(point, direction_of(point.variant)),
                 plan::ComputeClass::communication_only, plan::kLandingSlotBytes);
  const plan::VisPlan plan = plan::force_vis(request, &costs, plan::VisMethod::pipelined, 0, 0);
  return by_window(problem, measured, plan.window);
}

// Loops and nests.

plan::StripCandidate strips_of(const Point& point) {
  return {text(point, "schedule") == "B" ? plan::Schedule::pipelined : plan::Schedule::all_issued,
          number(point, "strip_bytes"),
          static_cast<uint32_t>(std::max<uint64_t>(1, number(point, factor::kWindow)))};
}

// As kernel.matvec has it.
plan::StripRequest strip_request(const HeldOutProblem& problem) {
  const Point& point = problem.points.front();
  plan::StripRequest request;
  request.element_bytes = kElementBytes;
  request.total_bytes = number(point, "rows") * number(point, "cols") * kElementBytes;
  request.slot_alignment = plan::kUsualSlotAlignment;
  request.loop.n_local_ref = 1;
  request.loop.n_fp_alu = 2;
  request.sweeps = static_cast<uint32_t>(number(point, "passes"));
  request.local_bytes = number(point, "cols") * kElementBytes;
  request.surroundings.alone = true;
  return request;
}

std::optional<size_t> choose_strips(const plan::StripCosts& costs, const HeldOutProblem& problem,
                                    std::span<const size_t> measured) {
  if (!costs.has_get()) return std::nullopt;
  const plan::StripRequest request = strip_request(problem);
  if (plan::plan_strip(request, &costs).reason != plan::Reason::tuned) {
    return if_measured(measured, 0);
  }
  return fastest_but_first(measured, [&](size_t one) -> std::optional<double> {
    return plan::force_strip(request, &costs, strips_of(problem.points[one])).predicted_s;
  });
}

// As kernel.triad has it: b and c of another rank, a of this one.
plan::NestRequest nest_request(const plan::CompiledPath& path, const HeldOutProblem& problem) {
  const uint64_t elements = number(problem.points.front(), "elements");
  plan::NestRequest request;
  request.links[plan::kLocalLink].in_reach = true;
  const uint8_t network = plan::link_by(model::Path::network);
  plan::NestLink& link = request.links[network];
  link.strip = &path.strip;
  link.vis = &path.vis;
  link.many.medium_bytes = plan::kUsualMessageBytes;
  link.many.message_bytes = plan::kUsualMessageBytes;
  link.many.max_buffer_bytes = plan::kUsualBoxBytes;
  request.slot_alignment = plan::kUsualSlotAlignment;
  request.loop.n_local_ref = 2;
  request.loop.n_fp_alu = 2;
  request.local_bytes = elements * kElementBytes;
  request.nest.add_loop(elements);
  const auto bytes = static_cast<int64_t>(elements * kElementBytes);
  for (const auto& [mode, owner, base] : {std::tuple(access::Mode::read, 1U, int64_t{0}),
                                          {access::Mode::read, 1U, 2 * bytes},
                                          {access::Mode::write, 0U, bytes}}) {
    request.link[request.nest.references()] = owner == 0 ? plan::kLocalLink : network;
    request.nest.add({.mode = mode,
                      .owner = owner,
                      .element_bytes = kElementBytes,
                      .base = base,
                      .stride_bytes = {static_cast<int64_t>(kElementBytes)}});
  }
  return request;
}

plan::NestCandidate nest_cut(const plan::NestRequest& request, const Point& point) {
  const plan::StripCandidate strips = strips_of(point);
  const uint64_t step =
      std::clamp<uint64_t>(strips.strip_bytes / kElementBytes, 1, request.nest.counts[0]);
  return {strips.schedule, {0, step}, strips.window};
}

std::optional<size_t> choose_nest(const plan::CompiledPath& path, const HeldOutProblem& problem,
                                  std::span<const size_t> measured) {
  if (!path.strip.has_get()) return std::nullopt;
  const plan::NestRequest request = nest_request(path, problem);
  const plan::NestPlan plan = plan::plan_nest(request);
  // How tiles of many regions travel was not varied.
  if (plan.reason != plan::Reason::tuned || plan.schedule == plan::Schedule::vectorised) {
    return if_measured(measured, 0);
  }
  return fastest_but_first(measured, [&](size_t one) -> std::optional<double> {
    return plan::force_nest(request, nest_cut(request, problem.points[one])).predicted_s;
  });
}

// Updates.

std::optional<size_t> choose_update(const plan::UpdateCosts& costs, const HeldOutProblem& problem,
                                    std::span<const size_t> measured, uint32_t ranks) {
  if (!costs.has_buffers()) return std::nullopt;
  const plan::UpdateRequest request = update_request(problem, measured, ranks);
  const auto candidate_of = [&request](const Point& one) {
    plan::UpdateCandidate candidate;
    candidate.merges = true;
    const std::string method = text(one, "method");
    candidate.buffer_bytes = number(one, factor::kBufferBytes);
    candidate.sums = request.sums;
    if (method == "buffers") return candidate;
    candidate.merges = candidate.sums = false;
    candidate.method =
        method == "messages" ? plan::UpdateMethod::messages : plan::UpdateMethod::provider;
    return candidate;
  };
  if (plan::plan_update(request, &costs).reason != plan::Reason::tuned) {
    return if_measured(measured, 0);
  }
  return fastest_but_first(measured, [&](size_t one) -> std::optional<double> {
    const plan::UpdateCandidate candidate = candidate_of(problem.points[one]);
    if (!plan::possible_update(request, &costs, candidate)) return std::nullopt;
    return plan::force_update(request, &costs, candidate).predicted_s;
  });
}

// Gathers.

std::optional<size_t> choose_gather(const plan::CompiledModel& model,
                                    const plan::CompiledPath& path, const HeldOutProblem& problem,
                                    std::span<const size_t> measured, uint32_t ranks) {
  const plan::GatherRequest request = gather_request(problem, model.tuned().fingerprint, ranks);
  const plan::GatherDecision decision = plan::plan_gather(request, &path);
  for (const size_t one : measured) {
    if (problem.points[one].variant == plan::to_string(decision.method)) return one;
  }
  return std::nullopt;
}

// Indexed loops, as kernel.indirect_sum has them.

std::optional<size_t> choose_block(const plan::CompiledPath& path, const HeldOutProblem& problem,
                                   std::span<const size_t> measured, uint32_t ranks) {
  if (!path.vis.has(plan::Direction::get)) return std::nullopt;
  const Point& point = problem.points.front();
  const auto block_of = [&](size_t one) { return number(problem.points[one], "block"); };
  plan::IndirectRequest request;
  request.iterations = number(point, "iterations");
  request.owners = std::max<uint32_t>(2, ranks) - 1;
  request.remote_percent = 100 * request.owners / (request.owners + 1);
  request.span_bytes = number(point, "elements_per_rank") * kElementBytes;
  const double elements =
      static_cast<double>(number(point, "elements_per_rank")) * (request.owners + 1);
  const auto reads = static_cast<double>(plan::usual_indirect_block(request));
  request.distinct_percent = static_cast<uint32_t>(
      std::clamp(-100 * elements / reads * std::expm1(-reads / elements), 1.0, 100.0));
  const plan::IndirectPlan plan = plan::plan_indirect(request, &path);
  if (plan.reason != plan::Reason::tuned || plan.block == plan::usual_indirect_block(request)) {
    return if_measured(measured, 0);
  }
  // All of them were fetched as without a model.
  return fastest(measured, [&](size_t one) -> std::optional<double> {
    return plan::predict_indirect(request, path, {block_of(one), false});
  });
}

// Regions: what the program of a variant does is what a method of theirs does.

std::optional<size_t> by_variant(const HeldOutProblem& problem, std::span<const size_t> measured,
                                 std::string_view name) {
  for (const size_t one : measured) {
    if (problem.points[one].variant == name) return one;
  }
  return std::nullopt;
}

// Shared updates, as kernel.shared_histogram has them: of cells that are updated alike all are
// replicated, or none. Ranks are of one node, in what the model knows most of.
std::optional<size_t> choose_shared(const model::TunedModel& model, const HeldOutProblem& problem,
                                    std::span<const size_t> measured, uint32_t ranks) {
  if (!model.shared_update) return std::nullopt;
  const Point& point = problem.points.front();
  plan::SharedRequest request = plan::SharedMechanism::usual();
  request.spread.workers = std::max<uint32_t>(2, ranks);
  request.spread.updates = static_cast<double>(number(point, "updates"));
  request.spread.cells = number(point, "buckets");
  request.spread.unordered = true;
  for (const auto placement : {model::SharedPlacement::package, model::SharedPlacement::node,
                               model::SharedPlacement::core}) {
    request.placement = placement;
    if (!plan::team_costs(*model.shared_update, request.team())) continue;
    const plan::SharedPlan plan = plan::plan_shared(request, &*model.shared_update);
    return by_variant(problem, measured, to_string(plan.strategy));
  }
  return std::nullopt;
}

// Fine-grained regions fetch what is near together.
const char* boxes_of(const HeldOutProblem& problem, const plan::CompiledPath* path) {
  const uint64_t between = (number(problem.points.front(), factor::kStride) - 1) * kElementBytes;
  return between <= plan::fine_gap_bytes(path) ? "bounding_box" : "pipelined";
}

// As kernel.strided_reads has it.
std::optional<size_t> choose_reads(const plan::CompiledPath& path, const HeldOutProblem& problem,
                                   std::span<const size_t> measured) {
  if (!path.vis.has(plan::Direction::get) || !path.vis.has(plan::Direction::put)) {
    return std::nullopt;
  }
  const Point& point = problem.points.front();
  const uint64_t apart = number(point, factor::kStride);
  const std::string_view boxes = boxes_of(problem, &path);
  plan::FineRequest request;
  request.reads = number(point, "reads");
  request.boxes = request.reads;
  request.in_flight = plan::bulk_in_flight(&path);
  if (boxes == "bounding_box") {
    request.boxes = 1;
    request.box_bytes = ((request.reads - 1) * apart + 1) * kElementBytes;
  }
  switch (plan::plan_fine(request, &path).method) {
    case plan::FineMethod::blocking:
      return by_variant(problem, measured, "naive");
    case plan::FineMethod::single:
      return by_variant(problem, measured, "pipelined");
    case plan::FineMethod::boxes:
      return by_variant(problem, measured, boxes);
    case plan::FineMethod::lists:
      break;
  }
  const plan::VisRequest list =
      request_of({plan::Direction::get, kElementBytes, request.reads, apart},
                 plan::ComputeClass::communication_only, plan::kLandingSlotBytes);
  const bool is_packed = plan::plan_vis(list, &path.vis).method == plan::VisMethod::packed;
  return by_variant(problem, measured, is_packed ? "packed" : "pipelined");
}

// As kernel.phases has it.
std::optional<size_t> choose_copies(const plan::CompiledPath& path, const HeldOutProblem& problem,
                                    std::span<const size_t> measured) {
  if (!path.vis.has(plan::Direction::get) || !path.vis.has(plan::Direction::put)) {
    return std::nullopt;
  }
  const Point& point = problem.points.front();
  const uint64_t bytes = number(point, factor::kBytes);
  plan::BulkRequest request;
  request.compute_s = 1e-6 * static_cast<double>(number(point, factor::kComputeUs));
  request.in_flight = plan::bulk_in_flight(&path);
  bool waits = false;
  if (text(point, factor::kDirection) == variant::kGet) {
    request.gets = number(point, "copies");
    request.get_bytes = bytes;
    request.lead_s = request.compute_s;
    waits = bytes > plan::max_bulk_get_bytes(&path);
  } else {
    request.puts = number(point, "copies");
    request.put_bytes = bytes;
  }
  waits = waits || plan::plan_bulk(request, &path).method == plan::BulkMethod::blocking;
  return by_variant(problem, measured, waits ? "plain" : variant::kDeferred);
}

}  // namespace

// Counting one in bins that lie anywhere: what no rank stores into meanwhile may be summed up.
plan::UpdateRequest update_request(const HeldOutProblem& problem, std::span<const size_t> measured,
                                   uint32_t ranks) {
  const Point& point = problem.points.front();
  const uint64_t cells = number(point, "bins_per_rank");
  plan::UpdateRequest request;
  request.updates = number(point, "updates");
  request.ranks = std::max<uint32_t>(2, ranks);
  request.local_percent = 100 / request.ranks;
  const double all_cells = static_cast<double>(cells) * request.ranks;
  request.cells = static_cast<uint64_t>(
      std::clamp(-all_cells * std::expm1(-static_cast<double>(request.updates) / all_cells), 1.0,
                 static_cast<double>(request.updates)));
  request.span_bytes = cells * request.item_bytes;
  request.one_value = true;
  request.sums = true;
  request.provider = std::ranges::any_of(
      measured, [&](size_t one) { return text(problem.points[one], "method") == "provider"; });
  return request;
}

// What a rank needs of another one, if columns fall at random.
plan::GatherRequest gather_request(const HeldOutProblem& problem,
                                   const model::Fingerprint& fingerprint, uint32_t ranks) {
  const Point& point = problem.points.front();
  const double of_each = static_cast<double>(number(point, "rows")) / std::max<uint32_t>(2, ranks);
  const double reads =
      static_cast<double>(number(point, "entries")) * of_each / std::max<uint32_t>(2, ranks);
  const double elements = std::max(1.0, -of_each * std::expm1(-reads / of_each));
  plan::GatherRequest request;
  request.elements = static_cast<uint64_t>(elements);
  request.element_bytes = kElementBytes;
  request.runs = static_cast<uint64_t>(std::max(1.0, elements * (1 - elements / of_each)));
  request.span_bytes =
      std::max(request.elements * kElementBytes, static_cast<uint64_t>(of_each) * kElementBytes);
  request.readers = std::max<uint32_t>(2, ranks) - 1;
  request.surroundings.flag_with_data = has_flags_with_data(fingerprint);
  return request;
}

std::optional<ExpectedTime> expected_of(const plan::CompiledModel& model,
                                        const HeldOutProblem& problem) {
  if (has_choice(problem.kind)) return std::nullopt;
  return expected_sentinel(model, problem.points.front());
}

std::optional<size_t> chosen_alternative(const plan::CompiledModel& model,
                                         const HeldOutProblem& problem,
                                         std::span<const size_t> measured, uint32_t ranks) {
  if (problem.kind == HeldOutKind::shared) {
    return choose_shared(model.tuned(), problem, measured, ranks);
  }
  const plan::CompiledPath* const path = model.path(model::Path::network);
  if (path == nullptr) return std::nullopt;
  switch (problem.kind) {
    case HeldOutKind::size:
    case HeldOutKind::burst:
    case HeldOutKind::shared:
      return std::nullopt;
    case HeldOutKind::call:
      return by_method(problem, measured,
                       plan::plan_vis(call_request(problem, measured), &path->vis).method);
    case HeldOutKind::window:
      return choose_window(path->vis, problem, measured);
    case HeldOutKind::loop:
      return choose_strips(path->strip, problem, measured);
    case HeldOutKind::nest:
      return choose_nest(*path, problem, measured);
    case HeldOutKind::update:
      return choose_update(path->update, problem, measured, ranks);
    case HeldOutKind::gather:
      return choose_gather(model, *path, problem, measured, ranks);
    case HeldOutKind::indirect:
      return choose_block(*path, problem, measured, ranks);
    case HeldOutKind::fine:
      return choose_reads(*path, problem, measured);
    case HeldOutKind::bulk:
      return choose_copies(*path, problem, measured);
  }
  return std::nullopt;
}

std::optional<double> predicted_cut(const plan::CompiledModel& model, const HeldOutProblem& problem,
                                    size_t alternative, double uncut_s) {
  const plan::CompiledPath* const path = model.path(model::Path::network);
  if (path == nullptr || !path->strip.has_get()) return std::nullopt;
  const Point& point = problem.points[alternative];
  // The baseline takes its transfers and, after them, the computation.
  const auto predicted = [&](auto request, const auto& force) {
    request.compute_s = 0;
    request.compute_s = std::max(0.0, uncut_s - force(request).baseline_s);
    return force(request).predicted_s;
  };
  if (problem.kind == HeldOutKind::loop) {
    return predicted(strip_request(problem), [&](const plan::StripRequest& request) {
      return plan::force_strip(request, &path->strip, strips_of(point));
    });
  }
  if (problem.kind == HeldOutKind::nest) {
    return predicted(nest_request(*path, problem), [&](const plan::NestRequest& request) {
      return plan::force_nest(request, nest_cut(request, point));
    });
  }
  return std::nullopt;
}

std::optional<size_t> untuned_alternative(const HeldOutProblem& problem,
                                          std::span<const size_t> measured) {
  if (problem.kind == HeldOutKind::call) {
    return by_method(problem, measured,
                     plan::baseline_of_vis(call_request(problem, measured)).method);
  }
  if (problem.kind == HeldOutKind::fine) {
    return by_variant(problem, measured, boxes_of(problem, nullptr));
  }
  return if_measured(measured, 0);
}

}  // namespace stripline::fit
