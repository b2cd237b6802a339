// A copy of the database while a server writes to it.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"

namespace stripline::server {

/// Makes `target`, mode 0600, of what `write` puts into the empty file that it is given: complete
/// and on disk, or not at all. Errors: already_exists if `target` does; those of `write` and of the
/// disk.
Status make_copy(const std::filesystem::path& target,
                 const std::function<Status(const std::filesystem::path&)>& write);

/// Copies the database to `target`, as it was at one moment, and the certificates and keys of the
/// data folder `keys_of` (none: empty), whether a server is running or not; `target` is there,
/// complete and checked, or not at all. It takes no lock that a server waits for and does not begin
/// again when one writes. A server that opens the copy gives out fences that none before it has
/// given. Errors: not_found without a database; already_exists if `target` does;
/// failed_precondition for a database of another version; those of the disk.
Status back_up(const std::filesystem::path& database, const std::filesystem::path& target,
               const std::filesystem::path& keys_of = {});

/// Makes a server's database of a backup, and its certificates and keys in the data folder, if
/// there are none. True: there were none, and the backup had some. Errors: as above.
Result<bool> restore(const std::filesystem::path& file, const std::filesystem::path& database,
                     const std::filesystem::path& data_dir);

}  // namespace stripline::server
