// The store in one SQLite file, next to a lock file that keeps a second server out.
#pragma once

#include <filesystem>
#include <memory>

#include "server/store/store.h"

namespace stripline::server {

/// Its name in the data folder.
inline constexpr const char* kDatabaseFile = "stripline.db";

/// Opens the database in `path`, creating it if there has not been one; its folder must exist.
/// Nothing is stored any more once the file, or its log, was removed or replaced. Errors:
/// already_exists when another server uses it, naming that process; data_loss, failed_precondition
/// and unavailable as in sqlite_schema.h; data_loss also for a file that is empty, or is missing
/// where a server has kept its data (the lock file is there).
Result<std::unique_ptr<Store>> open_sqlite_store(const std::filesystem::path& path);

}  // namespace stripline::server
