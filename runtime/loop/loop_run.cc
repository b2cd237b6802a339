// The public side of loops over strips.
#include <stripline/loop.h>

#include "runtime/loop/loop_engine.h"
#include "runtime/loop/loop_state.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

void begin_local_loop(Context& context, rank_t rank, uint64_t offset, uint64_t bytes,
                      CallSite site) {
  ContextState& state = context.state();
  if (rank == state.job.rank()) {
    state.memory.check({"loop", site}, rank, offset, bytes);
    return;
  }
  const auto inside = state.exclusive();
  state.operations.check({"loop", site}, rank, offset, bytes);
  state.operations.make_progress();
}

LoopRun::LoopRun(Context& context, plan::Direction direction, const LoopBlocks& blocks,
                 size_t element_bytes, const LoopOptions& options, CallSite site)
    : context_(context), engine_(LoopState::of(context.state()).loops.enter(context)) {
  const auto inside = context.state().exclusive();
  engine_.begin(direction, blocks, element_bytes, options, site);
}

LoopRun::~LoopRun() {
  if (context_.state().job.in_child()) return;
  const auto inside = context_.state().exclusive();
  engine_.end();
  LoopState::of(context_.state()).loops.leave();
}

const Strip* LoopRun::next() {
  const auto inside = context_.state().exclusive();
  return engine_.next();
}

const plan::StripPlan& LoopRun::plan() const { return engine_.plan(); }

}  // namespace stripline::detail
