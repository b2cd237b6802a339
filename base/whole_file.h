// Reading a file at once, or what little is of interest.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace stripline {

/// All bytes of a file; none of an empty one. Errors: not_found if it cannot be read, or not to its
/// end, with the system's reason; data_loss if it is larger than `max_bytes`.
Result<std::string> read_whole_file(const std::filesystem::path& path,
                                    size_t max_bytes = size_t{64} << 20);

/// The first line of a file without its end, as the kernel tells what it knows; empty if there is
/// none, or it cannot be read.
std::string first_line(const std::filesystem::path& path);

}  // namespace stripline
