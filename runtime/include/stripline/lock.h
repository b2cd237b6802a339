// A lock that ranks take in turn.
//
//   auto made = stripline::global_lock::create(ctx);          // collective
//   if (!made.ok()) return stripline::report(made.error());
//   stripline::global_lock& lock = *made;
//   {
//     const std::lock_guard hold(lock);
//     double value = ctx.rget(shared);
//     ctx.rput(value + mine, shared);
//   }
//
// Queue-based (Mellor-Crummey and Scott 1991, section 2.4): a rank that comes swaps itself into the
// lock's one word, tells who was there before, and then waits for a flag in its own memory; who
// leaves raises the flag of the next. So ranks get the lock in the order of their swaps, a waiting
// rank causes no traffic, and handing over is one message.
//
// lock() is an acquire fence and unlock() a release fence: what a holder put before unlock() is
// visible to the next holder after lock(). A rank that dies ends the job, holder or not.
//
// Where atomic operations go by message (AtomicPath), the home rank serves those of the lock when
// it makes progress, and so does a holder that learns who comes next.
#pragma once

#include <cstdint>

#include <stripline/atomic.h>
#include <stripline/context.h>

namespace stripline {

/// Lockable in the sense of the standard library: std::lock_guard and std::unique_lock hold it.
class global_lock {
 public:
  /// Collective: the same home on every rank, whose memory holds the lock's word. Errors:
  /// resource_exhausted, as Context::new_symmetric_array().
  static Result<global_lock> create(Context& context, rank_t home = 0,
                                    CallSite site = CallSite::current());
  /// Collective. Ends the job if this rank holds the lock. Before the Context goes.
  ~global_lock();
  global_lock(global_lock&& other) noexcept;  ///< moves: calls of the other one end the process
  global_lock& operator=(global_lock&&) = delete;
  global_lock(const global_lock&) = delete;
  global_lock& operator=(const global_lock&) = delete;

  /// Returns when this rank holds the lock. Makes progress meanwhile. Ends the job if it holds it
  /// already.
  void lock();
  /// Takes the lock if no one holds it or waits for it; whether it did. At most one round trip;
  /// makes progress if it did not. Ends the job if this rank holds it already.
  bool try_lock();
  /// Completes this rank's puts and atomic operations and hands over. Ends the job if it does not
  /// hold the lock.
  void unlock();

 private:
  // Words of each rank; of the first, the home rank's is used. Apart by a cache line.
  static constexpr std::ptrdiff_t kTail = 0;      // rank + 1 of who came last; 0: the lock is free
  static constexpr std::ptrdiff_t kNext = 8;      // rank + 1 of who comes after this rank
  static constexpr std::ptrdiff_t kGranted = 16;  // 1: the lock is this rank's
  static constexpr size_t kWords = 24;

  global_lock(Context& context, rank_t home, global_ptr<uint64_t> words);
  void raise(rank_t rank, std::ptrdiff_t word, uint64_t value) const;
  void begin(const char* name, bool held) const;

  Context* context_;
  global_ptr<uint64_t> words_;
  global_ptr<uint64_t> tail_;
  atomic_domain<uint64_t> domain_;
  bool held_ = false;
};

}  // namespace stripline
