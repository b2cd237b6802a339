#include "suites/kernels/engine.h"

#include <algorithm>
#include <cstdlib>

#include "base/formatted.h"
#include "base/quantity.h"
#include "optimizer/plan/strip_mechanism.h"
#include "runtime/decide/surroundings.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"

namespace stripline::suites {
namespace {

// The kernels' place in the plan cache; their requests differ, so one serves all.
constexpr uint64_t kSite = 0x5171;

constexpr const char* kClaim = "claims a gain of at least ";
constexpr const char* kOf = " % of ";

std::string plan_text(const LoopPlan& plan) {
  std::string strips = std::to_string(plan.count) + " x " + exact_bytes_text(plan.strip_bytes);
  switch (plan.schedule) {
    case plan::Schedule::vectorised:
      return "blocking, " + strips;
    case plan::Schedule::all_issued:
      return "A, " + strips;
    case plan::Schedule::pipelined:
      return "B, " + strips + ", " + std::to_string(plan.burst) + " ahead";
  }
  return strips;
}

// The request that the engine made, with the computation it has measured since.
plan::StripRequest request_of(Context& context, const EngineLoop& loop) {
  plan::StripRequest request;
  request.total_bytes = loop.transfer.block_bytes * loop.transfer.blocks;
  request.blocks = static_cast<uint32_t>(loop.transfer.blocks);
  request.peers = request.blocks;  // one from each rank
  const detail::NetworkLoads& loads = detail::LoopState::of(context.state()).loads;
  request.surroundings = decide::surroundings_of(
      context.state().job.fabric().info(), plan::StripRequest::kFacts,
      {.path = context.state().job.path_to(1), .gets = true, .alone = loop.options.alone});
  if (!loads.empty() && !loop.options.alone) {
    request.surroundings.load = loads.begin();
    for (rank_t i = 1; i <= request.blocks; ++i) {
      loads.add(request.surroundings.load, (context.rank_me() + i) % context.rank_n());
    }
  }
  request.element_bytes = loop.element_bytes;
  request.granule_elements = std::max<size_t>(loop.options.granule, 1);
  request.max_buffer_bytes = loop.options.max_buffer_bytes;
  request.slot_alignment = detail::kAlignment;
  request.own_bytes = loop.options.own_count * loop.element_bytes;
  request.loop = loop.options.loop;
  request.sweeps = loop.options.sweeps;
  request.local_bytes = loop.options.local_bytes;
  return request;
}

// What explain() says ahead of its tables.
std::string reasons(Context& context, const EngineLoop& loop) {
  auto& state = detail::LoopState::of(context.state());
  const plan::StripCosts* costs = state.costs(context.state().job.path_to(1));
  if (costs == nullptr) return {};
  plan::StripRequest request = request_of(context, loop);
  if (const detail::LoopSite* site = state.sites.find({kSite, request})) {
    request.compute_s = site->refinement.planned_s();
  }
  const std::string text = plan::to_text(plan::explain<plan::StripMechanism>(request, costs));
  return text.substr(0, text.find("alternatives"));
}

}  // namespace

std::string plan_text(const NestPlan& plan) {
  uint64_t step_bytes = 0;
  for (const plan::NestTransfer& one : plan.transfer) {
    if (one.moved) step_bytes += one.bytes;
  }
  if (step_bytes == 0) return "in place";
  std::string strips = std::to_string(plan.steps) + " x " + exact_bytes_text(step_bytes);
  switch (plan.schedule) {
    case plan::Schedule::vectorised:
      return "blocking, " + strips;
    case plan::Schedule::all_issued:
      return "A, " + strips;
    case plan::Schedule::pipelined:
      return "B, " + strips + ", " + std::to_string(plan.window) + " ahead";
  }
  return strips;
}

std::string claim_text(plan::Reason reason, const Claim& claim) {
  if (reason != plan::Reason::tuned) return {};
  return formatted("%s%.2f%s%.6g s\n", kClaim, 100 * claim.gain, kOf, claim.of_s);
}

std::optional<Claim> claim_of(std::string_view explanation) {
  const size_t of = explanation.find(kOf);
  if (!explanation.starts_with(kClaim) || of == std::string_view::npos) return std::nullopt;
  const std::string text(explanation.substr(0, explanation.find('\n')));
  return Claim{std::strtod(text.c_str() + std::string_view(kClaim).size(), nullptr) / 100,
               std::strtod(text.c_str() + of + std::string_view(kOf).size(), nullptr)};
}

Status check_model(Context& context, Variant variant) {
  const bool needs_one = variant == Variant::tuned || variant == Variant::guarded;
  if (!needs_one || context.state().job.model() != nullptr) return {};
  return Error(ErrorCode::failed_precondition,
               "variant '" + variant_names()[static_cast<size_t>(variant)] +
                   "' needs a tuned model; give one with --model FILE "
                   "('stripline model fetch' gets one)");
}

Result<EngineLoop> make_engine_loop(Context& context, const experiment::Point& point,
                                    const LoopOptions& options, size_t element_bytes) {
  EngineLoop loop;
  loop.options = options;
  loop.options.site = kSite;
  loop.element_bytes = element_bytes;
  STRIPLINE_ASSIGN_OR_RETURN(loop.transfer, transfer_of(point, context.rank_n()));
  STRIPLINE_ASSIGN_OR_RETURN(plan::StripCandidate candidate, decomposition_of(point));
  const Variant variant = variant_of(point);
  if (variant == Variant::untuned) loop.options.use_model = false;
  // In the others the plan is what is measured.
  loop.options.self_check = variant == Variant::guarded;
  STRIPLINE_RETURN_IF_ERROR(check_model(context, variant));
  if (variant == Variant::forced) {
    if (candidate.strip_bytes == 0) candidate.strip_bytes = loop.transfer.block_bytes;
    loop.options.force = candidate;
  }
  return loop;
}

std::string kernel_note(Context& context, Variant variant, const EngineLoop& loop,
                        size_t run_elements, size_t elements) {
  switch (variant) {
    case Variant::fine:
      if (run_elements == elements) return "element by element";
      return "element by element (time of " + std::to_string(run_elements) + " of " +
             std::to_string(elements) + " elements, scaled)";
    case Variant::blocking:
      return "blocking, whole blocks";
    case Variant::hand:
      return "nonblocking, whole blocks";
    case Variant::hand4:
      return "nonblocking, blocks in 4 strips";
    case Variant::untuned:
    case Variant::guarded:
    case Variant::forced:
      return plan_text(*loop.plan);
    case Variant::tuned:
      return plan_text(*loop.plan) + "\n" +
             claim_text(loop.plan->reason, {loop.plan->gain_low, loop.plan->baseline_s}) +
             reasons(context, loop);
  }
  return {};
}

}  // namespace stripline::suites
