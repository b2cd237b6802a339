// Fibers of one thread that switch to each other by name, over Boost.Context: ranks on the virtual
// clock take turns millions of times a second, and the contexts of the C library make a system call
// each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"

namespace stripline::bootstrap {

/// Fibers 0 to n - 1. One thread. None lets another one run while it handles an exception (in a
/// catch block): which exceptions are handled is kept by thread.
class Fibers {
 public:
  /// Errors: resource_exhausted without memory for stacks.
  static Result<std::unique_ptr<Fibers>> create(uint32_t count);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Runs body(i) in each fiber, beginning with fiber 0, and returns when all have returned. Once.
  void run(const std::function<void(uint32_t)>& body);

  /// In a fiber: the one that runs.
  uint32_t current() const { return current_; }
  /// In a fiber: lets another one run, the next that has not ended if `fiber` has, or is the one
  /// that runs. Returns when this one is resumed.
  void resume(uint32_t fiber);
  /// In a fiber: lets the next one run that has not ended.
  void yield() { resume(current_); }

 private:
  struct Fiber;

  Fibers();
  Fiber& run_current();
  /// The next fiber after the current one that has not ended; the current one if there is no other.
  uint32_t successor() const;
  void switch_to(Fiber& from, Fiber& to);
  /// The last thing to do in a fiber that another one runs after.
  static void leave(Fiber& from, Fiber& to);
  /// The first thing to do where another fiber has switched to.
  static void arrived(Fiber& here);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::unique_ptr<Fiber> outside_;  // the thread's own stack
  std::function<void(uint32_t)> body_;
  uint32_t current_ = 0;
};

}  // namespace stripline::bootstrap
