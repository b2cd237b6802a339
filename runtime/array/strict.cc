#include <string>

#include <stripline/strict.h>

#include "runtime/rma/context_state.h"

namespace stripline {

void strict_fence(Context& context) {
  detail::ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.enter("strict access");
  state.complete_puts();
  state.complete_all(rma::CompletionSlots::Kind::get);
  // Whoever polls an own variable needs the peers' messages to be served.
  state.messages.progress();
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void detail::before_strict(Context& context, rank_t target, uint64_t offset, size_t bytes) {
  ContextState& state = context.state();
  const auto inside = state.exclusive();
  state.check("strict access", target, offset, bytes);
  if (offset % bytes != 0) {
    state.operation = "strict access";
    state.fail(Error(ErrorCode::invalid_argument, "a strict access of " + std::to_string(bytes) +
                                                      " bytes at offset " + std::to_string(offset) +
                                                      " of rank " + std::to_string(target) +
                                                      ", which is not a multiple of its size"));
  }
  strict_fence(context);
}

}  // namespace stripline
