// A thread of the runtime that serves a rank's peers while its program computes
// (STRIPLINE_PROGRESS=thread).
//
// While the program calls the Context, or has lately, the thread sleeps and only looks at
// intervals whether that is still so: calls make progress themselves, and a thread that woke at
// each arrival would compete with them for the CPU. Once the program has stayed away for an
// interval, the thread makes progress whenever something arrives, until the program calls again. It
// waits by the provider's descriptor; where there is none, or where messages come through memory of
// the node, it looks at growing intervals.
//
// The thread runs where its maker may run (a rank that is bound to one core shares it with the
// program), and takes no signals.
#pragma once

#include <atomic>
#include <cstdint>
#include <ctime>
#include <memory>
#include <thread>
#include <utility>

#include "base/result.h"
#include "base/subprocess.h"
#include "runtime/fabric/fabric.h"

namespace stripline::detail {
struct ContextState;
}

namespace stripline::rma {

class ProgressThread {
 public:
  /// The program counts as computing when it has not called for this long. Also what the first
  /// message to a rank that has begun to compute may wait.
  static constexpr double kAbsence_s = 1e-3;

  /// What the thread did so far. Inside of a call of the Context.
  struct Statistics {
    uint64_t looks = 0;   ///< times it made progress
    uint64_t served = 0;  ///< handlers that it ran
  };

  /// Starts the thread; the Context is connected, and its fabric was opened for one. From now on
  /// calls exclude it. Errors: unimplemented for a fabric that no second thread can serve;
  /// resource_exhausted without room for a descriptor or a thread.
  static Result<std::unique_ptr<ProgressThread>> start(detail::ContextState& state);

  /// Ends it. Not inside of a call.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  const Statistics& statistics() const { return statistics_; }

 private:
  ProgressThread(detail::ContextState& state, const fabric::Watch& watch, UniqueFd stop)
      : state_(state), watch_(watch), stop_(std::move(stop)) {}
  void run();
  bool serve(bool woken);
  bool sleep(double seconds, bool for_arrivals) const;

  detail::ContextState& state_;
  const fabric::Watch watch_;
  const UniqueFd stop_;
  std::atomic<bool> stopping_{false};
  Statistics statistics_;
  std::thread thread_;
};

}  // namespace stripline::rma
