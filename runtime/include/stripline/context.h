// A rank's runtime: the object through which an SPMD program communicates.
//
//   auto context = stripline::Context::init();            // as launched by `stripline run`
//   if (!context.ok()) return stripline::report(context.error());
//   stripline::Context& ctx = **context;
//   auto mine = ctx.new_symmetric_array<double>(n);       // collective, same offset on every rank
//   ctx.rget(ctx.on_rank(*mine, peer), buffer, n).wait();
//
// Threads: one thread per rank communicates, unless it joins with another thread_mode.
// Progress (serving active messages, retiring operations) happens inside calls; a rank that
// computes for long without calling is inattentive, unless it has a thread for it
// (Options::progress). Failures of communication end the job with a message and exit code 5 on
// every rank; calls that can fail for another reason return a Result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include <stripline/byte_count.h>
#include <stripline/call_site.h>
#include <stripline/global_ptr.h>
#include <stripline/work.h>

#include "base/result.h"

namespace stripline {

class Context;
namespace detail {
struct ContextState;

/// What a future stands for: a completion slot of a context, in its generation. For the runtime.
struct Ticket {
  Context* context = nullptr;  ///< null: what is complete
  uint32_t slot = 0;
  uint32_t generation = 0;
};

/// True of types of functions that there may be none of.
template <typename F>
inline constexpr bool kMayBeEmpty = std::is_pointer_v<F>;
template <typename Signature>
inline constexpr bool kMayBeEmpty<std::function<Signature>> = true;

/// Ends the process if there is no function that the call `name` could call. Nothing is asked of
/// lambdas and other function objects.
template <typename F>
void check_callable(const F& function, const char* name, CallSite site) {
  if constexpr (kMayBeEmpty<F>) {
    if (function == nullptr) [[unlikely]]
      fail_uncallable(name, site);
  }
}
}  // namespace detail

/// The threads of a rank that may call its Context, and what belongs to it. Another thread that
/// calls, or two that call at once, end the job with a message that says so.
enum class thread_mode : uint8_t {
  single,      ///< the one that joined
  serialized,  ///< any, one at a time, which the program sees to. A call costs some 10 ns more
  /// any, one at a time, and beside it threads at any time by injection_contexts of their own
  /// (<stripline/injection.h>). A call costs a lock; of two at once, one waits
  injecting,
};

/// How to join a job. The defaults come from the environment that a launcher sets.
struct Options {
  std::string fabric = "tcp";                ///< STRIPLINE_FABRIC
  std::string clock = "real";                ///< STRIPLINE_CLOCK
  std::string model_path;                    ///< STRIPLINE_MODEL; empty: no tuned model
  size_t segment_bytes = size_t{256} << 20;  ///< STRIPLINE_SEGMENT_BYTES, per rank
  /// What a front end has computed segment_bytes from, by the names that its users know, for the
  /// message about ranks where it differs. The same text for the same size. Empty: the variable.
  std::string segment_setting;
  /// STRIPLINE_POPULATE: the pages of the segment are made when the job starts, as they are where
  /// the launcher has not asked whether there is room for them (mpirun, srun). Else when they are
  /// first touched: what a program does not use costs nothing.
  bool populate = false;
  uint64_t seed = 0;     ///< STRIPLINE_SEED, jitter of the emulated fabric
  bool verbose = false;  ///< STRIPLINE_VERBOSE: rank 0 shows ranks and settings
  /// STRIPLINE_SAME_NODE: how ranks of one node reach each other's segments. "mapped": by loads and
  /// stores; "cma": the kernel copies from process to process; "network": through the fabric, as
  /// between nodes, and where the host permits nothing else. ":N" behind it: docs/fabrics.md.
  std::string same_node = "mapped";
  /// STRIPLINE_TUNING: replaces choices of the model, or defaults, to measure others:
  /// "NAME=VALUE,..."; docs/programming.md lists the names and the values that each of them takes.
  std::string tuning;
  /// STRIPLINE_DEBUG: checks what the program does (docs/debugging.md). The same on every rank.
  bool debug = false;
  /// STRIPLINE_PROGRESS: who serves peers. "manual": this rank's calls; "thread": these, and a
  /// thread of the runtime while the program computes; "auto": these, and the provider's thread;
  /// "tuned": its calls, until a thread of the runtime would pay by the model, and from then on
  /// both (with thread_mode::injecting: its calls). docs/programming.md says what a program must
  /// mind with a thread, docs/fabrics.md what each costs. Ranks of a job may differ.
  std::string progress = "manual";
  /// STRIPLINE_GUARD: loops and nests whose plan is tuned, or may be as fast, and iterations of the
  /// program with all their loops, nests and strided calls, are now and then carried out as the
  /// baseline, too, and keep what is faster (docs/programming.md). So are regions that do not wait,
  /// without a model, too (docs/bulk.md, docs/fine.md); and collective operations, and gathers,
  /// with one. The same on every rank.
  bool guard = true;
  /// STRIPLINE_LOAD_ESTIMATION: where the model has service levels, plans of loops count on the
  /// bandwidth that is left when all nodes communicate at once (docs/strips.md). The same on every
  /// rank.
  bool load_estimation = true;
  /// STRIPLINE_TRACE: what rank 0 says on standard error when the job ends. "off"; "summary": what
  /// tuned plans have saved; "sites": also what was chosen, predicted and measured at each place in
  /// the program, and what operations one by one have taken there. The same on every rank.
  std::string trace = "off";
  /// What the program promises; no variable of the environment says so.
  thread_mode threads = thread_mode::single;
  /// STRIPLINE_LOOP_BUFFERS: what the buffers of all loops and nests of this rank may take together
  /// (docs/programming.md). At least 1.
  size_t loop_buffer_bytes = size_t{128} << 20;
  /// STRIPLINE_DATA_CACHE: loops and nests keep what they fetch until this rank's next
  /// acquire, and later ones are served from it. The program promises that it learns of changes to
  /// what its loops read by such calls only (docs/memory-model.md).
  bool data_cache = false;
  /// STRIPLINE_BULK: memput(), memget() and memcpy() do not wait, as inside of a bulk_region
  /// (<stripline/bulk.h>), from the first such call on.
  bool bulk = false;
  /// STRIPLINE_COALESCE: for front ends, as OpenSHMEM (docs/openshmem.md): accesses that are called
  /// one by one may travel together, and be read ahead. The same on every rank.
  bool coalesce = false;
  /// STRIPLINE_MODEL_MAY_NOT_FIT: the model is one that somebody else has chosen for this host, as
  /// a server that pushes it (docs/admin.md): if it was not made for this machine and fabric, or
  /// cannot be read, or is another one, on any rank, rank 0 says why, and the job goes on without
  /// it. Else that ends the job. The same on every rank.
  bool model_may_not_fit = false;

  /// Errors: invalid_argument for a value that does not parse.
  static Result<Options> from_environment();
};

/// Completion of one or several nonblocking operations. A value; may be dropped, the operation
/// completes all the same (at the latest in barrier() or finalize).
class future {
 public:
  future() = default;  ///< ready

  /// True if it is complete. Makes progress once if not.
  bool is_ready() const;
  /// Returns when it is complete. Makes progress meanwhile. `site` is where the call stands, for
  /// the launcher to tell where ranks are; it need not be given.
  void wait(CallSite site = CallSite::current()) const {
    if (ticket_.context != nullptr) wait_for_slot(site);
  }

  /// For a put, returns when the memory that it reads may be written again (source completion), at
  /// the latest when it is complete. What the runtime has copied, as it does to pack the regions of
  /// a transfer, is free long before the target's answer is back. Of anything else: wait().
  void wait_source(CallSite site = CallSite::current()) const;

  /// What is to follow: <stripline/future.h>, which defines it.
  template <typename F>
  auto then(F function, CallSite site = CallSite::current()) const;

  /// For the runtime's own mechanisms; not part of the public API.
  explicit future(const detail::Ticket& ticket) : ticket_(ticket) {}
  /// For the runtime's own mechanisms; not part of the public API.
  const detail::Ticket& ticket() const { return ticket_; }

 private:
  void wait_for_slot(CallSite site) const;
  detail::Ticket ticket_;
};

/// Returns when all are complete. Ends the process if there are futures at a null pointer, as
/// wait_any() does.
void wait_all(std::span<const future> futures, CallSite site = CallSite::current());
/// Returns when one is complete, and which: the first one by index. With no futures it returns 0.
size_t wait_any(std::span<const future> futures, CallSite site = CallSite::current());

/// A handler of active messages. Runs inside progress of the target; must be short and may reply
/// with Context::am_send, but must not wait, nor put or get: that ends the job, except where mapped
/// memory makes it plain loads and stores (Context::local says where). Handlers run one at a time
/// and never during a call of the program other than those that make progress; with a progress
/// thread (Options::progress) they may run beside what the program does between its calls
/// (<stripline/progress.h>).
using AmHandler = std::function<void(rank_t source, std::span<const std::byte> payload)>;

/// This rank's part in the job: its segment, and all calls that communicate; joins by init(),
/// leaves by its destructor.
class Context {
 public:
  /// Joins the job described by the environment (or a job of one rank when there is none).
  static Result<std::unique_ptr<Context>> init();
  /// With these options in place of the environment where they are set.
  static Result<std::unique_ptr<Context>> init(const Options& options);
  /// By the environment, with Options::threads as given.
  static Result<std::unique_ptr<Context>> init(thread_mode threads);

  /// Collective: waits for every rank, then leaves the job. What this rank still expects comes
  /// before: answers to its RPCs, and what is to follow its futures.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  rank_t rank_me() const { return rank_me_; }  ///< this rank's number, from 0
  rank_t rank_n() const { return rank_n_; }    ///< the number of ranks

  // --- memory -------------------------------------------------------------------------------

  /// Collective: `count` elements at the same offset of every rank's segment, zeroed at start-up,
  /// aligned to 64 bytes. Returns the pointer to this rank's part. Errors: resource_exhausted, with
  /// the room left and how to raise it; the same on every rank.
  template <typename T>
  Result<global_ptr<T>> new_symmetric_array(size_t count, CallSite site = CallSite::current()) {
    Result<uint64_t> offset = allocate_symmetric(detail::byte_count<T>(count), site);
    if (!offset.ok()) return offset.error();
    return global_ptr<T>(rank_me(), *offset);
  }
  /// Collective: gives back an array of new_symmetric_array.
  template <typename T>
  void delete_symmetric_array(global_ptr<T> array, CallSite site = CallSite::current()) {
    free_symmetric(array.offset(), site);
  }

  /// One rank's own doing, which others do not notice: `count` elements in this rank's segment, not
  /// zeroed, aligned to 64 bytes. The pointer may be sent to others, who use it as any other. Taken
  /// from the end of the segment, so that symmetric arrays keep their offsets. Errors:
  /// resource_exhausted, with the room left and how to raise it.
  template <typename T>
  Result<global_ptr<T>> allocate_local(size_t count, CallSite site = CallSite::current()) {
    Result<uint64_t> offset = allocate_local_bytes(detail::byte_count<T>(count), site);
    if (!offset.ok()) return offset.error();
    return global_ptr<T>(rank_me(), *offset);
  }
  /// Gives back what allocate_local() of this rank returned. No rank may be using it.
  template <typename T>
  void deallocate_local(global_ptr<T> array, CallSite site = CallSite::current()) {
    free_local(array.word(), site);
  }

  /// The global pointer to an object in this rank's segment, or in another one that is_local();
  /// null for memory that is in none. Looks through the ranks of the node.
  template <typename T>
  global_ptr<T> try_global_ptr(T* object) const {
    return find_global(reinterpret_cast<const std::byte*>(object))
        .template reinterpret<std::remove_const_t<T>>();
  }

  /// True if loads and stores reach the segment of a rank: this one's always, that of another rank
  /// of the same node where it is mapped (Options::same_node). Does not change.
  bool is_local(rank_t rank) const { return rank < rank_n_ && reachable_[rank] != nullptr; }
  /// The same of the rank that the pointer names.
  template <typename T>
  bool is_local(global_ptr<T> pointer) const {
    return is_local(pointer.where());
  }
  /// The memory behind a pointer for which is_local() holds. Stores into another rank's memory are
  /// visible to it as puts are: after a barrier, or another message that follows them. Ends the job
  /// for a null pointer, one beyond the end of the segment, and one for which is_local() does not
  /// hold.
  template <typename T>
  T* local(global_ptr<T> pointer, CallSite site = CallSite::current()) const {
    std::byte* place = reach(pointer.where(), pointer.offset(), 1);
    if (place == nullptr) [[unlikely]]
      place = local_closely(global_ptr<const std::byte>::from_word(pointer.word()), site);
    return reinterpret_cast<T*>(place);
  }

  /// The corresponding element of another rank's part of a symmetric array.
  template <typename T>
  global_ptr<T> on_rank(global_ptr<T> pointer, rank_t rank) const {
    return global_ptr<T>(rank, pointer.offset());
  }

  // --- one-sided ----------------------------------------------------------------------------
  //
  // What is_local() is copied at once, without progress: a program that waits for another rank's
  // doing waits with wait_until(), or calls progress().
  //
  // `site` is where the call stands, for messages and --trace to name; it need not be given.
  // Memory beyond the segment, also by more elements than can be, ends the job with a message.

  /// Starts fetching `count` elements; `destination` may be any memory and must stay until the
  /// future is ready.
  template <typename T>
  future rget(global_ptr<T> source, std::remove_const_t<T>* destination, size_t count,
              CallSite site = CallSite::current()) {
    return get_bytes(bytes_at(source), reinterpret_cast<std::byte*>(destination),
                     detail::byte_count<T>(count), site);
  }
  /// Starts storing; ready when the target's memory holds the data. `source` must stay unchanged
  /// until then.
  template <typename T>
  future rput(const T* source, global_ptr<T> destination, size_t count,
              CallSite site = CallSite::current()) {
    return put_bytes(reinterpret_cast<const std::byte*>(source), bytes_at(destination),
                     detail::byte_count<T>(count), site);
  }
  /// rput whose source may be changed as soon as it returns. Puts up to the size that the model
  /// says (64 KiB without one) are copied first, into at most 1 MiB together, and it waits for
  /// older ones while that is full; larger puts are waited for.
  template <typename T>
  future rput_buffered(const T* source, global_ptr<T> destination, size_t count,
                       CallSite site = CallSite::current()) {
    return put_bytes_buffered(reinterpret_cast<const std::byte*>(source), bytes_at(destination),
                              detail::byte_count<T>(count), site);
  }
  /// rput, and then `value` into the 8-byte word `flag` of the same rank: who sees the flag sees
  /// the data. Ready when both are visible. The owner waits with wait_signal(). (put_signal in
  /// OpenSHMEM 1.5.)
  template <typename T>
  future rput_signal(const T* source, global_ptr<T> destination, size_t count,
                     global_ptr<uint64_t> flag, uint64_t value,
                     CallSite site = CallSite::current()) {
    return put_bytes_signal(reinterpret_cast<const std::byte*>(source), bytes_at(destination),
                            detail::byte_count<T>(count), flag, value, site);
  }
  /// Makes progress until this rank's own `flag` is at least `value`; returns it.
  uint64_t wait_signal(global_ptr<uint64_t> flag, uint64_t value,
                       CallSite site = CallSite::current());
  /// rget and rput without a handle (NBI in GASNet and OpenSHMEM): complete after the next fence()
  /// that covers `source`'s (`destination`'s) rank, or barrier(); private memory must stay until
  /// then. Cheaper than futures, and small puts to one rank travel together in one message: they
  /// leave at the fence, when a message is full, or when the first of them has reached the age that
  /// the model says (50 us without one) and this rank makes progress.
  template <typename T>
  void rget_nbi(global_ptr<T> source, std::remove_const_t<T>* destination, size_t count,
                CallSite site = CallSite::current()) {
    const size_t bytes = detail::byte_count<T>(count);
    if (const std::byte* there = reach(source.where(), source.offset(), bytes);
        there != nullptr && destination != nullptr) {
      std::memmove(destination, there, bytes);
      return;
    }
    get_bytes_nbi(bytes_at(source), reinterpret_cast<std::byte*>(destination), bytes, site);
  }
  /// As rget_nbi(), from `source` here to `destination`; `source` stays as it is until fence().
  template <typename T>
  void rput_nbi(const T* source, global_ptr<T> destination, size_t count,
                CallSite site = CallSite::current()) {
    const size_t bytes = detail::byte_count<T>(count);
    if (std::byte* there = reach(destination.where(), destination.offset(), bytes);
        there != nullptr && source != nullptr) {
      std::memmove(there, source, bytes);
      return;
    }
    put_bytes_nbi(reinterpret_cast<const std::byte*>(source), bytes_at(destination), bytes, site);
  }
  /// Returns when this rank's operations without handles to `target`, or to all ranks, are
  /// complete: what was fetched is here, what was stored is visible there.
  void fence(rank_t target, CallSite site = CallSite::current());
  void fence(CallSite site = CallSite::current());  ///< the same for operations to all ranks
  /// Blocking single element forms.
  template <typename T>
  std::remove_const_t<T> rget(global_ptr<T> source, CallSite site = CallSite::current()) {
    if (const std::byte* there = reach(source.where(), source.offset(), sizeof(T))) {
      std::remove_const_t<T> value;
      std::memcpy(&value, there, sizeof(T));
      return value;
    }
    return fetch(source, site);
  }
  /// Stores one value; returns nothing, as it is visible at its target when the call returns (the
  /// form with a pointer to the source returns a future).
  template <typename T>
  void rput(const T& value, global_ptr<T> destination, CallSite site = CallSite::current()) {
    if (std::byte* there = reach(destination.where(), destination.offset(), sizeof(T))) {
      std::memcpy(there, &value, sizeof(T));
    } else {
      store(value, destination, site);
    }
  }

  // --- active messages ----------------------------------------------------------------------

  /// Collective: registers the same handler on every rank, in the same order; returns its id, which
  /// is never 0. Peers that return earlier may send at once, so the handler may run before the call
  /// returns here: a handler that sends to another one is registered after that one, and one that
  /// sends to itself is followed by a barrier().
  uint32_t register_am(AmHandler handler, CallSite site = CallSite::current());
  /// Sends at most am_max_bytes(). The payload is copied. Blocks while the target owes credits,
  /// making progress; inside of a handler it never blocks. Messages that a program sends to one
  /// target outside of handlers are served in that order. Delivery is not acknowledged: a program
  /// that must know counts or replies, and does so before it destroys the Context.
  void am_send(rank_t target, uint32_t handler, std::span<const std::byte> payload,
               CallSite site = CallSite::current());
  size_t am_max_bytes() const;  ///< the largest payload of am_send()
  /// Collective: returns when all active messages and RPCs of all ranks have been handled, those
  /// that handlers, and what follows futures, have sent meanwhile among them; no rank sends others
  /// between. At least two reductions over all ranks; as many more as chains of messages outlast
  /// (Mattern, Algorithms for distributed termination detection, 1987, section 4: the four-counter
  /// method).
  void am_quiesce(CallSite site = CallSite::current());
  /// How long what this rank asked of `target` lately waited there until that rank looked for it:
  /// active messages, packed transfers, combined puts, atomic operations by message. Seconds,
  /// smoothed, as last reported by the target, with 9 % of rounding; 0 if none was reported. An
  /// upper bound: the time between two looks of the target, unless it was waiting inside of a call.
  /// Planners of transfers take it into account.
  double service_delay(rank_t target) const;

  // --- synchronisation and collectives --------------------------------------------------------

  // `site` is where the call stands, for debug mode to name; it need not be given.

  /// All ranks have arrived, and all puts of all ranks issued before it are visible.
  void barrier(CallSite site = CallSite::current());
  /// The same in two phases: this rank's puts are visible when it returns, and the future is ready
  /// when all ranks have called it. Other work, and other collectives, may go between; the next
  /// barrier waits for this one.
  future barrier_async(CallSite site = CallSite::current());
  /// Every rank gets root's `bytes`; the same length on every rank.
  void broadcast(std::span<std::byte> bytes, rank_t root, CallSite site = CallSite::current());
  /// The same for one value. Not for what only refers to data: pass the bytes then.
  template <typename T>
  requires(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T> &&
           !std::is_convertible_v<T&, std::span<std::byte>>) T
      broadcast(T value, rank_t root, CallSite site = CallSite::current()) {
    broadcast(std::as_writable_bytes(std::span(&value, 1)), root, site);
    return value;
  }
  /// How reduce_all() combines the values.
  enum class ReduceOp { sum, min, max };
  /// The reduction over all ranks' values, on every rank; combined in rank order, so that the
  /// result is the same everywhere and every time.
  double reduce_all(double value, ReduceOp op, CallSite site = CallSite::current());
  /// The same of whole numbers.
  uint64_t reduce_all(uint64_t value, ReduceOp op, CallSite site = CallSite::current());

  // --- progress and time ----------------------------------------------------------------------

  /// Makes progress once.
  void progress();
  /// Seconds on the fabric's clock. Programs that may run on a virtual clock use no other.
  double now_s();
  /// Makes progress until the condition holds or `timeout_s` has passed; whether it holds. Ends the
  /// job if there is no condition, or the time is not a number.
  bool wait_until(const std::function<bool()>& condition,
                  double timeout_s = std::numeric_limits<double>::infinity(),
                  CallSite site = CallSite::current());
  /// Spends `seconds` computing (fabric.h, Fabric::compute_for). Ends the job unless they are
  /// finite, and not negative.
  void compute_for(double seconds, CallSite site = CallSite::current());
  /// Where the clock goes by declared work (work.h), what this rank says that it has computed: the
  /// program adds to it what it has done since its last call. Copies that the runtime makes are
  /// added by itself, and for loop nests (nest.h) what NestOptions::loop says of their bodies. Null
  /// on all other clocks. Valid as long as the context.
  Work* work();

  /// For the runtime's own mechanisms (loop engine) and for suites; not part of the public API.
  explicit Context(std::unique_ptr<detail::ContextState> state);
  /// For the runtime itself; not part of the public API.
  detail::ContextState& state() { return *state_; }

 private:
  Result<uint64_t> allocate_symmetric(size_t bytes, CallSite site);
  void free_symmetric(uint64_t offset, CallSite site);
  Result<uint64_t> allocate_local_bytes(size_t bytes, CallSite site);
  void free_local(uint64_t word, CallSite site);
  global_ptr<std::byte> find_global(const std::byte* object) const;
  // Where these bytes are in this process; null if they are not, or near or beyond the end of the
  // segment, or too many: all of which the longer path takes, which reports what is wrong.
  std::byte* reach(rank_t target, uint64_t offset, size_t bytes) const {
    // 0 wraps around, and takes the longer path.
    if (bytes - 1 >= kShort || target >= short_ranks_ || offset > short_end_) return nullptr;
    std::byte* const base = reachable_[target];
    return base == nullptr ? nullptr : base + offset;
  }
  // local() of what reach() does not find: near the end of the segment, observed, or wrong.
  [[gnu::cold]] std::byte* local_closely(global_ptr<const std::byte> place, CallSite site) const;
  // The longer path, kept out of the loops of its callers.
  template <typename T>
  [[gnu::noinline, gnu::cold]] std::remove_const_t<T> fetch(global_ptr<T> source, CallSite site) {
    std::remove_const_t<T> value;
    rget(source, &value, 1, site).wait(site);
    return value;
  }
  template <typename T>
  [[gnu::noinline, gnu::cold]] void store(const T& value, global_ptr<T> destination,
                                          CallSite site) {
    rput(&value, destination, 1, site).wait(site);
  }
  // The longer paths of all forms. Pointers go in one word, so that arguments stay in registers.
  template <typename T>
  static global_ptr<std::byte> bytes_at(global_ptr<T> place) {
    return global_ptr<std::byte>::from_word(place.word());
  }
  future get_bytes(global_ptr<const std::byte> source, std::byte* destination, size_t bytes,
                   CallSite site);
  future put_bytes(const std::byte* source, global_ptr<std::byte> destination, size_t bytes,
                   CallSite site);
  future put_bytes_buffered(const std::byte* source, global_ptr<std::byte> destination,
                            size_t bytes, CallSite site);
  future put_bytes_signal(const std::byte* source, global_ptr<std::byte> destination, size_t bytes,
                          global_ptr<uint64_t> flag, uint64_t value, CallSite site);
  void get_bytes_nbi(global_ptr<const std::byte> source, std::byte* destination, size_t bytes,
                     CallSite site);
  void put_bytes_nbi(const std::byte* source, global_ptr<std::byte> destination, size_t bytes,
                     CallSite site);

  std::unique_ptr<detail::ContextState> state_;
  // Parts of the state, where access to memory that is_local() finds them without a call.
  rank_t rank_me_;
  rank_t rank_n_;
  static constexpr size_t kShort = 64;
  // The ranks; 0 in debug mode, with a trace, and if a segment has no kShort bytes.
  rank_t short_ranks_;
  uint64_t short_end_;           // the last offset with kShort bytes behind it
  std::byte* const* reachable_;  // by rank
};

/// Prints "rank R: error: ..." unless the launcher already shows this failure to join, and returns
/// the process exit code for it.
int report(const Error& error);

}  // namespace stripline
