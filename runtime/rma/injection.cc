#include "runtime/rma/injection.h"

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include <stripline/injection.h>

#include "runtime/fabric/atomic_apply.h"
#include "runtime/rma/operation.h"

namespace stripline {
namespace detail {

Injection::Injection(Context& context, std::unique_ptr<rma::InjectionQueue> queue,
                     std::string why_shared)
    : context_(context),
      state_(context.state()),
      life_(state_.job.life()),
      observed_(state_.memory.checked_bytes() == 0),
      queue_(std::move(queue)),
      why_shared_(std::move(why_shared)),
      shared_(state_.job.ranks()) {}

Injection::~Injection() {
  if (life_->in_child()) {
    // A copy of what the parent has, who would notice how it ends.
    static std::vector<rma::InjectionQueue*>& kept = *new std::vector<rma::InjectionQueue*>;
    if (queue_ != nullptr) kept.push_back(queue_.release());
  } else if (!life_->is_over()) {
    fence({});
  }
}

// Ends the process if the Context has gone, and the job in handlers. Another thread's handlers do
// not count: whether one runs is known to the thread that is inside of the Context.
void Injection::check(const rma::Call& call) const {
  life_->check(call);
  if (state_.job.exclusion().is_inside_here() && state_.operations.messages().in_handler())
      [[unlikely]] {
    state_.operations.fail_in_handler(call.name, call.site());
  }
}

void Injection::get(const rma::Call& call, global_ptr<const std::byte> source,
                    std::byte* destination, size_t bytes) {
  check(call);
  if (observed_) [[unlikely]]
    return context_.rget_nbi(source, destination, bytes, call.site());
  const rank_t target = source.where();
  const uint64_t offset = source.offset();
  state_.memory.check(call, target, offset, bytes);
  rma::check_private(state_, call, destination, bytes);
  if (const std::byte* const there = state_.memory.reachable(target); there != nullptr) {
    state_.memory.copy_here(destination, there + offset, bytes);
  } else if (bytes == 0) {
    return;
  } else if (queue_ != nullptr) {
    queue_->get(destination, target, offset, bytes);
  } else {
    const auto inside = state_.exclusive();
    state_.operations.check(call, target, offset, bytes, rma::Access::get);
    state_.operations.start_get_implicit(destination, target, offset, bytes, shared_);
    uses_shared_ = true;
  }
}

void Injection::put(const rma::Call& call, const std::byte* source,
                    global_ptr<std::byte> destination, size_t bytes) {
  check(call);
  if (observed_) [[unlikely]]
    return context_.rput_nbi(source, destination, bytes, call.site());
  const rank_t target = destination.where();
  const uint64_t offset = destination.offset();
  state_.memory.check(call, target, offset, bytes);
  rma::check_private(state_, call, source, bytes);
  if (std::byte* const there = state_.memory.reachable(target); there != nullptr) {
    state_.memory.copy_here(there + offset, source, bytes);
  } else if (bytes == 0) {
    return;
  } else if (queue_ != nullptr) {
    queue_->put(target, offset, source, bytes);
  } else {
    const auto inside = state_.exclusive();
    state_.operations.check(call, target, offset, bytes, rma::Access::put);
    state_.operations.start_put_implicit(target, offset, source, bytes, shared_);
    uses_shared_ = true;
  }
}

void Injection::atomic(const rma::Call& call, const AtomicDomain& domain,
                       const fabric::AtomicRequest& request, global_ptr<std::byte> variable,
                       void* previous) {
  check(call);
  rma::check_result(state_, call, request.op, previous);
  if (observed_) [[unlikely]]
    return domain
        .start(request.op, variable, request.operand, request.expected, previous, call.site())
        .wait(call.site());
  const rank_t target = variable.where();
  const uint64_t offset = variable.offset();
  const size_t bytes = bytes_of(request.type);
  state_.memory.check(call, target, offset, bytes);
  state_.memory.check_alignment(call, target, offset, bytes);
  const bool by_message = domain.path() == AtomicPath::message;
  std::byte* const there = state_.memory.reachable(target);
  if (by_message && there != nullptr) {
    fabric::apply_atomic(request, there + offset, previous);
  } else if (!by_message && queue_ != nullptr && queue_->has_atomics_on(target)) {
    queue_->atomic(request, target, offset, previous);
  } else {
    const auto inside = state_.exclusive();
    state_.operations.check(call, target, offset, bytes, rma::Access::atomic);
    if (request.op != AtomicOp::load && there == nullptr) {
      state_.memory.keepers().stored(target, offset, bytes);
    }
    fabric::Counter& counter = shared_.counter(target);
    by_message ? state_.operations.owner().atomic(request, target, offset, previous, counter)
               : state_.job.fabric().atomic(request, target, offset, previous, counter);
    uses_shared_ = true;
  }
}

void Injection::fence(CallSite site) {
  const rma::Call call("injection_context::fence", site);
  check(call);
  // What follows a future may start operations, but not wait.
  if (state_.job.exclusion().is_inside_here()) state_.operations.check_may_wait(call.name, site);
  if (observed_) [[unlikely]]
    return context_.fence(site);
  if (queue_ != nullptr) queue_->complete();
  // The others go on between looks.
  while (uses_shared_ && !try_fence_shared()) std::this_thread::yield();
  // What was stored by this thread itself is visible to others before what it does next.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Makes progress once if something is in flight.
bool Injection::try_fence_shared() {
  const auto inside = state_.exclusive();
  rma::Operations& operations = state_.operations;
  operations.begin("injection_context::fence");
  operations.messages().ask();
  uses_shared_ = !operations.try_fence(shared_);
  if (uses_shared_) operations.messages().progress();
  return !uses_shared_;
}

}  // namespace detail

Result<injection_context> injection_context::open(Context& context, CallSite site) {
  detail::ContextState& state = context.state();
  const rma::Call call("injection_context::open", site);
  const Options& options = state.job.options();
  if (options.threads != thread_mode::injecting) {
    return Error(ErrorCode::failed_precondition,
                 text(call) +
                     " in a rank that has not said that its threads inject; join with "
                     "Context::init(stripline::thread_mode::injecting)");
  }
  if (options.clock == "virtual") {
    return Error(ErrorCode::unimplemented,
                 text(call) +
                     " on the virtual clock, on which a rank is one thread; use the real "
                     "one (--clock real)");
  }
  std::unique_ptr<rma::InjectionQueue> queue;
  std::string why_shared;
  const auto inside = state.exclusive();
  if (state.memory.checked_bytes() == 0) {
    why_shared = "debug mode or a trace observes each operation";
  } else {
    auto opened = rma::InjectionQueue::open(state.job, [&state] {
      rma::Exclusion& exclusion = state.job.exclusion();
      if (!exclusion.try_enter()) return;
      state.operations.serve();
      exclusion.leave();
    });
    if (opened.ok()) {
      queue = std::move(*opened);
    } else {
      why_shared = opened.error().message();
    }
  }
  return injection_context(
      std::make_unique<detail::Injection>(context, std::move(queue), std::move(why_shared)));
}

namespace {

detail::Injection& injection_of(const std::unique_ptr<detail::Injection>& held,
                                const rma::Call& call) {
  if (held == nullptr) [[unlikely]]
    detail::fail_moved_from(call.name, call.site());
  return *held;
}

}  // namespace

injection_context::injection_context(std::unique_ptr<detail::Injection> injection)
    : injection_(std::move(injection)) {}

injection_context::~injection_context() = default;
injection_context::injection_context(injection_context&&) noexcept = default;
injection_context& injection_context::operator=(injection_context&&) noexcept = default;

bool injection_context::has_own_queue() const {
  return injection_of(injection_, "injection_context::has_own_queue").queue() != nullptr;
}

const std::string& injection_context::why_shared() const {
  return injection_of(injection_, "injection_context::why_shared").why_shared();
}

void injection_context::get_bytes(global_ptr<const std::byte> source, std::byte* destination,
                                  size_t bytes, CallSite site) {
  const rma::Call call("injection_context::rget", site);
  injection_of(injection_, call).get(call, source, destination, bytes);
}

void injection_context::put_bytes(const std::byte* source, global_ptr<std::byte> destination,
                                  size_t bytes, CallSite site) {
  const rma::Call call("injection_context::rput", site);
  injection_of(injection_, call).put(call, source, destination, bytes);
}

void injection_context::start_atomic(const detail::AtomicDomain& domain, Op op,
                                     global_ptr<std::byte> variable, uint64_t operand,
                                     uint64_t expected, void* previous, CallSite site) {
  const rma::Call call("atomic operation", site);
  injection_of(injection_, call)
      .atomic(call, domain, {op, domain.type(), operand, expected}, variable, previous);
}

void injection_context::fence(CallSite site) {
  injection_of(injection_, {"injection_context::fence", site}).fence(site);
}

}  // namespace stripline
