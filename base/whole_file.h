// Reading a file at once.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace stripline {

/// All bytes of a file; none of an empty one. Errors: not_found if it cannot be read, with the
/// reason; data_loss if it is larger than `max_bytes`.
Result<std::string> read_whole_file(const std::filesystem::path& path,
                                    size_t max_bytes = size_t{64} << 20);

}  // namespace stripline
