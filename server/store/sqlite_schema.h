// What a file must be to be opened as a server's database.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "server/store/sqlite.h"

namespace stripline::server {

/// Opens the file, creating the tables in a new or empty one, and checks that it is sound and ours;
/// tables of an older release are brought up to date (schema.h), once and for good.
/// Write-ahead log, foreign keys on, every commit synced. Errors: data_loss when it is damaged or
/// truncated; failed_precondition when another program made it, a newer Stripline, or one of before
/// the first release; unavailable when it cannot be opened.
Result<SqliteDatabase> open_store_database(const std::filesystem::path& path);

}  // namespace stripline::server
