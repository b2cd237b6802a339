#include "runtime/loop/loop_state.h"

#include <cstdio>
#include <string>

namespace stripline::detail {

LoopState::LoopState(ContextState& context)
    : loads(context),
      pool(context.job.options().loop_buffer_bytes),
      cache(context, pool),
      compiled_(context.job.compiled()),
      caches_(context.job.options().data_cache) {}

LoopState& LoopState::of(ContextState& context) {
  return context.mechanisms.of<LoopState>(context);
}

BufferPool::Use LoopState::buffer_of(const ContextState& context, uint64_t bytes) {
  cache.give_up_old();
  BufferPool::Use use = pool.acquire(bytes);
  if (use.buffer() == nullptr) {
    context.fail(Error(ErrorCode::resource_exhausted,
                       "cannot allocate " + std::to_string(bytes) +
                           " bytes for the buffers of a loop; lower STRIPLINE_LOOP_BUFFERS"));
  }
  return use;
}

void LoopState::look(Context& context, Attention& attention) {
  if (look_time.known()) {
    context.state().operations.attend();
  } else {
    const double begun_s = context.now_s();
    context.state().operations.attend();
    look_time.note(context.now_s() - begun_s);
  }
  if (attention.times_steps()) attention.has_looked_at(context.now_s());
}

void LoopState::add_to(rma::MechanismReport& report) const {
  report.savings.add(sites.savings());
  report.savings.add(nest_sites.savings());
  report.kept = cache.statistics();
  report.kept.evicted = pool.statistics().evicted_regions;
}

void LoopState::say_in_order(const ContextState& context, const CallSite& call,
                             const access::Failure& obstacle) {
  if (said_in_order_) return;
  said_in_order_ = true;
  if (context.job.rank() != 0) return;
  std::fprintf(stderr,
               "stripline: the nest at %s:%d is carried out access by access, which is slow, as %s "
               "(--trace shows all such nests)\n",
               call.file == nullptr ? "?" : call.file, call.line, obstacle.text().c_str());
}

void LoopState::say_no_model(const ContextState& context) {
  if (said_no_model_) return;
  said_no_model_ = true;
  if (context.job.rank() != 0) return;
  if (context.job.model() == nullptr) {
    std::fprintf(stderr,
                 "stripline: no tuned model is loaded (--model, STRIPLINE_MODEL), so loops over "
                 "remote data make one blocking transfer each\n");
  } else {
    std::fprintf(
        stderr,
        "stripline: the tuned model '%s' does not describe the operations of a loop, which "
        "therefore makes one blocking transfer\n",
        context.job.model()->name.c_str());
  }
}

}  // namespace stripline::detail
