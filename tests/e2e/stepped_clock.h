// The time of day as a test sets it, for programs that it starts.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/rfc3339.h"
#include "base/testing/processes.h"

namespace stripline::e2e {

inline constexpr double kDay_s = 86400;

/// The clock of programs that are started with prefix(): the machine's, and what was stepped.
class SteppedClock {
 public:
  explicit SteppedClock(const TempFolder& folder) : file_(folder / "clock") { step(0); }
  std::vector<std::string> prefix() const {
    // Before the sanitizers' own library, which does not mind.
    const char* asan = std::getenv("ASAN_OPTIONS");  // NOLINT(concurrency-mt-unsafe)
    return {
        "env", "LD_PRELOAD=" + program("libstepped_clock.so"),
        "STEPPED_CLOCK_FILE=" + file_.string(),
        "ASAN_OPTIONS=" + std::string(asan == nullptr ? "" : asan) + ":verify_asan_link_order=0"};
  }
  void step(double seconds) {
    offset_s_ += static_cast<int64_t>(seconds);
    // In place: programs have mapped it.
    const int file = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(::pwrite(file, &offset_s_, sizeof(offset_s_), 0), ssize_t{sizeof(offset_s_)});
    ::close(file);
  }
  /// True if this RFC 3339 time was read on it within the last ten minutes.
  bool shows(const std::string& time) const {
    const double now_s = unix_seconds() + static_cast<double>(offset_s_);
    return rfc3339(now_s - 600) < time && time <= rfc3339(now_s);
  }

 private:
  std::filesystem::path file_;
  int64_t offset_s_ = 0;
};

}  // namespace stripline::e2e
