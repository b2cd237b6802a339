// The two clocks of a host. Policies read neither: they are given the time.
#pragma once

namespace stripline {

/// Seconds on a clock that never jumps, for limits and durations. Comparable within this process.
double steady_seconds();

/// Seconds since 1970 in UTC, for what people and files see.
double unix_seconds();

}  // namespace stripline
