// The real clock.
#pragma once

#include <ctime>

namespace stripline::fabric::ofi {

/// Seconds of CLOCK_MONOTONIC.
inline double monotonic_s() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace stripline::fabric::ofi
