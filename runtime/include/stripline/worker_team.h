// Workers that reach each other's memory by loads and stores: the ranks of a node that map each
// other's segments, or threads of one rank. What is written for a team of workers
// (<stripline/shared_updates.h>) runs on either.
//
//   auto workers = stripline::node_workers(ctx);              // collective: the ranks of my node
//   if (!workers.ok()) return stripline::report(workers.error());
//   stripline::worker_team& team = **workers;
//
//   stripline::thread_workers threads(4);                     // or threads of this process,
//   auto threads = stripline::thread_workers::all();          // one on each core
//   threads.run([&](stripline::worker_team& team) { ... });   // once on each
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <stripline/byte_count.h>
#include <stripline/context.h>

#include "base/result.h"

namespace stripline {

/// What one worker knows of its team. Only this worker calls it. Collective calls are made by all
/// workers in the same order.
class worker_team {
 public:
  virtual ~worker_team() = default;
  worker_team(const worker_team&) = delete;
  worker_team& operator=(const worker_team&) = delete;

  uint32_t index() const { return index_; }  ///< this worker's number, from 0
  uint32_t count() const { return count_; }  ///< the number of workers

  /// Collective: returns when all have come; each then sees what the others have stored before.
  virtual void barrier() = 0;
  /// Collective: what each worker gives, by index. Orders as a barrier.
  virtual std::vector<uint64_t> allgather(uint64_t mine) = 0;
  /// To be called again and again while waiting for another worker otherwise.
  virtual void relax() = 0;
  /// Seconds on a clock of this worker.
  virtual double now_s() = 0;
  /// By whose tuned model what the workers do is decided, and in whose trace it is shown; null:
  /// none.
  virtual Context* context() { return nullptr; }

  /// Memory that all workers reach, aligned to 64 bytes and not zeroed. This worker's own doing,
  /// which others do not notice; what is returned names it on every worker. Its pages are those of
  /// the worker that touches them first. Errors: resource_exhausted.
  virtual Result<uint64_t> allocate(size_t bytes) = 0;
  /// Gives back what allocate() of this worker returned.
  virtual void deallocate(uint64_t block) = 0;
  /// Where a block of any worker is in this worker's address space.
  virtual std::byte* at(uint64_t block) const = 0;

  /// Ends the job, or for threads the process, with this message.
  [[noreturn]] void fail(const Error& error) const {
    end_job(error);
    std::abort();  // calls through virtual functions count as returning, whatever they say
  }

 protected:
  /// For teams of one kind.
  worker_team(uint32_t index, uint32_t count) : index_(index), count_(count) {}
  /// What fail() does; does not return.
  [[noreturn]] virtual void end_job(const Error& error) const = 0;

 private:
  uint32_t index_;
  uint32_t count_;
};

/// Collective over all ranks: the team of those on this rank's node whose memory it maps, itself
/// among them. Memory is taken from the ranks' segments (Context::allocate_local). Destroying it is
/// collective over the workers; the context must outlive it. Errors: unavailable on the virtual
/// clock, where ranks do not run at the same time.
Result<std::unique_ptr<worker_team>> node_workers(Context& context);

/// Elements in the memory of a team's first worker, which all workers reach. Moves, does not copy.
/// The team must outlive it.
template <typename T>
class team_array {
  static_assert(std::is_trivially_copyable_v<T>, "workers share trivially copyable types");
  static_assert(alignof(T) <= 64, "memory of teams is aligned to 64 bytes");

 public:
  /// Collective, with the same count, which may be 0; not initialised: pages are those of the
  /// worker that touches them first. Errors, on all workers: invalid_argument if counts differ;
  /// resource_exhausted, or invalid_argument where 64 bits do not count the bytes.
  static Result<team_array> create(worker_team& team, size_t count) {
    const std::vector<uint64_t> counts = team.allgather(count);
    for (uint32_t worker = 1; worker < team.count(); ++worker) {
      if (counts[worker] == counts[0]) continue;
      return Error(ErrorCode::invalid_argument,
                   "team_array::create of " + std::to_string(counts[worker]) +
                       " elements by worker " + std::to_string(worker) + ", and of " +
                       std::to_string(counts[0]) +
                       " by worker 0; all workers of the team give the same count");
    }
    Result<uint64_t> block = uint64_t{0};
    if (team.index() == 0) block = team.allocate(detail::byte_count<T>(count));
    if (team.allgather(block.ok() ? 1 : 0)[0] == 0) {
      return block.ok() ? Error(ErrorCode::resource_exhausted,
                                "worker 0 of the team has no memory for a team_array of " +
                                    std::to_string(count) + " elements; its own error says why")
                        : block.error();
    }
    team_array array;
    array.team_ = &team;
    array.block_ = team.allgather(*block)[0];
    array.elements_ = {reinterpret_cast<T*>(team.at(array.block_)), count};
    return array;
  }
  /// Collective: waits until no one uses it any more.
  ~team_array() {
    if (team_ == nullptr) return;
    team_->barrier();
    if (team_->index() == 0) team_->deallocate(block_);
  }
  /// Moves: the other one has no elements any more, and its end is not collective.
  team_array(team_array&& other) noexcept
      : team_(std::exchange(other.team_, nullptr)),
        block_(other.block_),
        elements_(std::exchange(other.elements_, {})) {}
  team_array& operator=(team_array&&) = delete;

  std::span<T> all() const { return elements_; }  ///< the elements; the same memory for all workers

 private:
  team_array() = default;

  worker_team* team_ = nullptr;
  uint64_t block_ = 0;
  std::span<T> elements_;
};

/// Threads of this process. They need no Context, and may not call one unless its thread_mode
/// permits that.
class thread_workers {
 public:
  /// `count` threads, at least 1. With `processors`, thread i is bound to processor
  /// processors[i % size], by the kernel's numbers. `context`: worker_team::context(), of the
  /// thread that calls run(), which outlives this. Ends the process if there are processors at a
  /// null pointer.
  explicit thread_workers(uint32_t count, std::span<const uint32_t> processors = {},
                          Context* context = nullptr, CallSite site = CallSite::current());
  /// A thread for each core that the calling thread may run on, bound to one of its processors.
  /// Workers of successive indices are near each other: those of a package are numbered together.
  /// Where the kernel does not say what is a core, each processor counts as one.
  static thread_workers all(Context* context = nullptr);
  ~thread_workers();
  thread_workers(const thread_workers&) = delete;
  thread_workers& operator=(const thread_workers&) = delete;

  /// Runs `body` once on each worker, each in a thread of its own, and returns when all have
  /// returned. Memory that they have not given back is given back then. A body that throws ends the
  /// process with a message, and so does an empty one.
  void run(const std::function<void(worker_team&)>& body, CallSite site = CallSite::current());

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stripline
