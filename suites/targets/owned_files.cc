#include "suites/targets/owned_files.h"

#include "base/json.h"
#include "base/sha256.h"
#include "base/whole_file.h"

namespace stripline::suites::tune {
namespace {

bool is_record(const std::filesystem::path& path) {
  const auto record = read_json_file(path);
  return record.ok() && get_string(*record, "target", "record").ok() &&
         get_object(*record, "files", "record").ok();
}

bool lists(const std::filesystem::path& record_file, const std::string& name,
           const std::string& text) {
  const auto record = read_json_file(record_file);
  if (!record.ok()) return false;
  const auto files = get_object(*record, "files", "export record");
  if (!files.ok()) return false;
  const auto hash = get_string(**files, name, "export record");
  return hash.ok() && *hash == sha256_hex(text);
}

}  // namespace

bool is_ours(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  if (name == kRecordName || name == std::string(kRecordName) + kBackupSuffix) {
    return is_record(path);
  }
  const auto text = read_whole_file(path);
  if (!text.ok()) return false;
  return text->starts_with(std::string("# ") + kMark) ||
         lists(path.parent_path() / kRecordName, name, *text);
}

Status check_replaceable(const std::filesystem::path& path, std::string_view advice) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) || is_ours(path)) return {};
  return Error(
      ErrorCode::already_exists,
      "'" + path.string() + "' is there and was not written by Stripline; " + std::string(advice));
}

}  // namespace stripline::suites::tune
