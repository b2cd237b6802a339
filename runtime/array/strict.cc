#include <stripline/strict.h>

#include "runtime/rma/context_state.h"

namespace stripline {

void strict_fence(Context& context) {
  detail::ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.operations.enter("strict access");
  state.operations.complete_puts();
  state.operations.complete_all(rma::CompletionSlots::Kind::get);
  // Whoever polls an own variable needs the peers' messages to be served.
  state.operations.messages().progress();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void detail::before_strict(Context& context, rank_t target, uint64_t offset, size_t bytes,
                           CallSite site) {
  const rma::Call call("strict access", site);
  ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.operations.check(call, target, offset, bytes);
  state.memory.check_alignment(call, target, offset, bytes);
  strict_fence(context);
}

}  // namespace stripline
