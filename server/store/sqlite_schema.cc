#include "server/store/sqlite_schema.h"

#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>

#include "base/subprocess.h"
#include "server/store/schema.h"

namespace stripline::server {
namespace {

// "STLN": marks our files for sqlite3 and file(1).
constexpr int kApplicationId = 0x53544c4e;

// An existing, non-empty file must begin as every SQLite database does; SQLite itself would say no
// more than "file is not a database".
Status check_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};  // Not there yet, or unreadable, which opening will report.
  char header[16] = {};
  file.read(header, sizeof header);
  if (file.gcount() == 0) return {};
  if (file.gcount() < 16 || std::memcmp(header, "SQLite format 3", 16) != 0) {
    return Error(ErrorCode::data_loss,
                 "'" + path.string() +
                     "' is not an SQLite database; move it away or choose another --data-dir");
  }
  return {};
}

Error foreign(const std::filesystem::path& path) {
  return {ErrorCode::failed_precondition,
          "'" + path.string() +
              "' is a database of another program; move it away or choose another --data-dir"};
}

Status prepare_tables(SqliteDatabase& database, const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string id, database.query_text("PRAGMA application_id"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string tables,
                             database.query_text("SELECT count(*) FROM sqlite_schema"));
  if (id == "0" && tables == "0") {
    STRIPLINE_RETURN_IF_ERROR(create_tables(database, SqlDialect::sqlite));
    STRIPLINE_RETURN_IF_ERROR(
        database.execute("PRAGMA application_id = " + std::to_string(kApplicationId)));
  } else if (id != std::to_string(kApplicationId)) {
    return foreign(path);
  }
  STRIPLINE_RETURN_IF_ERROR(migrate(database, SqlDialect::sqlite, "'" + path.string() + "'"));
  // A backup was put in place: what has been given out since then is not in it (Store::fence_base).
  STRIPLINE_RETURN_IF_ERROR(database.execute(
      "UPDATE meta SET value = CAST(value AS INTEGER) + 4294967296 WHERE key = 'fence_base'"
      " AND EXISTS (SELECT 1 FROM meta WHERE key = 'is_backup');"
      "DELETE FROM meta WHERE key IN ('is_backup', 'trial')"));
  return transaction.commit();
}

}  // namespace

Result<SqliteDatabase> open_store_database(const std::filesystem::path& path) {
  STRIPLINE_RETURN_IF_ERROR(check_header(path));
  // Samples are no one else's business; the log gets the rights of the database.
  UniqueFd(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)).reset();
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::open(path.string()));
  const auto prepare = [&]() -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string check,
                               database.query_text("PRAGMA quick_check(1)"));
    if (check != "ok") return Error(ErrorCode::data_loss, check);
    STRIPLINE_ASSIGN_OR_RETURN(const std::string mode,
                               database.query_text("PRAGMA journal_mode = WAL"));
    if (mode != "wal") {
      return Error(ErrorCode::unavailable, "'" + path.string() +
                                               "' cannot have a write-ahead log on this disk (it "
                                               "stays in mode '" +
                                               mode + "'); choose a --data-dir on a local disk");
    }
    STRIPLINE_RETURN_IF_ERROR(
        database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"));
    return prepare_tables(database, path);
  };
  if (Status status = prepare(); !status.ok()) {
    if (status.error().code() != ErrorCode::data_loss) return status.error();
    return Error(ErrorCode::data_loss, "'" + path.string() + "' is damaged or truncated (" +
                                           status.error().message() +
                                           "); restore it from a backup or move it away");
  }
  return database;
}

}  // namespace stripline::server
