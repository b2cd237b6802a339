// Whether a folder lies on a disk that several hosts share. SQLite's write-ahead log needs shared
// memory and locks that such file systems do not keep.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace stripline::server {

/// The name of a network file system by its number in statfs(2); empty for others.
std::string_view network_file_system(uint64_t type);

/// Errors: failed_precondition for a folder on a network file system. One that cannot be asked
/// passes.
Status check_local_disk(const std::filesystem::path& folder);

}  // namespace stripline::server
