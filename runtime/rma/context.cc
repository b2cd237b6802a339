#include <cmath>
#include <string>

#include <stripline/context.h>
#include <stripline/progress.h>
#include <stripline/team.h>

#include "runtime/rma/context_state.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace {

using Kind = rma::CompletionSlots::Kind;
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
  return value;
}

// Refuses what no allocation can have.
Status check_size(rma::Call call, size_t bytes) {
  if (bytes != detail::kTooManyBytes) return {};
  return Error(ErrorCode::invalid_argument,
               text(call) + " of " + rma::byte_count_text(bytes) + "; the count is wrong");
}

}  // namespace

// --- joining and leaving -------------------------------------------------------------------------

Context::Context(std::unique_ptr<detail::ContextState> state)
    : state_(std::move(state)),
      rank_me_(state_->rank),
      rank_n_(state_->ranks),
      short_ranks_(state_->checked_bytes < kShort ? 0 : rank_n_),
      short_end_(short_ranks_ == 0 ? 0 : state_->checked_bytes - kShort),
      reachable_(state_->reachable.data()) {}

Context::~Context() {
  state_->progress_thread.reset();  // from here on, calls do it all
  if (state_->options.trace != "off") detail::report_choices(*this);
  state_->leave();
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

// --- memory --------------------------------------------------------------------------------------

Result<uint64_t> Context::allocate_symmetric(size_t bytes, CallSite site) {
  const rma::Call call("new_symmetric_array", site);
  const rma::CollectiveScope scope(
      *state_, "new_symmetric_array", site,
      state_->debug != nullptr ? (std::to_string(bytes) + " bytes of each rank").c_str() : nullptr);
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
  const uint64_t below = reduce_all(state_->local_heap.free_below(), ReduceOp::min);
  Result<uint64_t> offset = state_->heap.allocate(bytes, below);
  if (state_->debug != nullptr && offset.ok()) state_->debug->allocated(*offset, bytes, site);
  return offset;
}

void Context::free_symmetric(uint64_t offset, CallSite site) {
  const rma::CollectiveScope scope(
      *state_, "delete_symmetric_array", site,
      state_->debug != nullptr ? ("offset " + std::to_string(offset)).c_str() : nullptr);
  // Nobody may still be using it when the next allocation hands it out again.
  barrier(site);
  const Status freed = state_->heap.free(offset);
  if (!freed.ok()) state_->fail(freed.error());
  if (state_->debug != nullptr) state_->debug->freed(offset, site);
}

Result<uint64_t> Context::allocate_local_bytes(size_t bytes, CallSite site) {
  const auto inside = state_->exclusive();
  STRIPLINE_RETURN_IF_ERROR(check_size({"allocate_local", site}, bytes));
  Result<uint64_t> offset = state_->local_heap.allocate(bytes, state_->heap.end());
  if (state_->debug != nullptr && offset.ok()) state_->debug->allocated_local(*offset, bytes, site);
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
  const Status freed = state_->local_heap.free(array.offset());
  if (!freed.ok()) state_->fail(freed.error());
  if (state_->debug != nullptr) state_->debug->freed_local(array.offset(), site);
}

global_ptr<std::byte> Context::find_global(const std::byte* object) const {
  const auto address = reinterpret_cast<uintptr_t>(object);
  const auto in = [&](rank_t rank) {
    const auto begin = reinterpret_cast<uintptr_t>(reachable_[rank]);
    return begin != 0 && address >= begin && address - begin < state_->segment.size();
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

// --- active messages -----------------------------------------------------------------------------

uint32_t Context::register_am(AmHandler handler, CallSite site) {
  const auto inside = state_->exclusive();
  const rma::CollectiveScope scope(*state_, "register_am", site);
  const uint32_t id = state_->messages.register_handler(std::move(handler));
  barrier(site);
  return id;
}

void Context::am_send(rank_t target, uint32_t handler, std::span<const std::byte> payload,
                      CallSite site) {
  rma::Operation operation(*this, {"am_send", site}, target, payload.size());
  state_->operation.start("am_send", target, payload.size());
  if (!state_->messages.handlers().is_of_program(handler)) {
    state_->fail(Error(ErrorCode::invalid_argument, rma::text({"am_send", site}) + ": no handler " +
                                                        std::to_string(handler) +
                                                        " is registered"));
  }
  state_->messages.send(target, handler, payload, {});
  operation.finish_without_future();
}

double Context::service_delay(rank_t target) const {
  const auto inside = state_->exclusive();
  state_->check_target("service_delay", target);
  return state_->messages.service_delay_s(target);
}

size_t Context::am_max_bytes() const { return state_->messages.max_payload_bytes(); }

// Each rank says how many messages it has sent and handled, at a moment of its own. That the sums
// are equal proves nothing: a message that was counted where it arrived may have caused another
// that is counted nowhere. If a second round, which no rank begins before all have ended the first
// one, finds the same, then nothing happened in between.
void Context::am_quiesce(CallSite site) {
  const auto inside = state_->exclusive();
  state_->enter("am_quiesce");
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
    progress();  // a rank that is alone waits for nobody in the reduction
    const Counts mine{.sent = state_->messages.program_messages(),
                      .handled = state_->messages.program_handlers(),
                      .waiting = state_->continuations.idle() ? 0U : 1U};
    const Counts now = all.allreduce(mine, [](const Counts& a, const Counts& b) {
      return Counts{a.sent + b.sent, a.handled + b.handled, a.waiting + b.waiting};
    });
    if (now.sent == now.handled && now.waiting == 0 && now == before) return;
    before = now;
  }
}

// --- synchronisation and collectives -------------------------------------------------------------

void Context::barrier(CallSite site) {
  const auto inside = state_->exclusive();
  state_->enter("barrier");
  state_->complete_puts();
  const rma::CollectiveScope scope(*state_, "barrier", site);
  state_->operation = "barrier";
  state_->groups.world().barrier.wait(sync::Collective::barrier);
}

future Context::barrier_async(CallSite site) { return start_barrier(state_->groups.world(), site); }

future Context::start_barrier(sync::Group& group, CallSite site) {
  detail::ContextState& state = *state_;
  const auto inside = state.exclusive();
  state.enter("barrier_async");
  state.complete_puts();
  rma::CollectiveScope scope(state, "barrier", site);
  scope.returns_early();
  const uint32_t slot = state.acquire_slot(Kind::collective);
  fabric::Counter& counter = state.slots.counter(slot);
  state.operation = "barrier_async";
  group.barrier.begin(sync::Collective::barrier, counter);
  if (counter.pending == 0) {
    state.slots.release(slot);
    return {};
  }
  return {this, slot, state.slots.generation(slot)};
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

// --- progress and time ---------------------------------------------------------------------------

void Context::progress() {
  const auto inside = state_->exclusive();
  make_progress();
  if (state_->debug != nullptr) [[unlikely]]
    state_->debug->learnt();
}

void Context::make_progress() {
  const auto inside = state_->exclusive();
  state_->enter("progress");
  const auto may_run = state_->continuations.allow();
  state_->messages.progress();
}

double Context::now_s() { return state_->fabric->now_s(); }

bool Context::wait_until(const std::function<bool()>& condition, double timeout_s) {
  const auto inside = state_->exclusive();
  state_->enter("wait_until");
  const auto may_run = state_->continuations.allow();
  const double deadline_s = std::isinf(timeout_s) ? timeout_s : now_s() + timeout_s;
  const bool holds = state_->messages.wait(condition, deadline_s);
  if (state_->debug != nullptr) [[unlikely]]
    state_->debug->learnt();
  return holds;
}

handlers_paused::handlers_paused(Context& context) : context_(context) {
  context_.state().exclusion.hold();
}

handlers_paused::~handlers_paused() { context_.state().exclusion.release(); }

void Context::compute_for(double seconds) { state_->fabric->compute_for(seconds); }

Work* Context::work() { return state_->fabric->work(); }

}  // namespace stripline
