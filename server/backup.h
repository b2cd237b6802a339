// A copy of the database while a server writes to it.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace stripline::server {

/// Copies the database to `target`, as it was at one moment, whether a server is running or not;
/// `target` is there, complete and checked, or not at all. It takes no lock that a server waits for
/// and does not begin again when one writes. A server that opens the copy gives out fences that
/// none before it has given. Errors: not_found without a database; already_exists if `target` does;
/// failed_precondition for a database of another version; those of the disk.
Status back_up(const std::filesystem::path& database, const std::filesystem::path& target);

}  // namespace stripline::server
