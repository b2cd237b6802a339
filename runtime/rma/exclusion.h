// One thread at a time inside of a Context, where it has two: the program's, which calls it, and a
// thread of the runtime that serves peers meanwhile (progress_thread.h). Without the second one, to
// enter and to leave costs a branch each; while it is not decided whether there shall be one, a
// count.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>

namespace stripline::rma {

class Exclusion {
 public:
  /// Only while there is one thread, and not inside of a call.
  void share(bool shared) { mode_ = shared ? Mode::shared : Mode::alone; }

  /// Counts calls from now on, and calls `at_end` when the program leaves a call that is not inside
  /// of another one; it may share(). Not inside of a call.
  void count(std::function<void()> at_end) {
    mode_ = Mode::counted;
    at_end_ = std::move(at_end);
  }

  /// Held during every call of the Context. May be nested: calls call each other, and handlers call
  /// back in.
  class Guard {
   public:
    explicit Guard(Exclusion& exclusion)
        : held_(exclusion.mode_ != Mode::alone ? &exclusion : nullptr) {
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

  /// What a Guard does when it is made, and when it goes.
  void hold() {
    if (mode_ != Mode::alone) [[unlikely]]
      enter();
  }
  void release() {
    if (mode_ != Mode::alone) [[unlikely]]
      leave();
  }

  /// Calls so far, those of handlers included, since count() or share(true). Inside of a call, in
  /// `at_end`, or between try_enter() and leave().
  uint64_t calls() const { return calls_; }

  // --- for the thread of the runtime ------------------------------------------------------------

  /// Enters unless the program is inside or wants to be. leave() after true.
  bool try_enter() { return !wanted_.load(std::memory_order_relaxed) && mutex_.try_lock(); }
  void leave() {
    if (mode_ == Mode::shared) {
      mutex_.unlock();
    } else if (--depth_ == 0) {
      at_end_();
    }
  }

 private:
  enum class Mode : uint8_t { alone, counted, shared };

  void enter() {
    if (mode_ == Mode::counted) {
      ++calls_;
      ++depth_;
      return;
    }
    // The mutex is not fair: the thread of the runtime keeps out while it is wanted.
    if (!mutex_.try_lock()) {
      wanted_.store(true, std::memory_order_relaxed);
      mutex_.lock();
      wanted_.store(false, std::memory_order_relaxed);
    }
    ++calls_;
  }

  Mode mode_ = Mode::alone;
  std::atomic<bool> wanted_{false};
  uint32_t depth_ = 0;  // counted: calls under way, one inside of another
  uint64_t calls_ = 0;
  std::function<void()> at_end_;
  std::recursive_mutex mutex_;
};

}  // namespace stripline::rma
