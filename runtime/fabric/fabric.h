// The fabric interface: what the runtime asks of a network. Two implementations: libfabric
// endpoints (ofi/) and the emulated fabric (emulated/). Everything above reads time and waits
// through it, so that the same code runs on a real and on a virtual clock.
//
// Threading: one rank's Fabric is used by one thread at a time, which the caller sees to, and so is
// each further Injector of the rank, beside it. Puts to and gets from ranks of SameNode::cma are
// copies of the kernel, which any thread may make. Ranks may be processes or, in tests, threads of
// one process, each with a Fabric of its own.
//
// Failure: opening returns a Result; after that a communication failure is final for the job and is
// reported once through the FailureHandler, which does not return.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <stripline/atomic_operation.h>
#include <stripline/work.h>

#include "base/result.h"
#include "runtime/fabric/network_place.h"

namespace stripline::fabric {

using Rank = uint32_t;

/// Operations in flight. An operation adds one when it is issued and takes it away when it is
/// complete; the memory it names must stay valid until then.
struct Counter {
  uint32_t pending = 0;
};

using detail::AtomicOp;
using detail::AtomicType;
using detail::bytes_of;
using detail::kAtomicOps;
using detail::kAtomicTypes;

/// One atomic operation. Operands are the bits of a value of `type`, in the low bytes.
struct AtomicRequest {
  AtomicOp op = AtomicOp::load;
  AtomicType type = AtomicType::uint64;
  uint64_t operand = 0;
  uint64_t expected = 0;  ///< of compare_swap
};

/// What a put with a signal does when its data are visible: stores `value` into the aligned 8-byte
/// word at `offset` of the target's segment.
struct Signal {
  uint64_t offset = 0;
  uint64_t value = 0;
};

/// How a rank reaches the segments of other ranks of its node.
enum class SameNode : uint8_t {
  network,  ///< through the provider, as those of other nodes
  mapped,   ///< mapped into this process: loads and stores
  cma,      ///< copied by the kernel from process to process (cross-memory attach)
};

/// What kind of memory.
enum class MemoryKind : uint8_t {
  host,  ///< loads and stores of this process reach it
};

/// Memory of this rank, in the form in which operations take it. Passed by value or reference; owns
/// nothing. What only reads takes memory that is const, and does not write to it.
struct Memory {
  constexpr Memory(const std::byte* pointer_in, size_t bytes_in,
                   MemoryKind kind_in = MemoryKind::host, void* key_in = nullptr)
      : pointer(const_cast<std::byte*>(pointer_in)), bytes(bytes_in), kind(kind_in), key(key_in) {}

  /// The part from `begin` on.
  constexpr Memory part(size_t begin, size_t length) const {
    return {pointer + begin, length, kind, key};
  }

  std::byte* pointer;
  size_t bytes;
  MemoryKind kind;
  /// What the provider knows it by, where it was registered with it; null: the fabric finds out,
  /// and registers it for the time of the operation if it has to.
  void* key;
};

/// What makes progress for a rank.
enum class Progress : uint8_t {
  in_calls,     ///< its calls
  by_thread,    ///< its calls, and a thread of the runtime between them
  by_provider,  ///< its calls, and the provider's own thread (FI_PROGRESS_AUTO)
};

/// What a thread that makes progress between a rank's calls can wait for.
struct Watch {
  int descriptor = -1;    ///< readable when something may have arrived; -1: there is none
  bool complete = false;  ///< nothing arrives that it does not tell of
};

/// Messages that arrived at a rank between polls.
struct Missed {
  uint64_t times = 0;
  double seconds = 0;  ///< that it waited, expected: half of the time without a look

  Missed& operator+=(const Missed& other) {
    times += other.times;
    seconds += other.seconds;
    return *this;
  }
};

/// `bytes` at `offset` of the target's segment, and the memory they come from or go to, which is
/// the host's.
struct Piece {
  uint64_t offset = 0;
  std::byte* memory = nullptr;
  size_t bytes = 0;
};

/// What an open fabric is. Constant after connect().
struct Info {
  std::string name;              ///< as the user wrote it: "tcp", "emulated:opteron-vapi"
  std::string provider;          ///< "tcp;ofi_rxm", "emulated"
  std::string clock;             ///< "real" or "virtual"
  size_t max_message_bytes = 0;  ///< largest message try_send() accepts
  size_t inject_bytes = 0;       ///< put sizes whose source is reusable at once; 0: none
  size_t queue_depth = 0;        ///< operations the provider says it queues; 0: unknown
  uint32_t iov_limit = 1;        ///< pieces that one putv() or getv() takes; 1: no gain in them
  uint32_t nic_ranks = 1;        ///< ranks that share this rank's NIC, itself included
  /// True if the flag of a put_signal() travels with the data. Otherwise it follows when they are
  /// known to be visible.
  bool flag_with_data = false;
  /// True if operations go on while the ranks that they concern are outside of calls, by the NIC or
  /// the provider's own thread. Otherwise who computes for long without a call keeps them waiting.
  bool goes_on_without_calls = false;
  /// True if the ranks that a get reads from have to make calls until it is complete. False where
  /// the rank that gets, the kernel or a NIC copies.
  bool gets_need_target = false;
  bool puts_need_target = false;  ///< likewise the rank that a put writes to
  /// How other ranks of this node are reached, and why not as it was asked for: "mapped: 3 ranks",
  /// "network: 1 rank (rank 2: /proc/71/fd/9: Permission denied)". Empty without such ranks.
  std::string same_node;
  size_t buffer_bytes = 0;    ///< registered memory of messages and copies, beside the segment
  size_t peer_bytes = 0;      ///< memory for each other rank
  size_t injector_bytes = 0;  ///< memory of each further injector, beside what the provider takes
  /// Facts for the machine fingerprint, e.g. {"fabric.provider","tcp;ofi_rxm"},
  /// {"libfabric.version","1.17.0"}.
  std::map<std::string, std::string> attributes;
};

/// Traffic that really went through the provider, for tests and reports. What a mapping or the
/// kernel's copy carried is not in it.
struct Traffic {
  uint64_t puts = 0;
  uint64_t put_bytes = 0;
  uint64_t gets = 0;
  uint64_t get_bytes = 0;
  uint64_t messages = 0;
  uint64_t message_bytes = 0;
  uint64_t atomics = 0;
};

/// Receives messages during poll() and waits, in the thread that calls them.
class MessageSink {
 public:
  virtual ~MessageSink() = default;
  /// `message` is valid during the call only. May call try_send(), never poll() or wait().
  virtual void on_message(Rank source, std::span<const std::byte> message) = 0;
  /// A put of `source` with this tag has landed (Shortcuts::put_notify). As on_message().
  virtual void on_landed([[maybe_unused]] Rank source, [[maybe_unused]] uint32_t tag) {}
};

/// Called with a failure that ends the job. Must not return.
using FailureHandler = std::function<void(const Error&)>;

class Shortcuts;  // shortcuts.h
class Crew;       // crew.h

/// While it lives the rank waits, for whoever looks from outside: a count of waits begun and ended,
/// to which only this rank writes, is odd. A wait within another one is the same wait.
class Waiting {
 public:
  explicit Waiting(std::atomic<uint64_t>& count)
      : count_(count), outer_((count.load(std::memory_order_relaxed) & 1) != 0) {
    if (!outer_) add_one();
  }
  ~Waiting() {
    if (!outer_) add_one();
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  void add_one() {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  std::atomic<uint64_t>& count_;
  bool outer_;
};

/// Where gets, puts and atomic operations are handed to the network. A Fabric is one, and opens
/// further ones, for threads that share nothing with each other. One thread at a time uses each.
class Injector {
 public:
  virtual ~Injector() = default;

  /// Starts reading as many bytes at `offset` of the target's segment as `destination` has, which
  /// may be any memory of the caller. Blocks only while the provider's queue is full (and then
  /// makes progress). Bounds are the caller's duty: [offset, offset+bytes) lies within the segment.
  virtual void get(const Memory& destination, Rank target, uint64_t offset, Counter& counter) = 0;

  /// Starts writing. Complete means visible at the target: a later get by anyone, or a local read
  /// by the target after it has synchronised with the initiator, sees the data.
  virtual void put(Rank target, uint64_t offset, const Memory& source, Counter& counter) = 0;

  /// True if atomic() knows this operation, with the previous value or without.
  virtual bool has_atomic(AtomicOp op, AtomicType type, bool previous) const = 0;

  /// Starts an atomic operation on the aligned variable at `offset` of any rank's segment, this one
  /// included. `previous` gets the bytes_of(type) that it held before, or is null. Atomic only
  /// among operations of this call: not with puts, gets and the target's own loads and stores.
  virtual void atomic(const AtomicRequest& request, Rank target, uint64_t offset, void* previous,
                      Counter& counter) = 0;

  /// Makes progress until the counter has drained: the hot path.
  virtual void wait_for(const Counter& counter) = 0;

  /// What it has sent, for tests and reports.
  virtual Traffic traffic() const = 0;
};

class Fabric : public Injector {
 public:
  virtual const Info& info() const = 0;

  /// This rank's address, to be exchanged by the bootstrap; any bytes.
  virtual std::string local_address() const = 0;

  /// Makes all peers reachable; addresses[i] is rank i's local_address(). Collective. Does what the
  /// provider needs before a first operation, so that later calls never connect.
  virtual Status connect(std::span<const std::string> addresses, double timeout_s) = 0;

  virtual void set_message_sink(MessageSink* sink) = 0;
  virtual void set_failure_handler(FailureHandler handler) = 0;

  /// This rank's shared segment: registered, page-aligned, zeroed, of the size asked for.
  virtual std::span<std::byte> segment() = 0;

  /// The target's segment where loads and stores of this process reach it; empty where they do not.
  /// This rank's own always. Valid and constant after connect(), except that ranks which have left
  /// may take theirs along.
  virtual std::span<std::byte> reachable_segment(Rank target) = 0;

  /// How operations of this rank reach another one; of itself: mapped. Constant after connect().
  virtual SameNode path(Rank target) const = 0;

  /// Where a rank's node is in the network. Constant after connect(). Not on the hot path.
  virtual NetworkPlace place(Rank rank) const = 0;

  /// One to info().iov_limit pieces by one operation of the network, where it has such operations.
  /// No piece is empty.
  virtual void getv(Rank target, std::span<const Piece> pieces, Counter& counter) {
    for (const Piece& piece : pieces) {
      get({piece.memory, piece.bytes}, target, piece.offset, counter);
    }
  }
  virtual void putv(Rank target, std::span<const Piece> pieces, Counter& counter) {
    for (const Piece& piece : pieces) {
      put(target, piece.offset, {piece.memory, piece.bytes}, counter);
    }
  }

  /// put(), and then the signal: a target that sees the flag sees the data. Complete when both are
  /// visible.
  virtual void put_signal(Rank target, uint64_t offset, const Memory& source, const Signal& signal,
                          Counter& counter) = 0;

  /// Opens a further injector, for one thread at a time, which may use it while others use this
  /// fabric and other injectors: it has an endpoint, a completion queue and counts of its own. It
  /// serves neither this rank's peers nor this fabric's operations; while it waits, in any call, it
  /// calls `meanwhile`, which does, unless another thread is at it. Its gets and puts reach ranks
  /// of SameNode::network, its atomic operations all ranks but this one; they are atomic with those
  /// of this fabric. Who closes it while operations are in flight does not learn if they were
  /// carried out, but they leave the caller's memory alone. A failure is reported by the handler
  /// that this fabric has now, on the thread that finds it. Called by the thread that uses this
  /// fabric, after connect(). Errors: unimplemented where a rank has one queue; resource_exhausted
  /// beyond the number that the site permits, or without room on the host; unavailable for a
  /// provider that opens no further endpoint.
  virtual Result<std::unique_ptr<Injector>> open_injector(
      std::function<void()> /*meanwhile*/) {  // NOLINT(performance-unnecessary-value-param): kept
    return Error(ErrorCode::unimplemented,
                 "fabric '" + info().name + "' has one queue for each rank");
  }

  /// Sends a message of at most info().max_message_bytes; the bytes are copied before it returns.
  /// False when no room is left now: call poll() and try again. Messages of one sender to one
  /// target arrive in order.
  virtual bool try_send(Rank target, std::span<const std::byte> message) = 0;

  /// Inside of MessageSink::on_message(): how many seconds the message waited for this rank to look
  /// for messages; 0 if it came while the rank did. On the emulated fabric that is exact. Elsewhere
  /// it is the time since this rank looked last, which is the most that it can have been; empty if
  /// that time was not noted, because no one asked during the last calls.
  virtual std::optional<double> waited_s() = 0;

  /// True if a get from `target` (or a put to it, if `put`) completes only when that rank makes
  /// progress. Valid after connect().
  virtual bool needs_target(Rank target, bool put) const = 0;

  /// For a thread that makes progress between the calls of another one: what it can wait for.
  /// Constant after connect(). Empty unless the fabric was opened for one (Progress::by_thread) and
  /// can be used by several threads, one at a time.
  virtual std::optional<Watch> watch() const { return std::nullopt; }

  /// Before waiting for the descriptor: false if something is here already. Looks after what no
  /// descriptor tells of, such as peers that have ended.
  virtual bool prepare_to_wait() { return true; }

  /// After waiting, if the descriptor became readable: what is found next has come just now
  /// (waited_s).
  virtual void woken() {}

  /// From now on counts operations of peers that waited for this rank because no one looked for
  /// `least_s` or longer, and notes the times that waited_s() needs. No effect where watch() is
  /// empty.
  virtual void note_missed(double /*least_s*/) {}

  /// Among these, those that the provider carries out itself once it is called (gets from this rank
  /// and puts to it), as far as its descriptor tells them from completions of this rank's own
  /// operations. Messages are not among them (waited_s).
  virtual Missed missed() const { return {}; }

  /// Makes progress once: completions, arrivals (calls the sink). Never blocks.
  virtual void poll() = 0;

  /// poll() for a rank that has other things to do than to wait: messages that have come are
  /// received, while what there is to do for completions of the rank's own operations may stay for
  /// a later call. Never blocks.
  virtual void attend() { poll(); }

  /// Seconds on the fabric's clock since connect(). The same origin on all ranks only on the
  /// virtual clock.
  virtual double now_s() = 0;

  /// Makes progress until `condition()` holds or the clock passes `deadline_s` (absolute, on
  /// now_s(); infinity: none). Returns whether it holds. The condition reads only the rank's own
  /// memory and state.
  virtual bool wait(const std::function<bool()>& condition, double deadline_s) = 0;

  /// Spends `seconds` of computation without entering the network: spins on the real clock,
  /// advances the virtual one. For measurements of overlap.
  virtual void compute_for(double seconds) = 0;

  /// What this rank says that it has computed, where the clock goes by that (emulated fabric):
  /// whoever computes adds to it, and it has taken its time at the next call. Null on all other
  /// clocks. Constant, and not for the thread of a progress thread.
  Work* work() { return work_; }

  /// From now on waits are counted there, those for room in a queue among them. Outlives the
  /// fabric.
  void count_waits(std::atomic<uint64_t>& count) { waits_ = &count; }
  /// For Waiting, in those who wait by this fabric.
  std::atomic<uint64_t>& wait_count() { return *waits_; }

  /// What this fabric offers beyond; null: nothing. Valid as long as the fabric.
  virtual Shortcuts* shortcuts() { return nullptr; }

 protected:
  void set_work(Work* work) { work_ = work; }

 private:
  Work* work_ = nullptr;
  std::atomic<uint64_t> uncounted_waits_{0};
  std::atomic<uint64_t>* waits_ = &uncounted_waits_;
};

/// What is asked for when opening.
struct OpenOptions {
  std::string fabric;          ///< "tcp", "shm", ..., or "emulated:PROFILE[,key=value...]"
  std::string clock = "real";  ///< "virtual" only for the emulated fabric
  Rank rank = 0;
  Rank ranks = 1;
  std::string job_id;  ///< unique per job and host; names shared memory
  size_t segment_bytes = 0;
  /// True if the segment's pages are made at once, or when they are first touched. An emulated
  /// fabric's always are: /dev/shm may be full by then.
  bool populate = true;
  uint64_t seed = 0;  ///< jitter of the emulated fabric
  /// As far as the host permits; else the network. The emulated fabric stands between all ranks.
  SameNode same_node = SameNode::network;
  /// This many ranks, in order, are taken for a node; 0: those of a machine.
  Rank node_ranks = 0;
  Progress progress = Progress::in_calls;
  /// True if a peer is known to compute outside of calls that wait, so that an operation of which
  /// nothing is heard is not lost. Null: nothing is known of any.
  std::function<bool(Rank)> computes;
  /// No one else looks after processes of this host that are stopped.
  bool watch_for_stopped = false;
  Crew* crew = nullptr;  ///< the ranks are fibers of one thread, on the virtual clock
};

/// Opens the fabric a name stands for. Errors: invalid_argument (unknown name; the message lists
/// what this host offers), failed_precondition (a profile this host cannot reproduce),
/// resource_exhausted (the segment does not fit), unavailable (provider cannot be used).
Result<std::unique_ptr<Fabric>> open_fabric(const OpenOptions& options);

}  // namespace stripline::fabric
