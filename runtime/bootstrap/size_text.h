// Sizes as people write them.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace stripline::bootstrap {

/// Bytes from "4096", "64K", "256M", "2G" or "1T" (powers of 1024; lower case and a trailing "iB"
/// or "B" are accepted, too). `what` names the input in the message. Errors: invalid_argument if it
/// does not parse, is zero, or does not fit 64 bits.
Result<uint64_t> parse_size(std::string_view text, std::string_view what);

}  // namespace stripline::bootstrap
