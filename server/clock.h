// The server's two clocks. Policies read neither: they are given the time.
#pragma once

#include "base/rfc3339.h"

namespace stripline::server {

/// Seconds on a clock that never jumps, for leases and timeouts. Comparable within this process.
double steady_seconds();

/// Seconds since 1970 in UTC, for what people and files see.
double unix_seconds();

}  // namespace stripline::server
