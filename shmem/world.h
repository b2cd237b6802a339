// The OpenSHMEM program that this process is a PE of: what all calls find by world(). OpenSHMEM has
// one such state for a process, from shmem_init to shmem_finalize; this is the one global variable
// of the library.
//
// Threads: with SHMEM_THREAD_MULTIPLE a call that enters the runtime holds a Turn; memory that
// loads and stores reach is accessed without, and so are queues of contexts that one thread at a
// time uses. A call that waits for calls of other PEs, or for data from them, gives its Turn up
// between looks: another thread's call may be what they wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <stripline/context.h>
#include <stripline/fine.h>
#include <stripline/team.h>

#include "base/result.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/implicit_operations.h"
#include "runtime/rma/injection_queue.h"
#include "shmem/addresses.h"
#include "shmem/call_sites.h"
#include "shmem/heap.h"
#include "shmem/interface.h"
#include "shmem/written_ranges.h"

namespace stripline::shmem {

class ActiveSets;
class Atomics;

/// A team of PEs. What a shmem_team_t points to, but for the predefined ones.
struct Team {
  stripline::team group;
  int me = 0;
  int pes = 0;
  int contexts = 0;    ///< that the program asked for
  bool world = false;  ///< PEs have the numbers of the job
  /// In debug mode: the collective operation that a thread of this PE is in.
  const char* collective = nullptr;
};

/// Numbers of groups of the runtime (sync::Group::id). Those of team::split() begin at 1.
inline constexpr uint32_t kFirstTeamId = uint32_t{1} << 30;
inline constexpr uint32_t kFirstActiveSetId = uint32_t{1} << 31;

/// A communication context. What a shmem_ctx_t points to, but for the default one. It knows what it
/// has started over a network, so that quiet and fence wait for nothing else. `pending` is read
/// without a Turn, and `queue` used without one, by the thread that uses the context.
struct CommContext {
  CommContext(Team& team_in, rank_t targets) : team(&team_in), implicit(targets) {}

  Team* const team;
  /// Something was started that quiet and fence have to complete. False where all that is done is
  /// done by loads and stores. Set before an operation is started, cleared when all are complete.
  std::atomic<bool> pending{false};
  rma::ImplicitOperations implicit;  ///< puts and gets of which no one keeps a future
  struct Started {
    rank_t pe = 0;
    future operation;
  };
  std::vector<Started> started;  ///< the others; some may be complete
  size_t most_started = 256;     ///< before those that are complete are dropped
  /// What this context alone hands to the network. Null: all goes by the PE's.
  std::unique_ptr<rma::InjectionQueue> queue;
  /// Gets of single values may be read ahead.
  bool coalesces = false;
  /// Atomic operations without a result travel together, with small puts.
  bool combines = false;

  /// True if quiet and fence have something to complete.
  bool is_busy() const {
    return pending.load(std::memory_order_acquire) || (queue != nullptr && queue->is_busy());
  }
};

/// Bytes of a PE, found and checked.
struct Place {
  std::byte* here = nullptr;  ///< where loads and stores reach them; null: nowhere
  rank_t pe = 0;              ///< in the job
  uint64_t offset = 0;

  global_ptr<std::byte> global() const { return {pe, offset}; }
};

class World {
 public:
  World(std::unique_ptr<Context> context, int thread_level);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Context& context() { return *context_; }
  detail::ContextState& state() { return context_->state(); }

  rank_t me() const { return me_; }
  rank_t pes() const { return pes_; }
  int thread_level() const { return thread_level_; }
  bool multiple() const { return multiple_; }
  /// Debug mode or a trace: each access goes through the runtime, by its public calls.
  bool observed() const { return observed_; }

  // --- memory -----------------------------------------------------------------------------------

  Addresses& addresses() { return addresses_; }
  Heap& heap() { return *heap_; }
  std::byte* heap_begin() const { return heap_begin_; }
  /// The largest alignment that blocks of the heap can have on all PEs.
  size_t heap_alignment() const { return heap_alignment_; }
  void set_heap(std::byte* begin, size_t bytes, size_t alignment);

  /// The bytes at the symmetric `address`, on `pe` of the context. Ends the program where there is
  /// no such PE or the address is not symmetric. `reads`: the program may call so in a loop, until
  /// the bytes have changed.
  Place place(const char* call, const CommContext& context, const void* address, size_t bytes,
              int pe, bool reads) {
    Place found;
    found.pe = job_rank(call, context, pe);
    found.offset = addresses_.offset_of(address, bytes);
    if (found.offset == Addresses::kNowhere) [[unlikely]]
      fail_address(call, address, bytes);
    if (observed_) [[unlikely]]
      check_block(call, address, bytes);
    if (found.pe == me_) {
      // Also where calls are observed, whose operations on this PE may be complete at once.
      if (reads) look_around(address);
      if (!observed_) found.here = static_cast<std::byte*>(const_cast<void*>(address));
    } else if (std::byte* const base = reach_[found.pe]; base != nullptr) {
      found.here = base + found.offset;
      if (reads) look_around(address);
    }
    return found;
  }
  /// In debug mode: ends the program for bytes of the heap that are not all of one block.
  void check_block(const char* call, const void* address, size_t bytes);
  /// The same of memory of this PE that a call reads or writes, which need not be symmetric.
  void check_local(const char* call, const void* memory, size_t bytes) {
    if (observed_) [[unlikely]]
      check_block(call, memory, bytes);
  }
  /// Where loads and stores of this process reach a segment; null: they do not.
  std::byte* segment_of(rank_t pe) { return state().memory.reachable(pe); }

  /// The PE's number in the job. Ends the program where the context has no such PE.
  rank_t job_rank(const char* call, const CommContext& context, int pe) {
    if (context.team == &world_team_) [[likely]] {
      if (static_cast<rank_t>(pe) < pes_) [[likely]]
        return static_cast<rank_t>(pe);
    }
    return job_rank_of_team(call, *context.team, pe);
  }

  // --- handles ----------------------------------------------------------------------------------

  CommContext& context_of(const char* call, shmem_ctx_t handle) {
    if (handle == SHMEM_CTX_DEFAULT) [[likely]]
      return default_context_;
    return other_context(call, handle);
  }
  /// Null for SHMEM_TEAM_INVALID.
  Team* team_or_null(shmem_team_t handle);
  /// Ends the program for SHMEM_TEAM_INVALID.
  Team& team_of(const char* call, shmem_team_t handle);
  shmem_team_t handle_of(Team* team);
  CommContext& default_context() { return default_context_; }
  /// One that is used by one thread at a time, or by any.
  CommContext& add_context(Team& team, bool one_at_a_time);
  std::vector<CommContext*> contexts_of(const Team& team);
  /// Completes what it has started. Without a Turn.
  void remove_context(CommContext& context);
  Team& world_team() { return world_team_; }
  Team& shared_team() { return shared_team_; }
  /// Collective over the job, once.
  void make_predefined_teams();
  /// A number for a team whose first PE is this one: of no other team that any PE knows. PEs need
  /// not agree on an order of the teams that they make, which several threads may make at a time.
  uint32_t new_team_id(const char* call);
  /// The team of these PEs of the job, of which this one is number `me`. All of them add it before
  /// one of them uses it.
  Team& add_team(uint32_t id, rank_t me, std::vector<rank_t> members);
  /// When its last operation is over on this PE, its contexts' among them.
  void remove_team(Team& team);

  ActiveSets& active_sets() { return *active_sets_; }
  Atomics& atomics() { return *atomics_; }

  // --- what need not wait -----------------------------------------------------------------------

  /// Options::bulk: blocking gets, and puts that are not copied at once, are those of a bulk
  /// region.
  bool uses_bulk() const { return bulk_; }
  /// Options::coalesce: all contexts coalesce.
  bool coalesces() const { return coalesces_; }
  void coalesce(CommContext& context);
  /// Some context coalesces, and what it gets may be read ahead. Not where several threads call.
  bool reads_ahead() const { return reads_.has_value(); }
  /// In a program that coalesces this PE's reads see what it has written, by whatever path: a put
  /// or an atomic operation without a result changes this, and is to be complete before what reads
  /// it is started. The first with a Turn, the second without.
  void note_written(const Place& place, size_t bytes) {
    if (orders_own_) [[unlikely]]
      written_.add(place.pe, place.offset, place.offset + bytes);
  }
  void complete_written(const Place& place, size_t bytes) {
    if (written_.overlap(place.pe, place.offset, place.offset + bytes)) [[unlikely]]
      complete_written_to(place.pe);
  }
  /// The largest get of single values: what is read ahead, and what programs poll.
  static constexpr size_t kMostValueBytes = 64;
  /// To be called with what a get has found at a place, by a load or over the network; null: it is
  /// not compared. A program that reads the same value once more waits for it to change: when it
  /// has, what was read ahead may be older.
  void note_read(const Place& place, const void* found, size_t bytes) {
    if ((reads_ || bulk_) && bytes <= kMostValueBytes) [[unlikely]]
      learn_of_change(place, found, bytes);
  }
  /// This PE knows from now on what others have done: what was read ahead may be older.
  void learn() {
    if (reads_ || bulk_) [[unlikely]]
      state().operations.acquire();
  }

  // --- threads, waiting -------------------------------------------------------------------------

  std::recursive_mutex* mutex() { return multiple_ ? &mutex_ : nullptr; }

  /// Sends puts that are held back to travel with others: peers may wait for them while this PE
  /// waits in a call. With a Turn.
  void send_held();
  /// Makes progress until the condition holds. Without a Turn.
  void wait(const char* call, const std::function<bool()>& condition);
  /// Makes progress once, of which the program learns.
  void progress();
  /// The same for others only.
  void serve();
  /// To be called by what only loads, from memory of this PE or of another one in reach: a program
  /// may do that in a loop until an operation has changed it. Makes progress now and then, the more
  /// often where the same address is read again, unless all PEs reach all memory by loads and
  /// stores.
  void look_around(const void* address = nullptr) {
    if (!needs_progress_) [[likely]]
      return;
    constexpr uint32_t kEvery = 8;
    constexpr uint32_t kElsewhere = 64;
    const bool again = looked_at_.load(std::memory_order_relaxed) == address;
    looked_at_.store(address, std::memory_order_relaxed);
    const uint32_t looks = looks_.load(std::memory_order_relaxed);
    looks_.store(looks + 1, std::memory_order_relaxed);  // another thread's may be lost
    if (looks % (again ? kEvery : kElsewhere) == 0) again ? progress() : serve();
  }
  /// The same for waits and tests, by which the PE learns what others have done.
  void look_for_news() {
    learn();
    look_around();
  }
  /// Until an operation is complete. Without a Turn.
  void await(const char* call, const future& operation);
  /// What `look` returns while nothing of the runtime runs on another thread.
  template <typename Look>
  auto undisturbed(Look look);

  /// With SHMEM_THREAD_MULTIPLE: whether no other thread of this PE has the lock or waits for it;
  /// then this one has. give_back_of_thread() does nothing with fewer threads.
  bool take_for_thread(const long* lock);
  void give_back_of_thread(const long* lock);

  /// Remembers an operation on a PE that the context has started, for complete(). With a Turn.
  void keep(CommContext& context, rank_t pe, const future& operation);
  /// Completes what was started by this context, or by any. Without a Turn.
  void complete(CommContext& context);
  void complete_all();

  [[noreturn]] void fail(const std::string& message) const;

 private:
  rank_t job_rank_of_team(const char* call, const Team& team, int pe) const;
  CommContext& other_context(const char* call, shmem_ctx_t handle);
  void learn_of_change(const Place& place, const void* found, size_t bytes);
  void complete_written_to(rank_t pe);
  bool try_complete(CommContext& context);
  std::unique_ptr<rma::InjectionQueue> open_queue();
  [[noreturn]] void fail_address(const char* call, const void* address, size_t bytes) const;

  std::unique_ptr<Context> context_;
  const rank_t me_;
  const rank_t pes_;
  const int thread_level_;
  const bool multiple_;
  const bool observed_;
  const bool needs_progress_;  // of peers' operations on its memory, or of its own on its memory
  const bool bulk_;
  const bool coalesces_;
  std::atomic<uint32_t> looks_{0};
  std::atomic<const void*> looked_at_{nullptr};
  std::vector<std::byte*> none_;  // of an observed job: what loads and stores reach is not used
  std::byte* const* reach_;
  Addresses addresses_;
  std::unique_ptr<Heap> heap_;
  std::byte* heap_begin_ = nullptr;
  size_t heap_alignment_ = 1;
  Team world_team_;
  Team shared_team_;
  std::vector<std::unique_ptr<Team>> teams_;  // that the program has made
  uint32_t team_ids_ = 0;                     // that this PE has given out
  CommContext default_context_;
  std::vector<std::unique_ptr<CommContext>> contexts_;
  bool said_shared_ = false;  // that contexts have no queues
  bool orders_own_ = false;
  global_ptr<std::byte> last_read_;
  uint64_t last_found_ = 0;           // its first bytes
  WrittenRanges written_;             // by this PE, and not known to be complete
  std::optional<fine_region> reads_;  // that are read ahead; around the rest of the program
  std::unique_ptr<ActiveSets> active_sets_;
  std::unique_ptr<Atomics> atomics_;
  std::recursive_mutex mutex_;
  std::set<const long*> locks_of_threads_;
};

/// Held during a call that enters the runtime.
class Turn {
 public:
  explicit Turn(World& world) : mutex_(world.mutex()) {
    if (mutex_ != nullptr) mutex_->lock();
  }
  ~Turn() {
    if (mutex_ != nullptr) mutex_->unlock();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::recursive_mutex* mutex_;
};

// A handler of the runtime may run on a thread of it. With one thread of the program, looks are
// made within a call, which keeps that one out.
template <typename Look>
auto World::undisturbed(Look look) {
  if (!multiple_) return look();
  const Turn turn(*this);
  const auto inside = state().exclusive();
  return look();
}

extern World* the_world;  ///< null before shmem_init and after shmem_finalize
[[noreturn]] void fail_without_world(const char* call);

/// Ends the program if `call` is made outside of shmem_init to shmem_finalize.
inline World& world(const char* call) {
  if (the_world == nullptr) [[unlikely]]
    fail_without_world(call);
  return *the_world;
}

/// The bytes of `count` elements; more than memory has for what 64 bits do not hold.
inline size_t bytes_of(const char* call, size_t count, size_t element_bytes) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, element_bytes, &bytes)) [[unlikely]]
    world(call).fail(std::string(call) + " of " + std::to_string(count) +
                     " elements, which are more than memory has; the count is wrong");
  return bytes;
}

}  // namespace stripline::shmem
