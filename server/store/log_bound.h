// When a write-ahead log that has become large is cut between two steps. Pure; not thread-safe.
#pragma once

#include <cstdint>

namespace stripline::server {

class LogBound {
 public:
  /// While somebody writes all the time, a log is never copied whole and so never begins again. One
  /// of this size is copied and cut between two steps.
  static constexpr uintmax_t kMaxBytes = uintmax_t{64} << 20;

  enum class Cut {
    no,
    if_unread,   ///< where no reader of ours is at work just now
    when_unread  ///< as soon as those that are have ended: the step waits for them
  };

  /// After a step, with the size of the log. While a log stays large, a cut is tried once a second;
  /// readers are waited for when it has doubled since they were last, so that reads without a pause
  /// do not let it grow for ever, and a program that keeps it does not make every step wait.
  Cut next(uintmax_t bytes, double now_s);

 private:
  double next_try_s_ = 0;
  uintmax_t waits_from_bytes_ = 2 * kMaxBytes;
};

}  // namespace stripline::server
