// Quantities with units as users write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace stripline::cli {

/// "4096", "64k", "64KiB", "1.5 MiB", "1MB" (10^6): bytes. Errors: invalid_argument.
Result<uint64_t> parse_bytes(std::string_view text);

/// "0.5", "0.5s", "120 ms", "350us", "80ns": seconds. Errors: invalid_argument.
Result<double> parse_seconds(std::string_view text);

}  // namespace stripline::cli
