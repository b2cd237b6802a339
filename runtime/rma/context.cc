#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <stripline/context.h>
#include <stripline/progress.h>
#include <stripline/team.h>

#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace {

template <typename T>
T reduce_all_in_order(Context& context, T value, Context::ReduceOp op, CallSite site) {
  const team all = team::world(context);
  switch (op) {
    case Context::ReduceOp::sum:
      return all.allreduce(value, op_add{}, collective_algorithm::in_order, site);
    case Context::ReduceOp::min:
      return all.allreduce(value, op_min{}, collective_algorithm::in_order, site);
    case Context::ReduceOp::max:
      return all.allreduce(value, op_max{}, collective_algorithm::in_order, site);
  }
  context.state().fail(Error(ErrorCode::invalid_argument, text(rma::Call("reduce_all", site)) +
                                                              " by operator " +
                                                              std::to_string(static_cast<int>(op)) +
                                                              ", which ReduceOp does not have"));
}

// Refuses what no allocation can have.
Status check_size(rma::Call call, size_t bytes) {
  if (bytes != detail::kTooManyBytes) return {};
  return Error(ErrorCode::invalid_argument,
               text(call) + " of " + rma::byte_count_text(bytes) + "; the count is wrong");
}

}  // namespace

Context::Context(std::unique_ptr<detail::ContextState> state)
    : state_(std::move(state)),
      rank_me_(state_->job.rank()),
      rank_n_(state_->job.ranks()),
      short_ranks_(state_->memory.checked_bytes() < kShort ? 0 : rank_n_),
      short_end_(short_ranks_ == 0 ? 0 : state_->memory.checked_bytes() - kShort),
      reachable_(state_->memory.reachable()) {}

Context::~Context() {
  if (state_->job.in_child()) {
    // A copy of what the parent has, who would notice how it ends: connections that are shut down,
    // shared memory, its leaving. It stays as it is until the process has gone.
    static std::vector<detail::ContextState*>& kept = *new std::vector<detail::ContextState*>;
    kept.push_back(state_.release());
    return;
  }
  state_->leave(*this);
  state_->job.life()->end();
}

Result<std::unique_ptr<Context>> Context::init() {
  STRIPLINE_ASSIGN_OR_RETURN(auto job, bootstrap::from_environment());
  const auto options = Options::from_environment();
  if (!options.ok()) return detail::ContextState::refuse(*job, options.error());
  return detail::ContextState::join(*options, std::move(job));
}

Result<std::unique_ptr<Context>> Context::init(thread_mode threads) {
  STRIPLINE_ASSIGN_OR_RETURN(auto job, bootstrap::from_environment());
  auto options = Options::from_environment();
  if (!options.ok()) return detail::ContextState::refuse(*job, options.error());
  options->threads = threads;
  return detail::ContextState::join(*options, std::move(job));
}

Result<std::unique_ptr<Context>> Context::init(const Options& options) {
  STRIPLINE_ASSIGN_OR_RETURN(auto job, bootstrap::from_environment());
  return detail::ContextState::join(options, std::move(job));
}

Result<uint64_t> Context::allocate_symmetric(size_t bytes, CallSite site) {
  const rma::Call call("new_symmetric_array", site);
  rma::DebugChecks* const debug = state_->job.observers().debug();
  const rma::CollectiveScope scope(
      *state_, "new_symmetric_array", site,
      debug != nullptr ? (std::to_string(bytes) + " bytes of each rank").c_str() : nullptr);
  // The offsets agree only if the requests do; a disagreement would corrupt data much later.
  const uint64_t requested_by_root = broadcast(uint64_t{bytes}, 0, site);
  if (requested_by_root != bytes) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(call) + " of " + rma::byte_count_text(bytes) +
                           ", but rank 0 asks for " + rma::byte_count_text(requested_by_root) +
                           "; symmetric arrays have the same size on every rank"));
  }
  STRIPLINE_RETURN_IF_ERROR(check_size(call, bytes));
  // Where others have memory of their own, differs between ranks; the outcome must not.
  const uint64_t below = reduce_all(state_->memory.local_heap().free_below(), ReduceOp::min);
  Result<uint64_t> offset = state_->memory.heap().allocate(bytes, below);
  if (debug != nullptr && offset.ok()) debug->allocated(*offset, bytes, site);
  return offset;
}

void Context::free_symmetric(uint64_t offset, CallSite site) {
  const auto inside = state_->exclusive();
  rma::DebugChecks* const debug = state_->job.observers().debug();
  const rma::CollectiveScope scope(
      *state_, "delete_symmetric_array", site,
      debug != nullptr ? ("offset " + std::to_string(offset)).c_str() : nullptr);
  // No operation may still be using it when the next allocation hands it out again: neither what
  // the program would have to complete first, nor a get whose future it has dropped.
  state_->mechanisms.check_free({"delete_symmetric_array", site}, offset,
                                state_->memory.heap().size_of(offset));
  state_->operations.complete_all(rma::Operations::Kind::get);
  barrier(site);
  const Status freed = state_->memory.heap().free(offset);
  if (!freed.ok()) {
    const rma::Call call("delete_symmetric_array", site);
    state_->fail(Error(freed.error().code(), text(call) + ": " + freed.error().message()));
  }
  if (debug != nullptr) debug->freed(offset, site);
}

Result<uint64_t> Context::allocate_local_bytes(size_t bytes, CallSite site) {
  const auto inside = state_->exclusive();
  STRIPLINE_RETURN_IF_ERROR(check_size({"allocate_local", site}, bytes));
  Result<uint64_t> offset =
      state_->memory.local_heap().allocate(bytes, state_->memory.heap().end());
  rma::DebugChecks* const debug = state_->job.observers().debug();
  if (debug != nullptr && offset.ok()) debug->allocated_local(*offset, bytes, site);
  return offset;
}

void Context::free_local(uint64_t word, CallSite site) {
  const auto inside = state_->exclusive();
  const auto array = global_ptr<std::byte>::from_word(word);
  if (array.is_null()) return;
  if (array.where() != rank_me_) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       "deallocate_local of memory of rank " + std::to_string(array.where()) +
                           "; the rank that has allocated it gives it back"));
  }
  const Status freed = state_->memory.local_heap().free(array.offset());
  if (!freed.ok()) state_->fail(freed.error());
  if (rma::DebugChecks* const debug = state_->job.observers().debug()) {
    debug->freed_local(array.offset(), site);
  }
}

std::byte* Context::local_closely(global_ptr<const std::byte> place, CallSite site) const {
  return state_->memory.local({"local", site}, place);
}

global_ptr<std::byte> Context::find_global(const std::byte* object) const {
  const auto address = reinterpret_cast<uintptr_t>(object);
  const auto in = [&](rank_t rank) {
    const auto begin = reinterpret_cast<uintptr_t>(reachable_[rank]);
    return begin != 0 && address >= begin && address - begin < state_->memory.segment().size();
  };
  const auto pointer = [&](rank_t rank) {
    return global_ptr<std::byte>(rank, address - reinterpret_cast<uintptr_t>(reachable_[rank]));
  };
  if (in(rank_me_)) return pointer(rank_me_);
  for (rank_t rank = 0; rank < rank_n_; ++rank) {
    if (in(rank)) return pointer(rank);
  }
  return {};
}

uint32_t Context::register_am(AmHandler handler, CallSite site) {
  const auto inside = state_->exclusive();
  const rma::CollectiveScope scope(*state_, "register_am", site);
  if (!handler) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       rma::text({"register_am", site}) +
                           ": the handler is an empty std::function; give it one to call when a "
                           "message arrives"));
  }
  const uint32_t id = state_->operations.messages().register_handler(std::move(handler));
  barrier(site);
  return id;
}

void Context::am_send(rank_t target, uint32_t handler, std::span<const std::byte> payload,
                      CallSite site) {
  const rma::Call call("am_send", site);
  rma::check_private(*state_, call, payload.data(), payload.size());
  rma::Operation operation(*this, call, target, payload.size());
  state_->job.activity().start("am_send", target, payload.size());
  if (!state_->operations.messages().handlers().is_of_program(handler)) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(call) + ": no handler " + std::to_string(handler) + " is registered"));
  }
  state_->operations.messages().send(target, handler, payload, {});
  operation.finish_without_future();
}

double Context::service_delay(rank_t target) const {
  const auto inside = state_->exclusive();
  state_->memory.check_target("service_delay", target);
  return state_->operations.messages().service_delay_s(target);
}

size_t Context::am_max_bytes() const { return state_->operations.messages().max_payload_bytes(); }

// Each rank says how many messages it has sent and handled, at a moment of its own. That the sums
// are equal proves nothing: a message that was counted where it arrived may have caused another
// that is counted nowhere. If a second round, which no rank begins before all have ended the first
// one, finds the same, then nothing happened in between.
void Context::am_quiesce(CallSite site) {
  const auto inside = state_->exclusive();
  state_->operations.enter("am_quiesce");
  const rma::CollectiveScope scope(*state_, "am_quiesce", site);
  struct Counts {
    uint64_t sent = 0;
    uint64_t handled = 0;
    uint64_t waiting = 0;  // ranks where something is to follow
    bool operator==(const Counts&) const = default;
  };
  const team all = team::world(*this);
  Counts before{.sent = 0, .handled = 1};
  while (true) {
    progress();  // a rank that is alone waits for no one in the reduction
    const Counts mine{.sent = state_->operations.messages().program_messages(),
                      .handled = state_->operations.messages().program_handlers(),
                      .waiting = state_->operations.continuations().idle() ? 0U : 1U};
    const Counts now = all.allreduce(mine, [](const Counts& a, const Counts& b) {
      return Counts{a.sent + b.sent, a.handled + b.handled, a.waiting + b.waiting};
    });
    if (now.sent == now.handled && now.waiting == 0 && now == before) return;
    before = now;
  }
}

void Context::barrier(CallSite site) {
  const auto inside = state_->exclusive();
  state_->operations.enter("barrier");
  state_->operations.complete_puts();
  const rma::CollectiveScope scope(*state_, "barrier", site);
  state_->job.activity() = "barrier";
  sync::Barrier& barrier = state_->mechanisms.groups().world().barrier;
  rma::UnfinishedCalls* const unfinished = state_->operations.unfinished();
  if (unfinished == nullptr) return barrier.wait(sync::Collective::barrier);
  fabric::Counter arrivals;
  barrier.begin(sync::Collective::barrier, arrivals);
  unfinished->arrived();
  state_->operations.messages().wait([&arrivals] { return arrivals.pending == 0; });
  unfinished->synchronised(site);
}

future Context::barrier_async(CallSite site) {
  return state_->start_barrier(*this, state_->mechanisms.groups().world(), site);
}

void Context::broadcast(std::span<std::byte> bytes, rank_t root, CallSite site) {
  team::world(*this).broadcast(bytes, root, collective_algorithm::automatic, site);
}

double Context::reduce_all(double value, ReduceOp op, CallSite site) {
  return reduce_all_in_order(*this, value, op, site);
}

uint64_t Context::reduce_all(uint64_t value, ReduceOp op, CallSite site) {
  return reduce_all_in_order(*this, value, op, site);
}

void Context::progress() {
  const auto inside = state_->exclusive();
  state_->operations.acquire();  // programs poll their own memory so, and tell no one anything
  state_->operations.begin("progress");
  {
    const auto may_run = state_->operations.continuations().allow();
    state_->operations.messages().progress();
  }
  state_->job.observers().tell(&rma::Observer::learnt);
}

double Context::now_s() {
  state_->job.check_process();
  return state_->job.fabric().now_s();
}

bool Context::wait_until(const std::function<bool()>& condition, double timeout_s, CallSite site) {
  const auto inside = state_->exclusive();
  state_->operations.enter("wait_until");
  state_->job.activity().at("wait_until", site);
  const rma::Call call("wait_until", site);
  if (!condition) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(call) + ": the condition is an empty std::function; give it one that "
                                    "says when the wait is over"));
  }
  if (std::isnan(timeout_s)) {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(call) + " for a time that is not a number; give it seconds, or "
                                    "infinity to wait for the condition alone"));
  }
  const auto may_run = state_->operations.continuations().allow();
  const double deadline_s = std::isinf(timeout_s) ? timeout_s : now_s() + timeout_s;
  const bool holds = state_->operations.messages().wait(condition, deadline_s);
  state_->job.observers().tell(&rma::Observer::learnt);
  return holds;
}

handlers_paused::handlers_paused(Context& context) : context_(context) {
  context_.state().job.exclusion().hold();
}

handlers_paused::~handlers_paused() { context_.state().job.exclusion().release(); }

void Context::compute_for(double seconds, CallSite site) {
  state_->job.check_process();
  // A virtual clock that goes back, or is at no time, is not one that others can wait for.
  if (!(seconds >= 0 && seconds < std::numeric_limits<double>::infinity())) [[unlikely]] {
    state_->fail(Error(ErrorCode::invalid_argument,
                       text(rma::Call("compute_for", site)) + " of " + std::to_string(seconds) +
                           " s; a computation takes a finite time, which is not negative"));
  }
  state_->job.fabric().compute_for(seconds);
}

Work* Context::work() { return state_->job.fabric().work(); }

}  // namespace stripline
