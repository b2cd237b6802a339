// One thread at a time inside of a Context, where it has two: the program's, which calls it, and a
// thread of the runtime that serves peers meanwhile (progress_thread.h). Without the second one, to
// enter and to leave costs a branch each.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace stripline::rma {

class Exclusion {
 public:
  /// Only while there is one thread.
  void share(bool shared) { shared_ = shared; }

  /// Held during every call of the Context. May be nested: calls call each other, and handlers call
  /// back in.
  class Guard {
   public:
    explicit Guard(Exclusion& exclusion) : held_(exclusion.shared_ ? &exclusion : nullptr) {
      if (held_ != nullptr) [[unlikely]]
        held_->enter();
    }
    ~Guard() {
      if (held_ != nullptr) [[unlikely]]
        held_->mutex_.unlock();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Exclusion* held_;
  };

  /// What a Guard does when it is made, and when it goes.
  void hold() {
    if (shared_) [[unlikely]]
      enter();
  }
  void release() {
    if (shared_) [[unlikely]]
      mutex_.unlock();
  }

  // --- for the thread of the runtime ------------------------------------------------------------

  /// Enters unless the program is inside or wants to be. leave() after true.
  bool try_enter() { return !wanted_.load(std::memory_order_relaxed) && mutex_.try_lock(); }
  void leave() { mutex_.unlock(); }
  /// Calls so far, those of handlers included. Between try_enter() and leave().
  uint64_t calls() const { return calls_; }

 private:
  void enter() {
    // The mutex is not fair: the thread of the runtime keeps out while it is wanted.
    if (!mutex_.try_lock()) {
      wanted_.store(true, std::memory_order_relaxed);
      mutex_.lock();
      wanted_.store(false, std::memory_order_relaxed);
    }
    ++calls_;
  }

  bool shared_ = false;
  std::atomic<bool> wanted_{false};
  uint64_t calls_ = 0;
  std::recursive_mutex mutex_;
};

}  // namespace stripline::rma
