#include "suites/targets/owned_files.h"

#include <algorithm>
#include <cstdint>
#include <optional>

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

enum class Listing : uint8_t { absent, same, changed };

// What a record says of a file with this text.
Listing listing_of(const Json& record, const std::string& name, const std::string& text) {
  Listing listing = Listing::absent;
  for (const char* const key : {"files", kFormerFiles, kBackups}) {
    const auto files = record.find(key);
    if (files == record.end() || !files->is_object()) continue;
    const auto hash = files->find(name);
    if (hash == files->end()) continue;
    if (*hash == Json(sha256_hex(text))) return Listing::same;
    listing = Listing::changed;
  }
  return listing;
}

constexpr std::string_view kSealBegin = " [SHA-256 ";
constexpr size_t kHashBytes = 64;

struct Seal {
  std::string hash;
  std::string text;  // without the seal
};

// nullopt: the first line has none.
std::optional<Seal> seal_of(const std::string& text) {
  const size_t at = text.find(kSealBegin);
  const size_t line = std::min(text.find('\n'), text.size());
  if (at >= line) return std::nullopt;
  const size_t hash = at + kSealBegin.size();
  const size_t end = hash + kHashBytes;
  if (end >= line || text[end] != ']') return std::nullopt;
  return Seal{text.substr(hash, kHashBytes), text.substr(0, at) + text.substr(end + 1)};
}

bool is_marked(const std::string& text) { return text.starts_with(std::string("# ") + kMark); }

Listing listing_in(const std::filesystem::path& record_file, const std::string& name,
                   const std::string& text) {
  const auto record = read_json_file(record_file);
  return record.ok() ? listing_of(*record, name, text) : Listing::absent;
}

}  // namespace

std::string sealed(const std::string& text) {
  if (!is_marked(text)) return text;
  const auto seal = seal_of(text);
  std::string whole = seal ? seal->text : text;
  const std::string hash = sha256_hex(whole);
  whole.insert(std::min(whole.find('\n'), whole.size()), std::string(kSealBegin) + hash + "]");
  return whole;
}

bool is_ours(const std::filesystem::path& path) {
  const std::string suffix = kBackupSuffix;
  std::string name = path.filename().string();
  const bool is_backup = name.ends_with(suffix);
  if (is_backup) name.resize(name.size() - suffix.size());
  if (name == kRecordName) return is_record(path);
  const auto text = read_whole_file(path);
  if (!text.ok()) return false;
  const std::filesystem::path record = path.parent_path() / kRecordName;
  Listing listing = listing_in(record, name, *text);
  if (is_backup && listing != Listing::same) {
    listing = listing_in(record.string() + suffix, name, *text);
  }
  if (listing != Listing::absent) return listing == Listing::same;
  const auto seal = seal_of(*text);
  return is_marked(*text) && seal && seal->hash == sha256_hex(seal->text);
}

Status check_replaceable(const std::filesystem::path& path, std::string_view advice) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) || is_ours(path)) return {};
  return Error(ErrorCode::already_exists,
               "'" + path.string() +
                   "' is there and was not written by Stripline, or was changed since; " +
                   std::string(advice));
}

Status check_target(const std::filesystem::path& folder, std::string_view target) {
  const auto record = read_json_file(folder / kRecordName);
  if (!record.ok()) return {};
  const auto there = get_string(*record, "target", "export record");
  if (!there.ok() || *there == target) return {};
  return Error(ErrorCode::already_exists,
               "'" + folder.string() + "' holds settings of " + *there + "; name another folder");
}

std::map<std::string, std::string> listed_files(const std::filesystem::path& folder) {
  std::map<std::string, std::string> found;
  const auto record = read_json_file(folder / kRecordName);
  if (!record.ok()) return found;
  for (const char* const key : {"files", kFormerFiles}) {
    const auto files = record->find(key);
    if (files == record->end() || !files->is_object()) continue;
    for (const auto& [name, hash] : files->items()) {
      // A record names no files of other folders.
      if (std::filesystem::path(name).filename() != name) continue;
      const auto text = read_whole_file(folder / name);
      if (!text.ok() || listing_of(*record, name, *text) != Listing::same) continue;
      found[name] = sha256_hex(*text);
    }
  }
  return found;
}

}  // namespace stripline::suites::tune
