// The size of the symmetric heap of OpenSHMEM programs, as the standard writes it: for the library,
// and for launchers, which look whether the host has the memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace stripline {

/// The variables that may hold it; the first one that is set counts.
inline constexpr std::array<const char*, 2> kSymmetricSizeVariables = {"SHMEM_SYMMETRIC_SIZE",
                                                                       "SMA_SYMMETRIC_SIZE"};

/// "3.1M" is 3.1 * 2^20 bytes, rounded up; k, m, g and t, in both cases; what follows them is
/// ignored, as the standard has it. Errors: invalid_argument, with the variable's name.
Result<uint64_t> parse_symmetric_size(std::string_view text, std::string_view variable);

}  // namespace stripline
