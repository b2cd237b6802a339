#include "server/store/backup_keys.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <system_error>

#include "base/pki/secret_file.h"

namespace stripline::server {
namespace {

// The authority's key comes last: with it the folder counts as one (Authority::open()).
constexpr std::array<const char*, 4> kFiles = {"server.key", "server.pem", "authority.pem",
                                               "authority.key"};

std::filesystem::path folder_of(const std::filesystem::path& data_dir) { return data_dir / "tls"; }

std::string table() { return kKeysTable; }

Result<bool> has_keys(SqliteDatabase& copy) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const std::string tables,
      copy.query_text("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '" +
                      table() + "'"));
  return tables != "0";
}

Result<std::map<std::string, std::string>> keys_in(SqliteDatabase& copy) {
  std::map<std::string, std::string> keys;
  STRIPLINE_ASSIGN_OR_RETURN(const bool any, has_keys(copy));
  if (!any) return keys;
  STRIPLINE_ASSIGN_OR_RETURN(const auto rows, copy.prepare("SELECT name, content FROM " + table()));
  while (rows->step()) {
    const std::string name = rows->text(0);
    if (std::ranges::find(kFiles, name) == kFiles.end()) {
      return Error(ErrorCode::data_loss, "the backup holds a file '" + name +
                                             "', which is none of a server's; nothing is written");
    }
    keys[name] = rows->text(1);
  }
  STRIPLINE_RETURN_IF_ERROR(rows->status());
  return keys;
}

}  // namespace

Status add_keys(SqliteDatabase& copy, const std::filesystem::path& data_dir) {
  STRIPLINE_RETURN_IF_ERROR(forget_keys(copy));
  std::error_code ignored;
  if (!std::filesystem::exists(folder_of(data_dir), ignored)) return {};
  STRIPLINE_RETURN_IF_ERROR(copy.execute("CREATE TABLE " + table() +
                                         " (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT"));
  STRIPLINE_ASSIGN_OR_RETURN(const auto insert,
                             copy.prepare("INSERT INTO " + table() + " VALUES (?, ?)"));
  for (const char* name : kFiles) {
    const auto content = pki::read_secret(folder_of(data_dir) / name);
    if (!content.ok() && content.error().code() == ErrorCode::not_found) continue;
    if (!content.ok()) return content.error();
    STRIPLINE_RETURN_IF_ERROR(insert->bind(std::string(name), *content).run());
  }
  return {};
}

Result<bool> take_out_keys(SqliteDatabase& copy, const std::filesystem::path& data_dir) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto keys, keys_in(copy));
  std::error_code ignored;
  const auto folder = folder_of(data_dir);
  if (keys.empty() || std::filesystem::exists(folder / kFiles.back(), ignored)) return false;
  STRIPLINE_RETURN_IF_ERROR(pki::make_private_folder(folder));
  for (const char* name : kFiles) {
    const auto found = keys.find(name);
    if (found == keys.end()) continue;
    STRIPLINE_RETURN_IF_ERROR(pki::write_secret(folder / name, found->second));
  }
  return true;
}

Status forget_keys(SqliteDatabase& copy) { return copy.execute("DROP TABLE IF EXISTS " + table()); }

}  // namespace stripline::server
