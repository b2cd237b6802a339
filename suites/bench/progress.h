// A line on a terminal that tells how far a command is; nothing where standard error is a file.
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
  /// Seconds since the command began. For budgets, not for samples: those are on the fabric's
  /// clock.
  double elapsed_s() const;

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace stripline::suites::bench
