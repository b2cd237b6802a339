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

/// Seconds from "0.5", "0.5s", "120 ms", "350us" or "80ns". Errors: invalid_argument.
Result<double> parse_seconds(std::string_view text);

/// "512 B", "4 KiB", "1.5 MiB": powers of 1024, at most one decimal.
std::string bytes_text(uint64_t bytes);

/// "4 KiB", "349568 B": powers of 1024 as far as they divide; loses nothing.
std::string exact_bytes_text(uint64_t bytes);

/// "1.23 us", "45.6 ns", "3.40 ms", "0 s": so many significant digits, 1 to 9.
std::string seconds_text(double seconds, int digits = 3);

}  // namespace stripline
