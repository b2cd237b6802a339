#include "server/process/add_token.h"

#include <array>
#include <pwd.h>
#include <string>
#include <system_error>
#include <unistd.h>

#include "server/security/authority.h"
#include "server/store/postgres_store.h"
#include "server/store/schema.h"
#include "server/store/sql_security.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"

namespace stripline::server {
namespace {

// "local/root": not a user of the server.
std::string this_user() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  if (::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found) == 0 &&
      found != nullptr) {
    return std::string("local/") + entry.pw_name;
  }
  return "local/" + std::to_string(::geteuid());
}

// Beside the server's own connections: its lock is not asked for.
Status add_to_file(const std::filesystem::path& path, const Changes& changes) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error(ErrorCode::not_found, "there is no database '" + path.string() +
                                           "'; name its folder with --data-dir or --store");
  }
  STRIPLINE_ASSIGN_OR_RETURN(SqliteDatabase database, SqliteDatabase::open(path.string()));
  STRIPLINE_RETURN_IF_ERROR(database.execute("PRAGMA synchronous = FULL"));
  STRIPLINE_ASSIGN_OR_RETURN(SqliteTransaction transaction, SqliteTransaction::begin(database));
  STRIPLINE_RETURN_IF_ERROR(check_table_version(database, "'" + path.string() + "'"));
  STRIPLINE_RETURN_IF_ERROR(write_security(database, changes));
  return transaction.commit();
}

}  // namespace

Result<NewToken> add_token(const std::filesystem::path& data_dir, const StoreLocation& store,
                           const TokenOrder& order, double now_unix_s) {
  STRIPLINE_ASSIGN_OR_RETURN(const Authority authority, Authority::open(data_dir, now_unix_s));
  const auto made = new_token(order, authority.sha256(), now_unix_s);
  if (!made) return Error(made.problem().code, made.problem().message);
  const Changes changes = changes_for(*made, this_user());
  const StoreLocation location = store.or_folder(data_dir);
  STRIPLINE_RETURN_IF_ERROR(location.url.empty()
                                ? add_to_file(location.folder / kDatabaseFile, changes)
                                : add_to_postgres(location.url, changes));
  return *made;
}

}  // namespace stripline::server
