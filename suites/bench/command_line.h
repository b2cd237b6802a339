// What the programs that measure check of their command lines.
#pragma once

#include <string>

#include "base/quantity.h"
#include "base/result.h"

namespace stripline::suites::bench {

/// Limits of measurements: up to what the deadline of an assignment may be
/// (optimizer/experiment/json.h), four months.
inline constexpr TimeRange kMeasuringTimes{.least_s = 1e-3, .most_s = 1e7};

/// Checks whether a file can be written there, asked before hours of measuring. Errors:
/// unavailable.
Status check_writable(const std::string& file);

}  // namespace stripline::suites::bench
