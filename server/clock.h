// The server's two clocks. Policies read neither: they are given the time.
#pragma once

#include <string>

namespace stripline::server {

/// Seconds on a clock that never jumps, for leases and timeouts. Comparable within this process.
double steady_seconds();

/// Seconds since 1970 in UTC, for what people and files see.
double unix_seconds();

/// RFC 3339 in UTC with milliseconds: "2024-03-01T09:30:00.250Z".
std::string rfc3339(double unix_s);

}  // namespace stripline::server
