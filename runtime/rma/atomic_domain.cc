#include <string>

#include <stripline/atomic.h>

#include "optimizer/plan/single_mechanisms.h"
#include "runtime/fabric/atomic_apply.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/operation.h"

namespace stripline::detail {

using Kind = rma::CompletionSlots::Kind;

namespace {

struct Decided {
  AtomicPath path;
  bool alone = false;  // by a rule each operation is a message of its own
};

// By a rule of a score map, or by the planner.
Decided decision_for(const ContextState& state, AtomicType type,
                     const plan::AtomicRequest& request) {
  const rma::Tuning& tuning = state.job.tuning();
  const std::string_view provider = to_string(plan::AtomicMethod::provider);
  const std::string_view combined = to_string(plan::AtomicMethod::combined);
  const std::string_view forced =
      tuning.forced.forced(plan::AtomicMechanism::kWords.command, fabric::bytes_of(type), {},
                           [&](std::string_view name) {
                             if (name == combined) {
                               return request.together && state.operations.combines_atomics();
                             }
                             return name != provider || !(request.mapped || request.lacking);
                           });
  if (forced == provider) return {AtomicPath::provider};
  if (!forced.empty() && forced != plan::kForcedBaseline) {
    return {AtomicPath::message, forced != combined};
  }
  const plan::SingleCosts costs =
      forced == plan::kForcedBaseline ? plan::SingleCosts() : tuning.single;
  const plan::AtomicMethod method = plan::plan_atomic(request, costs).method;
  return {method == plan::AtomicMethod::provider ? AtomicPath::provider : AtomicPath::message};
}

}  // namespace

// Every operation that a domain of this type offers.
bool AtomicDomain::provider_has_all(Context& context, AtomicType type) {
  const fabric::Fabric& fabric = context.state().job.fabric();
  for (size_t i = 0; i < kAtomicOps; ++i) {
    const auto op = static_cast<AtomicOp>(i);
    const bool integers_only = op == AtomicOp::compare_swap || op >= AtomicOp::bit_and;
    if (integers_only && type == AtomicType::float64) continue;
    if (!fabric.has_atomic(op, type, true)) return false;
    const bool only_fetching = op == AtomicOp::load || op == AtomicOp::compare_swap;
    if (!only_fetching && !fabric.has_atomic(op, type, false)) return false;
  }
  return true;
}

AtomicDomain::AtomicDomain(Context& context, AtomicType type, AtomicPath path, bool together)
    : context_(&context), type_(type), path_(path) {
  const ContextState& state = context.state();
  const bool has_all = provider_has_all(context, type);
  if (path_ > AtomicPath::automatic) {
    state.fail(Error(ErrorCode::invalid_argument,
                     "atomic_domain: " + std::to_string(static_cast<int>(path_)) +
                         " is not a valid AtomicPath; use automatic, provider or message"));
  }
  if (path_ == AtomicPath::provider && !has_all) {
    state.fail(Error(ErrorCode::unimplemented,
                     "atomic_domain: provider '" + state.job.fabric().info().provider +
                         "' lacks an operation on this type; use AtomicPath::automatic"));
  }
  if (path_ == AtomicPath::automatic) {
    const Decided decided = decision_for(
        state, type,
        {.mapped = state.memory.any_shared(), .lacking = !has_all, .together = together});
    path_ = decided.path;
    alone_ = decided.alone;
  }
}

future AtomicDomain::start(AtomicOp op, global_ptr<std::byte> variable, uint64_t operand,
                           uint64_t expected, void* previous, CallSite site) const {
  rma::check_result(context_->state(), {"atomic operation", site}, op, previous);
  const fabric::AtomicRequest request{op, type_, operand, expected};
  if (path_ == AtomicPath::message) {
    ContextState& state = context_->state();
    const size_t bytes = fabric::bytes_of(type_);
    std::byte* const there = state.at_hand(variable, bytes);
    if (there != nullptr && variable.offset() % bytes == 0) {
      state.operations.before_message();
      fabric::apply_atomic(request, there, previous);
      return {};
    }
  }
  return start(request, variable, previous, site);
}

future AtomicDomain::start(const fabric::AtomicRequest& request, global_ptr<std::byte> variable,
                           void* previous, CallSite site) const {
  ContextState& state = context_->state();
  const rma::Call call("atomic operation", site);
  const size_t bytes = fabric::bytes_of(request.type);
  rma::Operation operation(*context_, call, rma::Access::atomic, variable, bytes,
                           static_cast<const std::byte*>(previous));
  state.memory.check_alignment(call, operation.target(), operation.offset(), bytes);
  state.job.activity().start(call.name, operation.target(), bytes);
  const bool stores = request.op != fabric::AtomicOp::load;
  if (stores && operation.there() == nullptr) {
    state.memory.keepers().stored(operation.target(), operation.offset(), bytes);
  }
  if (path_ != AtomicPath::message) {
    state.job.fabric().atomic(request, operation.target(), operation.offset(), previous,
                              operation.counter(Kind::put));
  } else if (std::byte* const there = operation.there(); there != nullptr) {
    fabric::apply_atomic(request, there, previous);
  } else {
    state.operations.owner().atomic(request, operation.target(), operation.offset(), previous,
                                    operation.counter(Kind::message));
  }
  return operation.finish();
}

void AtomicDomain::start_together(AtomicOp op, global_ptr<std::byte> variable, uint64_t operand,
                                  CallSite site) const {
  ContextState& state = context_->state();
  const rma::Call call("combined atomic operation", site);
  const fabric::AtomicRequest request{op, type_, operand, 0};
  const size_t bytes = fabric::bytes_of(type_);
  rma::Operation operation(*context_, call, rma::Access::atomic, variable, bytes, nullptr);
  state.memory.check_alignment(call, operation.target(), operation.offset(), bytes);
  if (std::byte* const there = operation.there(); there != nullptr) {
    fabric::apply_atomic(request, there);
  } else {
    state.operations.start_atomic_implicit(request, operation.target(), operation.offset());
  }
  operation.finish_without_future();
}

}  // namespace stripline::detail
