// What is in flight between this rank and others. Owns the message layer and all that carries one-
// sided operations: completion slots, counters of operations without handles, combiners, copies of
// buffered puts, transfers of many regions, remote calls, and what is to follow futures. Starts
// operations, waits for them, makes progress, and counts the acquires of this rank.
//
// What is started here has been checked (operation.h), is not empty, and is out of reach of loads
// and stores, unless a function says otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/context.h>

#include "runtime/am/active_messages.h"
#include "runtime/am/bulk.h"
#include "runtime/am/late_background.h"
#include "runtime/fabric/fabric.h"
#include "runtime/message_users.h"
#include "runtime/rma/bounce_ring.h"
#include "runtime/rma/call.h"
#include "runtime/rma/completion_slots.h"
#include "runtime/rma/continuations.h"
#include "runtime/rma/get_combiner.h"
#include "runtime/rma/implicit_operations.h"
#include "runtime/rma/job.h"
#include "runtime/rma/memory.h"
#include "runtime/rma/owner_operations.h"
#include "runtime/rma/put_combiner.h"
#include "runtime/rma/rpc_calls.h"
#include "runtime/rma/service_delays.h"
#include "runtime/rma/unfinished_calls.h"
#include "runtime/vis/transfers.h"

namespace stripline::rma {

class Operations {
 public:
  using Kind = CompletionSlots::Kind;

  /// Both outlive it.
  Operations(Job& job, Memory& memory, const am::Config& am_config);
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  /// Combines and copies as this says, from now on. While no operation is in flight.
  void use(const Tuning& tuning);
  /// Says whether puts may tell their target that they have landed. The same on every rank; while
  /// no operation is in flight.
  void use_notified_puts(bool use);

  am::ActiveMessages& messages() { return messages_; }
  const am::ActiveMessages& messages() const { return messages_; }
  /// The slots of transfers of many regions, of combined puts, and of users.
  am::Bulk& bulk() { return bulk_; }
  const am::Bulk& bulk() const { return bulk_; }
  /// What a mechanism of a folder above this one serves from when it is made: the channel of its
  /// parcels, and its work in the background.
  struct User {
    uint32_t channel = 0;
    am::LateBackground work;
  };
  User& user(MessageUser one) { return users_[static_cast<size_t>(one)]; }
  vis::Transfers& vis() { return vis_; }
  const vis::Transfers& vis() const { return vis_; }
  ServiceDelays& service_delays() { return service_delays_; }
  OwnerOperations& owner() { return owner_; }
  PutCombiner& combiner() { return combiner_; }
  const PutCombiner& combiner() const { return combiner_; }
  const BounceRing& bounces() const { return bounces_; }
  const CompletionSlots& slots() const { return slots_; }
  Continuations& continuations() { return continuations_; }
  const Continuations& continuations() const { return continuations_; }
  RpcCalls& rpc_calls() { return rpc_calls_; }
  /// Head and payload of the long active message that is being sent; kept.
  std::vector<std::byte>& long_am_message() { return long_am_message_; }

  // --- checks -----------------------------------------------------------------------------------

  /// Memory::check(), and that no handler is running.
  void check(Call call, rank_t target, uint64_t offset, size_t bytes,
             Access access = Access::none) const {
    memory_.check(call, target, offset, bytes, access);
    if (messages_.in_handler()) [[unlikely]]
      fail_in_handler(call.name, call.site());
    if (unfinished_ != nullptr) [[unlikely]]
      unfinished_->before(access, target, offset, bytes);
  }

  /// To be asked from now on about what it has not finished; null: no one is. It outlives that.
  void ask(UnfinishedCalls* unfinished) { unfinished_ = unfinished; }
  /// The one that is asked; null: there is none.
  UnfinishedCalls* unfinished() const { return unfinished_; }
  /// To be called where others may learn from a message, or a store, that follows what this rank
  /// did before. What handlers send is not ordered with what the program did.
  void before_message() {
    if (unfinished_ != nullptr && !messages_.in_handler()) [[unlikely]]
      unfinished_->complete();
  }

  /// The one check of an operation, and where loads and stores reach the range; null: the fabric
  /// has to carry it out.
  std::byte* locate(Call call, rank_t target, uint64_t offset, size_t bytes, Access access) const {
    check(call, target, offset, bytes, access);
    std::byte* const base = memory_.reachable(target);
    return base == nullptr ? nullptr : base + offset;
  }

  // --- starting ---------------------------------------------------------------------------------

  /// A get of this rank, checked here, wherever the memory is.
  void get(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
           fabric::Counter& counter, Call call) {
    if (std::byte* const there = locate(call, target, offset, bytes, Access::get)) {
      memory_.copy_here(destination, there, bytes);
    } else if (bytes != 0) {
      start_get(destination, target, offset, bytes, counter);
    }
  }
  /// A put, likewise.
  void put(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
           fabric::Counter& counter, Call call) {
    if (std::byte* const there = locate(call, target, offset, bytes, Access::put)) {
      memory_.copy_here(there, source, bytes);
    } else if (bytes != 0) {
      start_put(target, offset, source, bytes, counter);
    }
  }

  void start_get(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
                 fabric::Counter& counter) {
    job_.activity().start("rget", target, bytes);
    job_.fabric().get({destination, bytes}, target, offset, counter);
  }
  void start_put(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
                 fabric::Counter& counter) {
    memory_.keepers().stored(target, offset, bytes);
    job_.activity().start("rput", target, bytes);
    job_.fabric().put(target, offset, {source, bytes}, counter);
  }

  /// A get that only fences complete. Of many outstanding small ones, most are combined.
  void start_get_implicit(std::byte* destination, rank_t target, uint64_t offset, size_t bytes) {
    start_get_implicit(destination, target, offset, bytes, implicit_);
  }
  /// A put that only fences complete. Small ones are combined.
  void start_put_implicit(rank_t target, uint64_t offset, const std::byte* source, size_t bytes) {
    start_put_implicit(target, offset, source, bytes, implicit_);
  }
  /// The same, counted by `counted` in place of what fence() completes: fence(counted) does.
  void start_get_implicit(std::byte* destination, rank_t target, uint64_t offset, size_t bytes,
                          ImplicitOperations& counted);
  void start_put_implicit(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
                          ImplicitOperations& counted);

  /// True if start_atomic_implicit() may be called.
  bool combines_atomics() const { return combiner_.takes_atomics(); }
  /// An atomic operation that is no load, whose result no one wants, on a variable that is aligned:
  /// carried out by its owner's processor, and completed by fences. It travels with others, and
  /// with small puts.
  void start_atomic_implicit(const fabric::AtomicRequest& request, rank_t target, uint64_t offset) {
    start_atomic_implicit(request, target, offset, implicit_);
  }
  void start_atomic_implicit(const fabric::AtomicRequest& request, rank_t target, uint64_t offset,
                             ImplicitOperations& counted);

  /// Copies what the put of `slot` is to send; waits for older copies to be sent while there is
  /// no room. At most bounces().capacity() bytes.
  const std::byte* copy_to_bounce(const std::byte* source, size_t bytes, uint32_t slot);

  /// True if a put that raises a flag at its target goes by message, and completes as messages do:
  /// where the flag would only follow when the data have arrived, small ones do, and those of a
  /// landing slot's size through one.
  bool puts_signals_by_message(rank_t target, size_t bytes) const {
    return !job_.fabric().info().flag_with_data &&
           (bytes <= owner_.largest_signalled_put() || vis_.takes_signalled_chunk(target, bytes));
  }
  /// Such a put; `by_message` is the answer. `source_free` becomes true when the data have been
  /// copied.
  void start_put_signal(rank_t target, uint64_t offset, const std::byte* source, size_t bytes,
                        const fabric::Signal& signal, bool by_message, fabric::Counter& counter,
                        bool& source_free);
  /// The largest put with a signal that one put carries over the network.
  size_t one_way_signalled_bytes() const {
    return std::max(owner_.largest_signalled_put(), vis_.largest_signalled_chunk());
  }

  // --- futures ----------------------------------------------------------------------------------

  /// A slot for one more operation; waits for an earlier one to complete if all are in use.
  uint32_t acquire_slot(Kind kind) {
    if (slots_.exhausted()) [[unlikely]]
      reclaim_slots();
    return slots_.acquire(kind);
  }
  /// What counts the operation of a slot.
  fabric::Counter& counter(uint32_t slot) { return slots_.counter(slot); }
  /// CompletionSlots::source_free().
  bool& source_free(uint32_t slot) { return slots_.source_free(slot); }
  /// The slot of an operation that no one has to wait for.
  void release(uint32_t slot) { slots_.release(slot); }
  /// How a future names the operation of a slot that has been acquired.
  SlotUse use_of(uint32_t slot) const { return {slot, slots_.generation(slot)}; }

  /// future::is_ready() without progress, future::wait() and future::wait_source().
  bool is_complete(const SlotUse& use);
  void wait(const SlotUse& use, CallSite site);
  void wait_source(const SlotUse& use, CallSite site);
  /// True if the operation is over, which the program does not know yet.
  bool is_over(const SlotUse& use) const {
    return slots_.released(use.slot, use.generation) || slots_.counter(use.slot).pending == 0;
  }

  // --- waiting ----------------------------------------------------------------------------------

  /// Ends the job in handlers and in what follows futures, which must not wait.
  void check_may_wait(const char* name, CallSite site = {}) const {
    if (messages_.in_handler() || continuations_.running()) [[unlikely]]
      fail_in_handler(name, site);
  }
  /// Begins a call that makes progress or waits, which handlers must not make.
  void begin(const char* name) {
    job_.activity() = name;
    check_may_wait(name);
    combiner_.flush_old();
    get_combiner_.flush_old();
  }
  /// The same for a call from which the program may learn what others have done, and they from it.
  void enter(const char* name) {
    acquire();
    begin(name);
    if (unfinished_ != nullptr) [[unlikely]]
      unfinished_->complete();
  }

  /// Makes progress once, for a mechanism: as Context::progress(), but not seen by the program.
  void make_progress() {
    begin("progress");
    messages_.progress();
  }
  /// The same for one that goes on computing: peers are served, and what there is to do for this
  /// rank's own operations may stay until it waits for them.
  void attend() {
    begin("progress");
    messages_.attend();
  }
  /// The same for a thread beside the program's.
  void serve() {
    combiner_.flush_old();
    messages_.progress();
  }

  /// Waits until the operations of `counter` are complete, making progress.
  void wait_for(const fabric::Counter& counter, CallSite site = {}) {
    if (counter.pending == 0) return;
    check_may_wait("wait");
    job_.activity() = "wait";
    job_.activity().at("wait", site);
    messages_.wait_for(counter);
  }
  /// The same for an operation that completes when messages are served: what handlers have kept
  /// is sent meanwhile, because the peer may wait for it.
  void wait_for_messages(const fabric::Counter& counter, CallSite site = {}) {
    if (counter.pending == 0) return;
    begin("wait");
    job_.activity().at("wait", site);
    messages_.ask(counter);
    messages_.wait([&counter] { return counter.pending == 0; });
  }
  /// Waits, in this call, until a word of this rank's segment that others raise is at
  /// least `value`. Returns what it is then.
  uint64_t wait_for_flag(Call call, uint64_t& flag, uint64_t value);

  /// Completes the operations without handles to one rank, or to all.
  void fence(rank_t target);
  void fence();
  /// Completes those that `counted` counts, and waits for no others, unless these travel with them.
  void fence(ImplicitOperations& counted);
  /// The same of those to one rank.
  void fence(ImplicitOperations& counted, rank_t target);
  /// Sends what is held back of them, and returns true if they are complete; does not wait. Who
  /// makes progress between calls waits in a manner of its own.
  bool try_fence(ImplicitOperations& counted);
  /// Completes this rank's puts and atomic operations of all kinds, but for those that are counted
  /// elsewhere.
  void complete_puts();
  /// Waits until all operations of this kind with futures are complete.
  void complete_all(Kind kind);
  /// Completes all that this rank has started, at the end of the job, and what it still expects:
  /// answers, and what is to follow futures.
  void complete_everything();

  /// fail() for a call that a handler of active messages, or a continuation, must not make.
  [[noreturn]] void fail_in_handler(const char* name, CallSite site) const;

  // --- acquires (docs/memory-model.md) ----------------------------------------------------------

  /// To be called wherever this rank is from now on obliged to see what others stored before: the
  /// end of a collective, a lock, a strict access, a flag in its own memory. That an operation of
  /// its own is complete obliges it to nothing.
  void acquire() { ++acquires_; }
  /// The acquire epoch: copies of other ranks' memory that were made in an earlier one may be
  /// stale. Handlers of the program that ran here are acquires, too.
  uint64_t acquire_epoch() const { return acquires_ + messages_.program_handlers(); }

 private:
  void reclaim_slots();
  void found_complete(Kind kind);
  void complete(rank_t target, const fabric::Counter& counter);

  Job& job_;
  Memory& memory_;
  CompletionSlots slots_;
  ImplicitOperations implicit_;
  BounceRing bounces_;
  am::ActiveMessages messages_;
  ServiceDelays service_delays_;
  OwnerOperations owner_;
  am::Bulk bulk_;
  std::array<User, kMessageUsers.size()> users_;
  vis::Transfers vis_;
  PutCombiner combiner_;
  GetCombiner get_combiner_;
  Continuations continuations_;
  RpcCalls rpc_calls_;
  std::vector<std::byte> long_am_message_;
  uint64_t acquires_ = 0;
  UnfinishedCalls* unfinished_ = nullptr;
};

}  // namespace stripline::rma
