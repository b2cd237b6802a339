#include "runtime/loop/loop_state.h"

#include <cstdio>
#include <string>

#include "base/quantity.h"
#include "runtime/rma/model_use.h"

namespace stripline::detail {

LoopState::LoopState(ContextState& context)
    : loads(context),
      pool(context.options.loop_buffer_bytes),
      cache(context, pool),
      compiled_(context.compiled),
      caches_(context.options.data_cache) {}

LoopState& LoopState::of(ContextState& context) {
  if (context.loop == nullptr) context.loop = std::make_unique<LoopState>(context);
  return static_cast<LoopState&>(*context.loop);
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
    context.state().attend();
  } else {
    const double begun_s = context.now_s();
    context.state().attend();
    look_time.note(context.now_s() - begun_s);
  }
  if (attention.times_steps()) attention.has_looked_at(context.now_s());
}

decide::Savings LoopState::savings() const {
  decide::Savings all = sites.savings();
  all.add(nest_sites.savings());
  return all;
}

void report_choices(Context& context) {
  // A rank that is elsewhere is told that others are at the end, rather than in a sum.
  context.state().operation = "leaving the job";
  context.state().groups.world().barrier.wait(sync::Collective::leave);
  const LoopState& loops = LoopState::of(context.state());
  const auto sum = [&](double value) { return context.reduce_all(value, Context::ReduceOp::sum); };
  const auto of_all_ranks = [&](const decide::Savings& own) {
    return decide::Savings{sum(own.actual_s), sum(own.baseline_s), sum(own.squared_error),
                           sum(own.sites),    sum(own.demoted),    sum(own.checks)};
  };
  const decide::Savings all = of_all_ranks(loops.savings());
  const auto& run_guard = context.state().run_guard;
  const decide::Savings of_iterations =
      of_all_ranks(run_guard != nullptr ? run_guard->savings() : decide::Savings());
  const auto total = [&](uint64_t value) {
    return context.reduce_all(value, Context::ReduceOp::sum);
  };
  const DataCache::Statistics& kept = loops.cache.statistics();
  const DataCache::Statistics of_all{total(kept.kept), total(kept.hits), total(kept.served_bytes),
                                     total(kept.synchronised), total(kept.overwritten)};
  const uint64_t evicted = total(loops.pool.statistics().evicted_regions);
  if (context.rank_me() != 0) return;
  if (decide::Trace* const trace = context.state().trace.get(); trace != nullptr) {
    context.state().call_trace.end(context.state());
    std::fprintf(
        stderr,
        "stripline: loops, nests, stages of sweeps and transfers of many regions of rank "
        "0, times of one execution:\n%s",
        trace->empty() ? rma::nothing_traced_text(context.state()).c_str() : trace->text().c_str());
    const double traced_s = context.now_s() - context.state().trace_begun_s;
    if (const std::string text = context.state().operations.text(traced_s); !text.empty()) {
      std::fprintf(stderr, "stripline: operations of rank 0 one by one, of %s:\n%s",
                   seconds_text(traced_s).c_str(), text.c_str());
    }
  }
  std::fprintf(stderr, "stripline: %s\n", savings_text(all).c_str());
  if (const std::string text = iterations_text(of_iterations); !text.empty()) {
    std::fprintf(stderr, "stripline: %s\n", text.c_str());
  }
  if (contradict(all, of_iterations)) {
    std::fprintf(stderr,
                 "stripline: iterations decide, where they repeat: the time of a loop by itself "
                 "leaves out what it saves or costs elsewhere, and is only reported\n");
  }
  if (of_all.kept > 0) {
    std::fprintf(stderr, "stripline: %s\n", data_cache_text(of_all, evicted).c_str());
  }
}

void LoopState::say_in_order(const ContextState& context, const CallSite& call,
                             const access::Failure& obstacle) {
  if (said_in_order_) return;
  said_in_order_ = true;
  if (context.rank != 0) return;
  std::fprintf(stderr,
               "stripline: the nest at %s:%d is carried out access by access, which is slow, as %s "
               "(--trace shows all such nests)\n",
               call.file == nullptr ? "?" : call.file, call.line, obstacle.text().c_str());
}

void LoopState::say_no_model(const ContextState& context) {
  if (said_no_model_) return;
  said_no_model_ = true;
  if (context.rank != 0) return;
  if (context.model == nullptr) {
    std::fprintf(stderr,
                 "stripline: no tuned model is loaded (--model, STRIPLINE_MODEL), so loops over "
                 "remote data make one blocking transfer each\n");
  } else {
    std::fprintf(
        stderr,
        "stripline: the tuned model '%s' does not describe the operations of a loop, which "
        "therefore makes one blocking transfer\n",
        context.model->name.c_str());
  }
}

}  // namespace stripline::detail
