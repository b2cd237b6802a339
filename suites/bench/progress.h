// A line on a terminal that tells how far a command is, and lines of what has happened meanwhile.
#pragma once

#include <chrono>
#include <string>

namespace stripline::suites::bench {

class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Replaces the line.
  void show(const std::string& text);
  /// The same; where standard error is a file, it gets the text if nothing was said for 15 s.
  void keep_showing(const std::string& text);
  /// A line that stays.
  void say(const std::string& text);
  /// Seconds since the command began. For budgets, not for samples: those are on the fabric's
  /// clock.
  double elapsed_s() const;

 private:
  bool terminal_;
  double said_s_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace stripline::suites::bench
