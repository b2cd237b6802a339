// The folder that a server keeps its data in.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace stripline::server {

/// Makes the folder, for this user alone, where there is none; one that exists is left as it is.
/// Errors: unavailable, with what the system said and which option names the folder.
Status make_data_folder(const std::filesystem::path& folder);

}  // namespace stripline::server
