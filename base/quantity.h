// Quantities with units, as users write them and as messages show them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline {

/// Bytes from "4096", "64k", "64KiB", "1.5 MiB", "2G" (powers of 1024) or "1MB" (10^6). `what`
/// names the input in the message. Errors: invalid_argument, also for fractions of a byte.
Result<uint64_t> parse_bytes(std::string_view text, std::string_view what);

/// The times that are accepted: no endless ones, and none that a clock cannot count.
struct TimeRange {
  double least_s = 0;
  double most_s = 1e9;  ///< thirty years
};

/// For limits, which end everything at once when they are zero.
inline constexpr TimeRange kTimeLimits{.least_s = 1e-3};

/// Seconds from "30", "0.5s", "120 ms", "350us", "80ns", "2min", "2m", "1.5 h", "90d", "1:30"
/// (minutes and seconds) or "1:02:03". Reads all that the functions below write. Errors:
/// invalid_argument, also for times out of `range`.
Result<double> parse_seconds(std::string_view text, const TimeRange& range = {});

/// "512 B", "4 KiB", "1.5 MiB": powers of 1024, at most one decimal.
std::string bytes_text(uint64_t bytes);

/// "4 KiB", "349568 B": powers of 1024 as far as they divide; loses nothing.
std::string exact_bytes_text(uint64_t bytes);

/// "1.23 us", "45.6 ns", "3.40 ms", "0 s": with `digits` significant digits, 1 to 9.
std::string seconds_text(double seconds, int digits = 3);

/// Seconds per byte as "0.28 ns/B".
std::string seconds_per_byte_text(double value);

/// "90 s", "2.5 s", "350 us": a time that was set, as far as ten digits tell.
std::string exact_seconds_text(double seconds);

/// "58 s", "3:05", "1:02:03": whole seconds, for waiting people.
std::string duration_text(double seconds);

/// "1 rank", "2 ranks": `plural` where "s" is not what makes one.
std::string count_text(uint64_t count, std::string_view singular, std::string_view plural = {});

}  // namespace stripline
