// What a Context consists of, for the runtime's own mechanisms (the loop engine) and for suites.
// Not part of the public API, and not installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <stripline/context.h>

#include "optimizer/model/paths.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/collective.h"
#include "optimizer/plan/compiled_model.h"
#include "runtime/am/active_messages.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/operation_record.h"
#include "runtime/decide/execution.h"
#include "runtime/decide/run_guard.h"
#include "runtime/decide/trace.h"
#include "runtime/fabric/fabric.h"
#include "runtime/rma/bounce_ring.h"
#include "runtime/rma/call.h"
#include "runtime/rma/call_trace.h"
#include "runtime/rma/completion_slots.h"
#include "runtime/rma/continuations.h"
#include "runtime/rma/debug_checks.h"
#include "runtime/rma/exclusion.h"
#include "runtime/rma/get_combiner.h"
#include "runtime/rma/implicit_operations.h"
#include "runtime/rma/local_heap.h"
#include "runtime/rma/operation_trace.h"
#include "runtime/rma/owner_operations.h"
#include "runtime/rma/progress_thread.h"
#include "runtime/rma/put_combiner.h"
#include "runtime/rma/rpc_calls.h"
#include "runtime/rma/service_delays.h"
#include "runtime/rma/symmetric_heap.h"
#include "runtime/rma/tuning.h"
#include "runtime/rma/vis_plans.h"
#include "runtime/sync/async_collectives.h"
#include "runtime/sync/collectives.h"
#include "runtime/sync/group.h"
#include "runtime/sync/transfers.h"
#include "runtime/vis/transfers.h"

namespace stripline::detail {

/// State that a mechanism keeps for the life of a Context (plan caches, compiled costs). Each
/// mechanism derives its own and finds it in the member of its name.
struct MechanismState {
  virtual ~MechanismState() = default;
  /// This rank stores into another one's memory, of which the mechanism keeps a copy
  /// (ContextState::kept_end).
  virtual void stored(rank_t target, uint64_t offset, uint64_t bytes) = 0;
};

/// Defined in runtime/loop. Collective, at the end of a traced job: rank 0 says on standard error
/// what was chosen for loops and nests, as Options::trace asks.
void report_choices(Context& context);

struct ContextState {
  /// Memory of collectives that peers can put into, behind the program's segment and the landing
  /// zone of transfers of many regions: a third of it scratch memory, a third slots for what is
  /// received into private memory, and a third places for what peers put without asking.
  static constexpr size_t kCollectivePart = size_t{1} << 20;
  static constexpr size_t kCollectiveBytes = 3 * kCollectivePart;
  static constexpr size_t kPageBytes = 4096;
  static size_t collective_offset(size_t segment_bytes, rank_t ranks) {
    const size_t begin = segment_bytes + vis::LandingZone::bytes_for(ranks);
    return (begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  }

  /// Joins the job that `bootstrap` knows: reads the model, opens the fabric, checks that the
  /// model was made for this machine, swaps addresses, connects, and waits for every rank.
  /// Errors: those of the model file (not_found, data_loss, failed_precondition if it is
  /// foreign), of open_fabric(), of Bootstrap::exchange() and of Fabric::connect(). They have
  /// been reported to the launcher.
  static Result<std::unique_ptr<Context>> join(const Options& options,
                                               std::unique_ptr<bootstrap::Bootstrap> bootstrap,
                                               const am::Config& am_config = {});

  /// Tells the launcher that this rank cannot join the job, and why; returns the error.
  static Error refuse(bootstrap::Bootstrap& bootstrap, const Error& error);

  ContextState(const Options& options, std::unique_ptr<bootstrap::Bootstrap> bootstrap,
               std::unique_ptr<fabric::Fabric> fabric, const am::Config& am_config);

  /// Plans by this model from now on, and makes its choices, but for what options.tuning says.
  /// Null: the defaults. After messages.start(), while no operation is under way. Errors: those
  /// of rma::tuning_of().
  Status use_model(std::shared_ptr<const model::TunedModel> model_to_use);

  /// To be held during a call of the public interface, so that no other thread is in another one.
  rma::Exclusion::Guard exclusive() { return rma::Exclusion::Guard(exclusion); }

  // --- one-sided operations, checked ----------------------------------------------------------

  /// The path to another rank, as models have it.
  model::Path path_to(rank_t target) const {
    switch (fabric->way(target)) {
      case fabric::SameNode::mapped:
        return model::Path::mapped;
      case fabric::SameNode::cma:
        return model::Path::cma;
      case fabric::SameNode::network:
        break;
    }
    return model::Path::network;
  }

  /// Ends the job unless the range lies within the target's segment and no handler is running.
  /// Debug mode's checks are behind the same branch (docs/debugging.md); `access` is what the
  /// operation does there, if it is to be checked against those under way.
  void check(rma::Call call, rank_t target, uint64_t offset, size_t bytes,
             rma::Access access = rma::Access::none) const {
    check_bounds(call, target, offset, bytes, access);
    if (messages.in_handler()) [[unlikely]]
      fail_in_handler(call.name, call.site());
  }

  /// The bounds alone: what only touches memory is allowed in active messages, too.
  void check_bounds(rma::Call call, rank_t target, uint64_t offset, size_t bytes,
                    rma::Access access = rma::Access::none) const {
    if (target >= ranks || bytes > checked_bytes || offset > checked_bytes - bytes) [[unlikely]] {
      check_closely(call.name, call.site(), target, offset, bytes, access);
    }
  }

  /// Ends the job unless there is such a rank: for calls that name no bytes of it.
  void check_target(rma::Call call, rank_t target) const {
    if (target >= ranks) [[unlikely]]
      fail_target(call, target);
  }

  /// Ends the job unless `offset` is a multiple of `bytes`.
  void check_alignment(rma::Call call, rank_t target, uint64_t offset, size_t bytes) const;

  /// The one check of an operation, and where loads and stores reach the range; null: the fabric
  /// has to carry it out.
  std::byte* locate(rma::Call call, rank_t target, uint64_t offset, size_t bytes,
                    rma::Access access) const {
    check(call, target, offset, bytes, access);
    std::byte* const base = reachable[target];
    return base == nullptr ? nullptr : base + offset;
  }

  /// The same for calls that are nothing but a copy, in fewer steps: null for all that needs more,
  /// be it that another thread calls, that somebody observes it, or that it is wrong. Then
  /// rma::Operation asks again, and says what is wrong.
  std::byte* at_hand(global_ptr<const std::byte> place, size_t bytes) const {
    const rank_t target = place.where();
    const uint64_t offset = place.offset();
    // 0 bytes wrap around. Debug mode and a trace have no checked bytes.
    if (!exclusion.is_free_here() || target >= ranks || bytes - 1 >= checked_bytes ||
        offset > checked_bytes - bytes || messages.in_handler()) {
      return nullptr;
    }
    std::byte* const base = reachable[target];
    return base == nullptr ? nullptr : base + offset;
  }

  /// memmove() in memory that loads and stores reach.
  void copy_here(std::byte* to, const std::byte* from, size_t bytes) {
    if (bytes == 0) return;
    count_copy(fabric->work(), 1, bytes);
    if (bytes == sizeof(uint64_t)) {  // the most frequent size, without a call
      std::memcpy(to, from, sizeof(uint64_t));
    } else {
      std::memmove(to, from, bytes);
    }
  }

  /// A get of this rank, checked, wherever the memory is.
  void get(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
           fabric::Counter& counter, rma::Call call) {
    if (std::byte* const there = locate(call, target, offset, bytes, rma::Access::get)) {
      copy_here(destination, there, bytes);
    } else if (bytes != 0) {
      start_get(destination, target, offset, bytes, counter);
    }
  }

  /// A put, likewise.
  void put(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
           fabric::Counter& counter, rma::Call call) {
    if (std::byte* const there = locate(call, target, offset, bytes, rma::Access::put)) {
      copy_here(there, source, bytes);
    } else if (bytes != 0) {
      start_put(target, offset, source, bytes, counter);
    }
  }

  // Those that the fabric carries out: checked, not empty, and out of reach of loads and stores.

  void start_get(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
                 fabric::Counter& counter) {
    operation.start("rget", target, bytes);
    fabric->get(destination, target, offset, bytes, counter);
  }

  void start_put(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
                 fabric::Counter& counter) {
    stored(target, offset, bytes);
    operation.start("rput", target, bytes);
    fabric->put(target, offset, source, bytes, counter);
  }

  /// A get that only fences complete. Of many outstanding small ones, most are combined.
  void start_get_implicit(std::byte* destination, rank_t target, uint64_t offset, size_t bytes) {
    fabric::Counter& counter = implicit.counter(target);
    if (bytes > rma::GetCombiner::kMaxGetBytes || !get_combiner.takes(target)) {
      start_get(destination, target, offset, bytes, counter);
      return;
    }
    operation.start("rget", target, bytes);
    get_combiner.get(target, offset, destination, bytes, counter);
  }

  /// A put that only fences complete. Small ones are combined.
  void start_put_implicit(rank_t target, uint64_t offset, const std::byte* source, size_t bytes) {
    fabric::Counter& counter = implicit.counter(target);  // a fence waits for combined ones, too
    if (!combiner.takes(bytes)) {
      start_put(target, offset, source, bytes, counter);
      return;
    }
    stored(target, offset, bytes);
    operation.start("rput", target, bytes);
    combiner.put(target, offset, source, bytes);
  }

  /// Copies what the put of `slot` is to send; waits for older copies to be sent while there is
  /// no room. At most bounces.capacity() bytes.
  const std::byte* copy_to_bounce(const std::byte* source, size_t bytes, uint32_t slot);

  /// A put that raises a flag at its target. Where the flag would only follow when the data have
  /// arrived, small ones go by message, and those of a landing slot's size through one; both
  /// complete as messages do. `source_free` becomes true when the data have been copied.
  bool puts_signals_by_message(rank_t target, size_t bytes) const;
  void start_put_signal(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
                        const fabric::Signal& signal, fabric::Counter& counter, bool& source_free);
  /// The largest put with a signal that takes one way over the network.
  size_t one_way_signalled_bytes() const {
    return std::max(owner.largest_signalled_put(), vis.largest_signalled_chunk());
  }

  /// Completes the operations without handles to one rank, or to all.
  void fence(rank_t target);
  void fence();

  /// Waits until the operations of `counter` are complete, making progress.
  void wait_for(const fabric::Counter& counter) {
    if (counter.pending == 0) return;
    check_may_wait("wait");
    operation = "wait";
    messages.wait_for(counter);
  }

  /// The same for an operation that completes when messages are served: what handlers have kept
  /// is sent meanwhile, because the peer may wait for it.
  void wait_for_messages(const fabric::Counter& counter) {
    if (counter.pending == 0) return;
    begin("wait");
    messages.ask(counter);
    messages.wait([&counter] { return counter.pending == 0; });
  }

  /// Waits until the put of a slot is complete, or no longer reads its source.
  void wait_for_source(uint32_t slot) {
    begin("wait");
    messages.wait(
        [this, slot] { return slots.source_free(slot) || slots.counter(slot).pending == 0; });
  }

  /// Waits, in the call of this name, until a word of this rank's segment that others raise is at
  /// least `value`. Returns what it is then.
  uint64_t wait_for_flag(const char* name, uint64_t& flag, uint64_t value);

  /// Begins a call that makes progress or waits, which handlers must not make. It synchronises.
  void enter(const char* name) {
    synchronise();
    begin(name);
  }

  /// Makes progress once, for a mechanism: as Context::progress(), but not seen by the program.
  void make_progress() {
    begin("progress");
    messages.progress();
  }

  /// The same for one that goes on computing: peers are served, and what there is to do for this
  /// rank's own operations may stay until it waits for them.
  void attend() {
    begin("progress");
    messages.attend();
  }

  // --- copies of other ranks' memory
  // --------------------------------------------------------------
  //
  // A mechanism may keep what it read of memory out of reach, and use it within one interval
  // between synchronisations, as long as this rank has not stored there (docs/memory-model.md).

  /// To be called wherever the program may learn that others have stored.
  void synchronise() { ++synchronisations_; }
  /// Handlers of the program that ran are synchronisations, too.
  uint64_t interval() const { return synchronisations_ + messages.program_handlers(); }
  /// To be called before this rank stores into memory out of reach.
  void stored(rank_t target, uint64_t offset, uint64_t bytes) {
    if (offset < kept_end) [[unlikely]]
      loop->stored(target, offset, bytes);
  }
  /// No copy is kept of what lies from this offset on, of any rank. Set by who keeps copies.
  uint64_t kept_end = 0;

  /// What mechanisms decide with.
  decide::Instruments instruments() const { return {fabric.get(), run_guard.get(), trace.get()}; }
  /// True if somebody watches what the program does: debug mode, a trace.
  bool observed() const { return debug != nullptr || trace != nullptr; }
  /// True if a call that has begun is to be told to `operations`.
  bool traces_operations() const { return trace != nullptr && operations.outermost(); }

  // --- completion slots
  // -------------------------------------------------------------------------

  /// A slot for one more operation; waits for an earlier one to complete if all are in use.
  uint32_t acquire_slot(rma::CompletionSlots::Kind kind) {
    if (slots.exhausted()) [[unlikely]]
      reclaim_slots();
    return slots.acquire(kind);
  }

  /// Completes this rank's puts and atomic operations of all kinds.
  void complete_puts();

  /// Waits until all operations of this kind with futures are complete.
  void complete_all(rma::CompletionSlots::Kind kind);

  // --- the end
  // ----------------------------------------------------------------------------------

  /// Ends this rank: reports "rank R on HOST: WHAT, during OPERATION" and exits with the code's
  /// exit code, without unwinding. The launcher ends the others. A mistake of the program
  /// (invalid_argument) names its own call, which need not be what was recorded last.
  [[noreturn]] void fail(const Error& error) const;

  /// fail() for a call that a handler of active messages, or a continuation, must not make.
  [[noreturn]] void fail_in_handler(const char* name, CallSite site) const;

  /// fail() for a call of a thread that must not make it.
  [[noreturn]] void fail_on_thread(const char* why) const;

  /// Collective: completes everything this rank has started, waits for all ranks, and tells the
  /// launcher that this one has left.
  void leave();

  const Options options;
  const std::unique_ptr<bootstrap::Bootstrap> bootstrap;
  const rank_t rank;
  const rank_t ranks;
  /// What the rank is doing, for messages of failure, its own and its launcher's. Outlives
  /// the fabric, which may fail until it is closed.
  bootstrap::OperationRecorder operation{"start-up"};
  const std::unique_ptr<fabric::Fabric> fabric;
  const std::span<std::byte> segment;  ///< the program's
  /// Its size; 0 in debug mode and with a trace, so that all calls go the way that is observed.
  const size_t checked_bytes;
  const std::span<std::byte> collective_memory;  ///< beyond it, where collectives receive
  /// By rank: its segment where loads and stores reach it, or null. This rank's own from the
  /// beginning, others' from connecting on.
  std::vector<std::byte*> reachable;
  /// True if any rank of the job reaches another one's so. The same on every rank.
  bool shares_memory = false;
  /// True if all ranks of the job reach one another so, and whether some node has more ranks than
  /// cores. Both the same on every rank.
  bool in_node = false;
  bool crowded = false;
  /// Every call of the public interface holds a Guard of it.
  rma::Exclusion exclusion;

  rma::CompletionSlots slots;
  rma::ImplicitOperations implicit;
  rma::BounceRing bounces;
  rma::SymmetricHeap heap;
  rma::LocalHeap local_heap;
  am::ActiveMessages messages;
  rma::ServiceDelays service_delays;
  rma::OwnerOperations owner;
  vis::Transfers vis;
  rma::PutCombiner combiner;
  rma::GetCombiner get_combiner;
  rma::Continuations continuations;
  rma::RpcCalls rpc_calls;
  std::vector<std::byte> long_am_message;  ///< head and payload of the one being sent; kept
  sync::Groups groups;
  sync::Transfers transfers;
  sync::Collectives collectives;
  sync::AsyncCollectives async_collectives;
  plan::CollectivePlanner collective_planner;  ///< by the model, once it is loaded

  /// The tuned model of options.model_path, which fits this machine; null without one.
  std::shared_ptr<const model::TunedModel> model;
  plan::CompiledModel compiled;  ///< of the model; knows no path without one
  rma::Tuning tuning;            ///< choices for single operations
  /// Facts about this machine and fabric (runtime/machine/fingerprint.h).
  std::map<std::string, std::string> fingerprint;
  std::unique_ptr<MechanismState> loop;      ///< of the loop engine
  std::unique_ptr<rma::VisPlans> vis_plans;  ///< with the model's costs; set by join()
  /// Null without a model, or with Options::guard off.
  std::unique_ptr<decide::RunGuard> run_guard;
  std::unique_ptr<rma::DebugChecks> debug;  ///< null unless Options::debug
  std::unique_ptr<decide::Trace> trace;     ///< null unless Options::trace is "sites"
  CallTrace call_trace;                     ///< with `trace`
  rma::OperationTrace operations;           ///< likewise
  double trace_begun_s = 0;
  /// With Options::progress "thread", or once it pays with "tuned".
  std::unique_ptr<rma::ProgressThread> progress_thread;

 private:
  void begin(const char* name) {
    operation = name;
    check_may_wait(name);
    combiner.flush_old();
    get_combiner.flush_old();
  }
  void check_may_wait(const char* name) const {
    if (messages.in_handler() || continuations.running()) [[unlikely]]
      fail_in_handler(name, {});
  }
  void consider_thread();
  void find_reachable(Context& context, bool maps);
  // Calls in their parts: compilers would put a Call together on the way that does not fail, too.
  void check_closely(const char* name, CallSite site, rank_t target, uint64_t offset, size_t bytes,
                     rma::Access access) const;
  [[noreturn]] void fail_bounds(rma::Call call, rank_t target, uint64_t offset, size_t bytes) const;
  [[noreturn]] void fail_target(rma::Call call, rank_t target) const;
  void reclaim_slots();
  bool is_complete(const rma::BounceRing::Use& use) const {
    return slots.released(use.slot, use.generation) || slots.counter(use.slot).pending == 0;
  }
  void complete(rank_t target, const fabric::Counter& counter);

  uint64_t synchronisations_ = 0;
  uint64_t missed_times_ = 0;  // of what was missed when a thread was considered last
};

}  // namespace stripline::detail
