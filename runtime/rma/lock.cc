#include <atomic>
#include <string>
#include <utility>

#include <stripline/lock.h>

#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

// The place of operations inside of a lock: its caller is mostly a std::lock_guard, whose place
// says nothing.
constexpr CallSite kNoPlace{};

}  // namespace

Result<global_lock> global_lock::create(Context& context, rank_t home, CallSite site) {
  if (home >= context.rank_n()) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, "global_lock with home rank " + std::to_string(home) +
                                               ", but the job has ranks 0 to " +
                                               std::to_string(context.rank_n() - 1)));
  }
  if (const rank_t first = context.broadcast(home, 0, site); first != home) {
    context.state().fail(
        Error(ErrorCode::invalid_argument, "global_lock with home rank " + std::to_string(home) +
                                               ", but rank 0 names " + std::to_string(first) +
                                               "; a lock has one home"));
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto words, context.new_symmetric_array<uint64_t>(kWords, site));
  *context.local(words + kTail) = 0;
  global_lock made(context, home, words);
  context.barrier(site);
  return made;
}

global_lock::global_lock(Context& context, rank_t home, global_ptr<uint64_t> words)
    : context_(&context),
      words_(words),
      tail_(context.on_rank(words, home) + kTail),
      domain_(context) {}

global_lock::global_lock(global_lock&& other) noexcept
    : context_(std::exchange(other.context_, nullptr)),
      words_(other.words_),
      tail_(other.tail_),
      domain_(other.domain_),
      held_(std::exchange(other.held_, false)) {}

global_lock::~global_lock() {
  if (context_ == nullptr || context_->state().job.in_child()) return;
  const auto inside = context_->state().exclusive();
  begin("destruction of a global_lock", false);
  context_->delete_symmetric_array(words_);
}

// Enters the call; the lock must be held, or must not be.
void global_lock::begin(const char* name, bool held) const {
  detail::ContextState& state = context_->state();
  held ? state.operations.begin(name) : state.operations.enter(name);  // a lock is an acquire
  if (held_ == held) return;
  state.fail(Error(ErrorCode::invalid_argument,
                   std::string(name) + (held ? ", which this rank does not hold"
                                             : ", which this rank still holds; unlock it first")));
}

void global_lock::raise(rank_t rank, std::ptrdiff_t word, uint64_t value) const {
  const global_ptr<uint64_t> flag = context_->on_rank(words_, rank) + word;
  context_->rput_signal<uint64_t>(nullptr, flag, 0, flag, value, kNoPlace);
}

void global_lock::lock() {
  if (context_ == nullptr) detail::fail_moved_from("global_lock::lock");
  const auto inside = context_->state().exclusive();
  begin("lock of a global_lock", false);
  const rank_t me = context_->rank_me();
  // No one writes to them before this rank is in the queue.
  *context_->local(words_ + kNext) = 0;
  *context_->local(words_ + kGranted) = 0;
  const uint64_t before = domain_.swap(tail_, uint64_t{me} + 1, kNoPlace);
  if (before != 0) {
    raise(static_cast<rank_t>(before - 1), kNext, uint64_t{me} + 1);
    context_->state().operations.wait_for_flag("lock of a global_lock",
                                               *context_->local(words_ + kGranted), 1);
  }
  held_ = true;
}

bool global_lock::try_lock() {
  if (context_ == nullptr) detail::fail_moved_from("global_lock::try_lock");
  const auto inside = context_->state().exclusive();
  begin("try_lock of a global_lock", false);
  *context_->local(words_ + kNext) = 0;
  held_ = domain_.compare_swap(tail_, 0, uint64_t{context_->rank_me()} + 1, kNoPlace) == 0;
  // A holder may need this rank's service to come to its end, and memory in reach needs no
  // progress.
  if (!held_) context_->state().operations.messages().progress();
  return held_;
}

void global_lock::unlock() {
  if (context_ == nullptr) detail::fail_moved_from("global_lock::unlock");
  const auto inside = context_->state().exclusive();
  begin("unlock of a global_lock", true);
  context_->state().operations.complete_puts();
  held_ = false;
  const uint64_t me = uint64_t{context_->rank_me()} + 1;
  const global_ptr<uint64_t> next = words_ + kNext;
  // Without a successor in sight the lock may be free; else the one that has come says so soon.
  if (std::atomic_ref(*context_->local(next)).load(std::memory_order_acquire) == 0 &&
      domain_.compare_swap(tail_, me, 0, kNoPlace) == me) {
    return;
  }
  const uint64_t successor = context_->state().operations.wait_for_flag("unlock of a global_lock",
                                                                        *context_->local(next), 1);
  raise(static_cast<rank_t>(successor - 1), kGranted, 1);
}

}  // namespace stripline
