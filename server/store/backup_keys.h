// The certificates and keys of `tls` in a backup: without them every user and every node of a
// restored database would be a stranger. A table of its own, which no server reads.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "server/store/sqlite.h"

namespace stripline::server {

/// The name of that table.
inline constexpr const char* kKeysTable = "backup_files";

/// Puts what there is in the folder `tls` of this data folder into the copy, in place of what it
/// holds of such. Errors: failed_precondition where others could read a key; those of the files.
Status add_keys(SqliteDatabase& copy, const std::filesystem::path& data_dir);

/// Writes what the copy holds of such into the folder `tls` of this data folder, unless there is an
/// authority in it already. True: it did. Errors: data_loss for names of other files; unavailable.
Result<bool> take_out_keys(SqliteDatabase& copy, const std::filesystem::path& data_dir);

/// The copy is to be a server's database: it holds none of that any more.
Status forget_keys(SqliteDatabase& copy);

}  // namespace stripline::server
