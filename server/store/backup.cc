#include "server/store/backup.h"

#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>

#include "base/subprocess.h"
#include "server/store/backup_keys.h"
#include "server/store/data_folder.h"
#include "server/store/schema.h"
#include "server/store/sqlite.h"

namespace stripline::server {
namespace {

std::string sql_text(const std::string& text) {
  std::string sql = "'";
  for (const char c : text) sql += c == '\'' ? std::string("''") : std::string(1, c);
  return sql + "'";
}

Status copy_to(const std::filesystem::path& database, const std::filesystem::path& target) {
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase source, SqliteDatabase::open(database.string()));
  // Tables of an older server are brought up to date where one begins with them.
  STRIPLINE_RETURN_IF_ERROR(table_version(source, "'" + database.string() + "'"));
  // Reads one snapshot: what a server commits meanwhile does not disturb it.
  STRIPLINE_RETURN_IF_ERROR(source.execute("VACUUM INTO " + sql_text(target.string())));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase copy, SqliteDatabase::open(target.string()));
  STRIPLINE_RETURN_IF_ERROR(copy.execute("INSERT OR REPLACE INTO meta VALUES ('is_backup', '1')"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string check, copy.query_text("PRAGMA integrity_check(1)"));
  if (check != "ok") return Error(ErrorCode::data_loss, "the copy is damaged: " + check);
  return {};
}

Status sync(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd && ::fsync(fd.get()) == 0) return {};
  return Error(ErrorCode::unavailable,
               "cannot write '" + path.string() + "': " + std::generic_category().message(errno));
}

}  // namespace

Status make_copy(const std::filesystem::path& target,
                 const std::function<Status(const std::filesystem::path&)>& write) {
  std::error_code ignored;
  if (std::filesystem::exists(target, ignored)) {
    return Error(ErrorCode::already_exists,
                 "'" + target.string() + "' exists; choose another file, or remove it");
  }
  std::filesystem::path part = target;
  part += ".part";
  std::filesystem::remove(part, ignored);
  {
    // Samples are no one else's business. SQLite takes an empty file for a new one.
    const UniqueFd created(::open(part.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
    if (!created) {
      return Error(ErrorCode::unavailable, "cannot create '" + part.string() +
                                               "': " + std::generic_category().message(errno));
    }
  }
  Status status = write(part);
  if (status.ok()) status = sync(part);
  if (status.ok() && ::rename(part.c_str(), target.c_str()) != 0) {
    status = Error(ErrorCode::unavailable, "cannot rename '" + part.string() +
                                               "': " + std::generic_category().message(errno));
  }
  if (!status.ok()) std::filesystem::remove(part, ignored);
  return status;
}

Status back_up(const std::filesystem::path& database, const std::filesystem::path& target,
               const std::filesystem::path& keys_of) {
  std::error_code ignored;
  if (!std::filesystem::exists(database, ignored)) {
    return Error(ErrorCode::not_found, "there is no database '" + database.string() +
                                           "'; name its folder with --data-dir or --store");
  }
  return make_copy(target, [&](const auto& part) -> Status {
    STRIPLINE_RETURN_IF_ERROR(copy_to(database, part));
    if (keys_of.empty()) return {};
    STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase copy, SqliteDatabase::open(part.string()));
    return add_keys(copy, keys_of);
  });
}

Result<bool> restore(const std::filesystem::path& file, const std::filesystem::path& database,
                     const std::filesystem::path& data_dir) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return Error(ErrorCode::not_found, "there is no backup '" + file.string() + "'");
  }
  STRIPLINE_RETURN_IF_ERROR(make_data_folder(database.parent_path()));
  STRIPLINE_RETURN_IF_ERROR(make_data_folder(data_dir));
  bool with_keys = false;
  const Status made = make_copy(database, [&](const auto& part) -> Status {
    STRIPLINE_RETURN_IF_ERROR(copy_to(file, part));
    STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase copy, SqliteDatabase::open(part.string()));
    STRIPLINE_ASSIGN_OR_RETURN(with_keys, take_out_keys(copy, data_dir));
    return forget_keys(copy);
  });
  if (!made.ok()) return made.error();
  return with_keys;
}

}  // namespace stripline::server
