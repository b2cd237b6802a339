#include <string>

#include <stripline/atomic.h>

#include "runtime/rma/context_state.h"

namespace stripline::detail {

// Every operation that a domain of this type offers.
bool AtomicDomain::provider_has_all(Context& context, AtomicType type) {
  const fabric::Fabric& fabric = *context.state().fabric;
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

AtomicDomain::AtomicDomain(Context& context, AtomicType type, AtomicPath path)
    : context_(&context), type_(type), path_(path) {
  const ContextState& state = context.state();
  const bool has_all = provider_has_all(context, type);
  if (path_ == AtomicPath::provider && !has_all) {
    state.fail(Error(ErrorCode::unimplemented,
                     "atomic_domain: provider '" + state.fabric->info().provider +
                         "' lacks an operation on this type; use AtomicPath::automatic"));
  }
  if (path_ == AtomicPath::automatic) {
    path_ = has_all && !state.shares_memory ? state.tuning.atomic_way : AtomicPath::message;
  }
}

future AtomicDomain::start(AtomicOp op, rank_t target, uint64_t offset, uint64_t operand,
                           uint64_t expected, void* previous, CallSite site) const {
  const fabric::AtomicRequest request{op, type_, operand, expected};
  return context_->start_atomic(request, target, offset, previous, path_ == AtomicPath::message,
                                site);
}

}  // namespace stripline::detail
