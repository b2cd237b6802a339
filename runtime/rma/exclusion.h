// The threads that are inside of a Context. The program's is one at a time: the one that joined,
// or, with thread_mode::serialized, any. A thread of the runtime may serve peers meanwhile
// (progress_thread.h), and so may threads that inject (injection.h), with thread_mode::injecting.
// Where there is only the one that joined, to enter costs a comparison and to leave a branch; while
// it is not decided whether there shall be a thread of the runtime, a count. A program that breaks
// its promise ends the job, and a child process that calls ends itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

#include <stripline/context.h>

#include "runtime/rma/context_life.h"

namespace stripline::rma {

class Exclusion {
 public:
  /// On the thread that joins. `fail` ends the job with this message, `fail_in_child` a child
  /// process. `life` stays.
  Exclusion(thread_mode threads, detail::ContextLife& life,
            std::function<void(const char* why)> fail, std::function<void()> fail_in_child)
      : serialized_(threads != thread_mode::single),
        injecting_(threads == thread_mode::injecting),
        life_(life),
        fail_(std::move(fail)),
        fail_in_child_(std::move(fail_in_child)),
        joined_(this_thread()),
        free_for_(life.only_here()) {
    share(false);
  }

  /// Only while there is one thread, and not inside of a call. Threads that inject share at all
  /// times.
  void share(bool shared) {
    mode_ = shared || injecting_ ? Mode::shared : Mode::alone;
    choose();
  }

  /// Counts calls from now on, and calls `at_end` when the program leaves a call that is not inside
  /// of another one; it may share(). Not inside of a call, nor where threads inject.
  void count(std::function<void()> at_end) {
    mode_ = Mode::counted;
    at_end_ = std::move(at_end);
    choose();
  }

  /// Held during every call of the Context. May be nested: calls call each other, and handlers call
  /// back in.
  class Guard {
   public:
    explicit Guard(Exclusion& exclusion) : held_(!exclusion.is_free_here() ? &exclusion : nullptr) {
      if (held_ != nullptr) [[unlikely]]
        held_->enter();
    }
    ~Guard() {
      if (held_ != nullptr) [[unlikely]]
        held_->leave();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Exclusion* held_;
  };

  /// True if this thread may do without a Guard: what it does makes no progress, and the program
  /// has one thread.
  bool is_free_here() const { return free_for_ == this_thread(); }

  /// What a Guard does when it is made, and when it goes.
  void hold() {
    if (!is_free_here()) [[unlikely]]
      enter();
  }
  void release() {
    if (!is_free_here()) [[unlikely]]
      leave();
  }

  /// Calls so far, those of handlers included, since count() or share(true). Inside of a call, in
  /// `at_end`, or between try_enter() and leave().
  uint64_t calls() const { return calls_; }

  // --- for the thread of the runtime, and those that inject --------------------------------------

  /// This thread is that one.
  void serve_here() { runtime_.store(this_thread(), std::memory_order_relaxed); }
  bool is_runtime_thread() const {
    return runtime_.load(std::memory_order_relaxed) == this_thread();
  }

  /// True if this thread is inside of a call. Only while it is shared.
  bool is_inside_here() const { return inside_.load(std::memory_order_relaxed) == this_thread(); }

  /// Enters unless the program is inside or wants to be, on this thread or another one. Only while
  /// it is shared. leave() after true.
  bool try_enter() {
    if (wanted_.load(std::memory_order_relaxed) || !mutex_.try_lock()) return false;
    if (depth_ > 0) {
      mutex_.unlock();
      return false;
    }
    ++depth_;
    inside_.store(this_thread(), std::memory_order_relaxed);
    return true;
  }
  void leave() {
    if (mode_ == Mode::shared) {
      if (--depth_ == 0) inside_.store(nullptr, std::memory_order_relaxed);
      mutex_.unlock();
      return;
    }
    if (--depth_ > 0) return;
    if (mode_ == Mode::counted) at_end_();
    if (serialized_) inside_.store(nullptr, std::memory_order_release);
  }

 private:
  enum class Mode : uint8_t { alone, counted, shared };

  // An address that no other living thread has.
  static const void* this_thread() {
    static thread_local const char here = 0;
    return &here;
  }

  void choose() { free_for_ = mode_ == Mode::alone && !serialized_ ? joined_ : nullptr; }

  void enter() {
    if (life_.in_child()) [[unlikely]]
      fail_in_child_();
    if (!serialized_ && joined_ != this_thread() && !is_runtime_thread()) {
      fail_(
          "calls the Context, but another one has joined the job: one thread of a rank "
          "communicates, unless the program joins with "
          "Context::init(stripline::thread_mode::serialized)");
    }
    if (mode_ == Mode::shared) {
      // The mutex is not fair: the thread of the runtime keeps out while it is wanted.
      if (!mutex_.try_lock()) {
        wanted_.store(true, std::memory_order_relaxed);
        mutex_.lock();
        wanted_.store(false, std::memory_order_relaxed);
      }
      if (depth_++ == 0) inside_.store(this_thread(), std::memory_order_relaxed);
      ++calls_;
      return;
    }
    if (serialized_) take_turn();
    ++depth_;
    if (mode_ == Mode::counted) ++calls_;
  }

  void take_turn() {
    const void* const me = this_thread();
    const void* nobody = nullptr;
    if (inside_.load(std::memory_order_relaxed) == me) return;
    if (!inside_.compare_exchange_strong(nobody, me, std::memory_order_acquire)) {
      fail_(
          "calls the Context while another one is inside of a call: with "
          "stripline::thread_mode::serialized the program sees to it, e.g. by a mutex, that one "
          "thread calls at a time");
    }
  }

  const bool serialized_;
  const bool injecting_;
  const detail::ContextLife& life_;
  const std::function<void(const char* why)> fail_;
  const std::function<void()> fail_in_child_;
  const void* const joined_;
  const void*& free_for_;  // the thread that need not ask; null: all have to, as in children
  Mode mode_ = Mode::alone;
  std::atomic<bool> wanted_{false};
  std::atomic<const void*> runtime_{nullptr};
  std::atomic<const void*> inside_{nullptr};  // serialized or shared: the thread in a call
  uint32_t depth_ = 0;                        // calls in progress, one inside of another
  uint64_t calls_ = 0;
  std::function<void()> at_end_;
  std::recursive_mutex mutex_;
};

}  // namespace stripline::rma
