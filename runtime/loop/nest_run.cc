// The public side of nests.
#include <string>

#include <stripline/nest.h>

#include "runtime/loop/loop_state.h"
#include "runtime/loop/nest_engine.h"
#include "runtime/rma/call.h"

namespace stripline::detail {

using access::Reference;

void fail_for_pieces(Context& context, CallSite site, size_t pieces, size_t iterations) {
  context.state().fail(
      Error(ErrorCode::invalid_argument,
            text(rma::Call("for_nest", site)) + " by a loop of " + std::to_string(iterations) +
                " iterations with a distributed array of " + std::to_string(pieces) +
                " pieces; give it as many, or fewer iterations"));
}

void fail_nest(Context& context, CallSite site, const char* what) {
  context.state().fail(
      Error(ErrorCode::invalid_argument, text(rma::Call("for_nest", site)) + ": " + what));
}

NestRun::NestRun(Context& context, const access::Nest& nest, const NestOptions& options,
                 CallSite site)
    : context_(context), engine_(LoopState::of(context.state()).nests.enter(context)) {
  const auto inside = context.state().exclusive();
  engine_.begin(nest, options, site);
  if (context.state().job.fabric().work() != nullptr) declare_iteration(nest, options.loop);
}

NestRun::~NestRun() {
  if (context_.state().job.in_child()) return;
  const auto inside = context_.state().exclusive();
  engine_.end();
  LoopState::of(context_.state()).nests.leave();
}

const NestTile* NestRun::next() {
  const auto inside = context_.state().exclusive();
  const NestTile* const tile = engine_.next();
  if (Work* const work = context_.state().job.fabric().work(); work != nullptr && tile != nullptr) {
    const auto iterations = static_cast<double>(engine_.iterations(*tile));
    work->compute(iterations * iteration_.flops, iterations * iteration_.bytes);
  }
  return tile;
}

// What the body takes from elsewhere than its accesses is taken for being in a cache.
void NestRun::declare_iteration(const access::Nest& nest, const cost::LoopClass& loop) {
  iteration_.flops = loop.n_fp_alu + loop.n_int_alu + loop.n_div;
  for (const Reference& reference : nest.reference) {
    const double accesses = reference.mode == access::Mode::update ? 2 : 1;
    iteration_.bytes += accesses * static_cast<double>(reference.element_bytes);
  }
}

const NestPlan& NestRun::plan() const { return engine_.plan(); }

}  // namespace stripline::detail
