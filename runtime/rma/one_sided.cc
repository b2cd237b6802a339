#include <string>

#include <stripline/context.h>

#include "runtime/fabric/atomic_apply.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace {

using Kind = rma::CompletionSlots::Kind;
using rma::Access;

// Out of line, so that calls that only copy save no registers for them.
[[gnu::noinline]] future start_get(Context& context, global_ptr<const std::byte> source,
                                   std::byte* destination, size_t bytes, CallSite site) {
  detail::ContextState& state = context.state();
  rma::check_private(state, {"rget", site}, destination, bytes);
  rma::Operation operation(context, {"rget", site}, Access::get, source, bytes, destination);
  if (const std::byte* const there = operation.there(); there != nullptr) {
    state.memory.copy_here(operation.destination(), there, bytes);
  } else if (bytes != 0) {
    state.operations.start_get(operation.destination(), operation.target(), operation.offset(),
                               bytes, operation.counter(Kind::get));
  }
  return operation.finish();
}

[[gnu::noinline]] future start_put(Context& context, const char* name, const std::byte* source,
                                   global_ptr<const std::byte> destination, size_t bytes,
                                   CallSite site) {
  detail::ContextState& state = context.state();
  rma::check_private(state, {name, site}, source, bytes);
  rma::Operation operation(context, {name, site}, Access::put, destination, bytes, source);
  if (std::byte* const there = operation.there(); there != nullptr) {
    state.memory.copy_here(there, source, bytes);
  } else if (bytes != 0) {
    state.operations.start_put(operation.target(), operation.offset(), source, bytes,
                               operation.counter(Kind::put));
  }
  return operation.finish();
}

}  // namespace

// Copies of memory at hand come first, and need nothing else: their calls are as short as that.

future Context::get_bytes(global_ptr<const std::byte> source, std::byte* destination, size_t bytes,
                          CallSite site) {
  detail::ContextState& state = *state_;
  if (const std::byte* const there = state.at_hand(source, bytes);
      there != nullptr && destination != nullptr) {
    state.memory.copy_here(destination, there, bytes);
    return {};
  }
  return start_get(*this, source, destination, bytes, site);
}

future Context::put_bytes(const std::byte* source, global_ptr<std::byte> destination, size_t bytes,
                          CallSite site) {
  detail::ContextState& state = *state_;
  if (std::byte* const there = state.at_hand(destination, bytes);
      there != nullptr && source != nullptr) {
    state.memory.copy_here(there, source, bytes);
    return {};
  }
  return start_put(*this, "rput", source, destination, bytes, site);
}

future Context::put_bytes_buffered(const std::byte* source, global_ptr<std::byte> destination,
                                   size_t bytes, CallSite site) {
  detail::ContextState& state = *state_;
  const plan::PutPlan plan =
      plan::plan_put({.bytes = bytes, .buffered = true}, state.job.tuning().single);
  if (plan.method != plan::PutMethod::copied) {
    start_put(*this, "rput_buffered", source, destination, bytes, site).wait();
    return {};
  }
  const rma::Call call("rput_buffered", site);
  rma::check_private(state, call, source, bytes);
  rma::Operation operation(*this, call, Access::put, destination, bytes, nullptr);
  if (const rma::DebugChecks* const debug = state.job.observers().debug()) [[unlikely]]
    debug->check_local(call, false, source, bytes);
  if (std::byte* const there = operation.there(); there != nullptr) {
    state.memory.copy_here(there, source, bytes);
  } else if (bytes != 0) {
    fabric::Counter& counter = operation.counter(Kind::put);
    state.operations.start_put(operation.target(), operation.offset(),
                               state.operations.copy_to_bounce(source, bytes, operation.slot()),
                               bytes, counter);
    state.operations.source_free(operation.slot()) = true;
  }
  return operation.finish();
}

future Context::put_bytes_signal(const std::byte* source, global_ptr<std::byte> destination,
                                 size_t bytes, global_ptr<uint64_t> flag, uint64_t value,
                                 CallSite site) {
  detail::ContextState& state = *state_;
  const rma::Call call("rput_signal", site);
  const rank_t target = destination.where();
  if (flag.is_null() || flag.where() != target) {
    state.fail(Error(ErrorCode::invalid_argument,
                     text(call) + " to rank " + std::to_string(target) +
                         " with a flag that is not on that rank; data and flag have one target"));
  }
  rma::check_private(state, call, source, bytes);
  rma::Operation operation(*this, call, Access::put, destination, bytes, source);
  operation.raises({"flag of rput_signal", site}, flag.offset());
  state.job.activity().start(call.name, target, bytes);
  if (std::byte* const there = operation.there(); there != nullptr) {
    state.memory.copy_here(there, source, bytes);
    fabric::raise_flag(state.memory.reachable(target) + flag.offset(), value);
    return operation.finish();
  }
  const bool by_message = state.operations.puts_signals_by_message(target, bytes);
  fabric::Counter& counter = operation.counter(by_message ? Kind::message : Kind::put);
  state.operations.start_put_signal(target, operation.offset(), source, bytes,
                                    {flag.offset(), value}, by_message, counter,
                                    state.operations.source_free(operation.slot()));
  return operation.finish();
}

uint64_t Context::wait_signal(global_ptr<uint64_t> flag, uint64_t value, CallSite site) {
  const rma::Call call("wait_signal", site);
  if (flag.is_null() || flag.where() != rank_me_) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(call) + " on a flag of another rank; a rank waits on its own"));
  }
  state_->memory.check(call, rank_me_, flag.offset(), sizeof(uint64_t));
  state_->memory.check_alignment(call, rank_me_, flag.offset(), sizeof(uint64_t));
  const auto inside = state_->exclusive();
  return state_->operations.wait_for_flag(call, *local(flag), value);
}

void Context::get_bytes_nbi(global_ptr<const std::byte> source, std::byte* destination,
                            size_t bytes, CallSite site) {
  rma::check_private(*state_, {"rget_nbi", site}, destination, bytes);
  rma::Operation operation(*this, {"rget_nbi", site}, Access::get, source, bytes, destination);
  if (const std::byte* const there = operation.there(); there != nullptr) {
    state_->memory.copy_here(operation.destination(), there, bytes);
  } else if (bytes != 0) {
    state_->operations.start_get_implicit(operation.destination(), operation.target(),
                                          operation.offset(), bytes);
  }
  operation.finish_without_future();
}

void Context::put_bytes_nbi(const std::byte* source, global_ptr<std::byte> destination,
                            size_t bytes, CallSite site) {
  rma::check_private(*state_, {"rput_nbi", site}, source, bytes);
  rma::Operation operation(*this, {"rput_nbi", site}, Access::put, destination, bytes, source);
  if (std::byte* const there = operation.there(); there != nullptr) {
    state_->memory.copy_here(there, source, bytes);
  } else if (bytes != 0) {
    state_->operations.start_put_implicit(operation.target(), operation.offset(), source, bytes);
  }
  operation.finish_without_future();
}

void Context::fence(rank_t target, CallSite site) {
  const auto inside = state_->exclusive();
  state_->operations.begin("fence");
  state_->operations.before_message();
  state_->job.activity().at("fence", site);
  state_->memory.check_target({"fence", site}, target);
  state_->operations.fence(target);
}

void Context::fence(CallSite site) {
  const auto inside = state_->exclusive();
  state_->operations.begin("fence");
  state_->operations.before_message();
  state_->job.activity().at("fence", site);
  state_->operations.fence();
}

}  // namespace stripline
