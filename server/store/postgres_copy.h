// From a database in PostgreSQL to a file of SQLite, and back: its backup, and how what is
// stored moves from one kind of store to the other.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace stripline::server {

/// Copies the database to the file `target`, as it was at one moment, whether servers run or not,
/// as back_up() does: a server that opens the copy, or a database into which it was restored, gives
/// out fences that none before it has given. Errors: those of make_copy() and of the database.
Status back_up_postgres(const std::string& url, const std::filesystem::path& target,
                        const std::filesystem::path& keys_of = {});

/// Copies such a file, or a backup of a database that is one, into the database, which must hold
/// nothing yet and be in use by no server. Whole or not at all; certificates and keys as restore()
/// does. Errors: already_exists where it is
/// not empty or is in use; not_found without the file; failed_precondition for one of another
/// version; those of the database.
Result<bool> restore_into_postgres(const std::filesystem::path& file, const std::string& url,
                                   const std::filesystem::path& data_dir);

}  // namespace stripline::server
