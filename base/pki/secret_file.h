// Files that only their owner may read: keys and tokens. What others could read is not used, with
// the command that mends it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::pki {

/// Makes the folder, and those above it, with mode 0700 unless it exists. Errors: unavailable when
/// it cannot; failed_precondition when it exists and others may enter it or another user owns it.
Status make_private_folder(const std::filesystem::path& folder);

/// All of the file at once, with mode 0600 whatever it was. Errors: unavailable.
Status write_secret(const std::filesystem::path& path, std::string_view text);

/// Errors: not_found; failed_precondition when group or others have any access to it, or its owner
/// is neither this user nor root; data_loss when it has more than 1 MiB.
Result<std::string> read_secret(const std::filesystem::path& path);

/// The first line of such a file, or of standard input for "-": a token.
Result<std::string> read_secret_line(const std::string& path);

}  // namespace stripline::pki
