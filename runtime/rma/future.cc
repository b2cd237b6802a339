#include <span>

#include <stripline/context.h>

#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

rma::SlotUse use_of(const detail::Ticket& ticket) { return {ticket.slot, ticket.generation}; }

void check_there(const char* call, std::span<const future> futures, CallSite site) {
  if (futures.data() == nullptr && !futures.empty()) detail::fail_null(call, futures.size(), site);
}

// Without progress.
bool is_complete(const detail::Ticket& ticket) {
  if (ticket.context == nullptr) return true;
  detail::ContextState& state = ticket.context->state();
  const auto inside = state.exclusive();
  return state.operations.is_complete(use_of(ticket));
}

}  // namespace

bool future::is_ready() const {
  if (is_complete(ticket_)) return true;
  detail::ContextState& state = ticket_.context->state();
  {
    const auto inside = state.exclusive();
    state.operations.begin("progress");
    const auto may_run = state.operations.continuations().allow();
    state.operations.messages().progress();
  }
  return is_complete(ticket_);
}

void future::wait_for_slot(CallSite site) const {
  detail::ContextState& state = ticket_.context->state();
  const auto inside = state.exclusive();
  state.operations.wait(use_of(ticket_), site);
}

void future::wait_source(CallSite site) const {
  if (ticket_.context == nullptr) return;
  detail::ContextState& state = ticket_.context->state();
  const auto inside = state.exclusive();
  state.operations.wait_source(use_of(ticket_), site);
}

bool detail::FutureState::settled(const future& operation) {
  return is_complete(operation.ticket());
}

void wait_all(std::span<const future> futures, CallSite site) {
  check_there("wait_all", futures, site);
  for (const future& one : futures) one.wait(site);
}

size_t wait_any(std::span<const future> futures, CallSite site) {
  check_there("wait_any", futures, site);
  Context* context = nullptr;
  size_t ready = futures.size();
  const auto find = [&] {
    for (size_t i = 0; i < futures.size() && ready == futures.size(); ++i) {
      if (is_complete(futures[i].ticket())) ready = i;
      context = futures[i].ticket().context;
    }
    return ready < futures.size();
  };
  if (!find() && context != nullptr) {
    detail::ContextState& state = context->state();
    const auto inside = state.exclusive();
    state.operations.begin("wait_any");
    state.job.activity().at("wait_any", site);
    const auto may_run = state.operations.continuations().allow();
    state.operations.messages().wait(find);
  }
  return ready;
}

}  // namespace stripline
