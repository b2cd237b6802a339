#include "suites/targets/bundle.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>

#include "base/atomic_file.h"
#include "base/json.h"
#include "base/packed_export.h"
#include "base/sha256.h"
#include "base/whole_file.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/owned_files.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

// Names without a folder: a packed file of elsewhere must not choose one.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name.front() != '.' &&
         name != kRecordName;
}

Error changed(const std::string& name) {
  return {ErrorCode::data_loss,
          "'" + name +
              "' is not what was exported: it was changed since; remove it by hand, or undo the "
              "change"};
}

Error not_listed(const fs::path& file) {
  return {ErrorCode::data_loss,
          "'" + file.string() + "' is not one of the files that the record beside it lists"};
}

// The files that a record lists.
Result<std::vector<std::string>> names_of(const Json& record) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json* listed, get_object(record, "files", "export record"));
  std::vector<std::string> names;
  for (const auto& [name, hash] : listed->items()) {
    if (!is_plain_name(name) || !hash.is_string()) {
      return Error(ErrorCode::data_loss, "export record: its files are not valid");
    }
    names.push_back(name);
  }
  if (names.empty()) return Error(ErrorCode::data_loss, "export record: it lists no file");
  return names;
}

// These with what is in them, by `text_of(name)`.
template <typename Text>
Result<std::vector<ExportFile>> files_of(const Json& record, Text text_of) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto names, names_of(record));
  std::vector<ExportFile> files;
  for (const std::string& name : names) {
    STRIPLINE_ASSIGN_OR_RETURN(std::string text, text_of(name));
    if (record.at("files").at(name) != Json(sha256_hex(text))) return changed(name);
    files.push_back({name, std::move(text)});
  }
  return files;
}

Result<Json> record_beside(const fs::path& file) {
  auto record = read_json_file(file.parent_path() / kRecordName);
  if (record.ok()) return record;
  return record.error().with_context("the record of '" + file.string() + "', which is beside it");
}

Error cannot(const char* what, const fs::path& path, const std::error_code& error) {
  return {ErrorCode::unavailable,
          std::string("cannot ") + what + " '" + path.string() + "': " + error.message()};
}

// A file with another text; without one it is removed.
struct Change {
  fs::path path;
  std::optional<std::string> text;
};

// What a file is before a change.
Result<Change> state_of(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return Change{path, std::nullopt};
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, read_whole_file(path));
  return Change{path, std::move(text)};
}

Status carry_out(const Change& change) {
  if (change.text) return write_atomically(change.path, *change.text);
  std::error_code error;
  fs::remove(change.path, error);
  if (error) return cannot("remove", change.path, error);
  return {};
}

// In this order; when one fails, those before it are taken back.
Status carry_out(const std::vector<Change>& changes) {
  std::vector<Change> before;
  for (const Change& one : changes) {
    Result<Change> state = state_of(one.path);
    Status done = state.ok() ? carry_out(one) : Status(state.error());
    if (!done.ok()) {
      while (!before.empty()) {
        (void)carry_out(before.back());
        before.pop_back();
      }
      return done;
    }
    before.push_back(std::move(*state));
  }
  return {};
}

// By 'export install', not as it was exported.
bool is_installed(const Json& record) {
  const auto installed = record.find("installed");
  return installed != record.end() && *installed == Json(true);
}

fs::path backup_of(const fs::path& path) { return path.string() + kBackupSuffix; }

// What a record lists as kept, where it still is, as what it was before. One that was put back by
// an earlier call, which was ended before it removed the backup, counts once more.
Result<std::vector<Change>> backups_of(const Json& record, const fs::path& folder) {
  std::vector<Change> kept;
  const auto listed = record.find(kBackups);
  if (listed == record.end() || !listed->is_object()) return kept;
  for (const auto& [name, hash] : listed->items()) {
    if (name != kRecordName && !is_plain_name(name)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(Change backup, state_of(backup_of(folder / name)));
    if (!backup.text) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const Change present, state_of(folder / name));
    if (hash != Json(sha256_hex(*backup.text)) && present.text != backup.text) {
      return Error(ErrorCode::already_exists,
                   "'" + backup.path.string() + "' is not what was kept there; move it away");
    }
    kept.push_back({folder / name, std::move(backup.text)});
  }
  return kept;
}

// Empty where this user has no folder.
fs::path list_of_exports() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return fs::path(value == nullptr ? "" : value);
  };
  const fs::path state = variable("XDG_STATE_HOME");
  if (state.is_absolute()) return state / "stripline/exports";
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".local/state/stripline/exports" : fs::path();
}

}  // namespace

Result<Bundle> read_bundle(const fs::path& file) {
  const fs::path folder = file.parent_path();
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, record_beside(file));
  Bundle bundle{.record = record.dump(2) + "\n"};
  STRIPLINE_ASSIGN_OR_RETURN(bundle.files, files_of(record, [&](const std::string& name) {
                               return read_whole_file(folder / name);
                             }));
  const std::string named = file.filename().string();
  if (std::ranges::find(bundle.files, named, &ExportFile::name) == bundle.files.end()) {
    return not_listed(file);
  }
  return bundle;
}

Result<std::string> packed(const Bundle& bundle) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, parse_json(bundle.record, "export record"));
  Json files = Json::object();
  for (const ExportFile& one : bundle.files) files[one.name] = one.text;
  const Json whole = {
      {"format", kPackedExportFormat}, {"record", record}, {"files", std::move(files)}};
  return whole.dump(2) + "\n";
}

Result<Bundle> unpacked(std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json whole, parse_json(text, what));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string format, get_string(whole, "format", what));
  if (format != kPackedExportFormat) {
    return Error(ErrorCode::data_loss,
                 std::string(what) + " is not a packed export that this version reads");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Json* record, get_object(whole, "record", what));
  STRIPLINE_ASSIGN_OR_RETURN(const Json* files, get_object(whole, "files", what));
  Bundle bundle{.record = record->dump(2) + "\n"};
  STRIPLINE_ASSIGN_OR_RETURN(bundle.files, files_of(*record, [&](const std::string& name) {
                               return get_string(*files, name, what);
                             }));
  return bundle;
}

Result<fs::path> unpack_into(const fs::path& folder, std::string_view text, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, unpacked(text, what));
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, parse_json(bundle.record, "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string name, get_string(record, "target", "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(name));
  STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, find_adapter(*target));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle there, moved(bundle, *adapter, folder, "", false));
  STRIPLINE_RETURN_IF_ERROR(write_bundle(there, folder, false, "try again"));
  return folder / there.files.front().name;
}

Result<Bundle> moved(const Bundle& bundle, const Adapter& adapter, const fs::path& folder,
                     const std::string& name, bool installed) {
  STRIPLINE_ASSIGN_OR_RETURN(Json record, parse_json(bundle.record, "export record"));
  Bundle result{.files = bundle.files};
  const auto names = adapter.file_names();
  // What users name may have been installed by another name.
  const auto is_first = [&](const ExportFile& one) {
    return std::find(names.begin() + 1, names.end(), one.name) == names.end();
  };
  std::stable_partition(result.files.begin(), result.files.end(), is_first);
  if (std::ranges::count_if(result.files, is_first) != 1) {
    return Error(ErrorCode::data_loss,
                 "these are not the files of an export for " + std::string(adapter.target().title));
  }
  ExportFile& first = result.files.front();
  if (!name.empty()) first.name = name;
  std::vector<std::string> others;
  for (size_t i = 1; i < result.files.size(); ++i) others.push_back(result.files[i].name);
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, adapter.referring(first.text, folder, others));
  first.text = sealed(text);
  Json files = Json::object();
  for (const ExportFile& one : result.files) files[one.name] = sha256_hex(one.text);
  record["files"] = std::move(files);
  record["installed"] = installed;
  record.erase(kFormerFiles);
  record.erase(kBackups);
  result.record = record.dump(2) + "\n";
  return result;
}

Status write_bundle(const Bundle& bundle, const fs::path& folder, bool backup,
                    std::string_view advice) {
  STRIPLINE_ASSIGN_OR_RETURN(Json record, parse_json(bundle.record, "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string target,
                             get_string(record, "target", "export record"));
  STRIPLINE_RETURN_IF_ERROR(check_target(folder, target));
  const auto there = listed_files(folder);
  // Files of the export that is there come and go with the new one's.
  std::vector<std::string> names = {kRecordName};
  for (const ExportFile& one : bundle.files) names.push_back(one.name);
  std::vector<std::string> left_over;
  for (const auto& [name, hash] : there) {
    if (std::ranges::find(names, name) == names.end()) left_over.push_back(name);
  }
  if (backup) names.insert(names.end(), left_over.begin(), left_over.end());
  for (const std::string& name : names) {
    STRIPLINE_RETURN_IF_ERROR(check_replaceable(folder / name, advice));
    if (!backup) continue;
    STRIPLINE_RETURN_IF_ERROR(check_replaceable(backup_of(folder / name), "move it away"));
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return cannot("create the folder", folder, error);

  // The same once more is not what was there before.
  const auto earlier = read_json_file(folder / kRecordName);
  const bool same = earlier.ok() && is_installed(*earlier) == is_installed(record) &&
                    std::ranges::all_of(bundle.files, [&](const ExportFile& one) {
                      const auto found = there.find(one.name);
                      return found != there.end() && found->second == sha256_hex(one.text);
                    });
  std::vector<Change> changes;
  Json backups = Json::object();
  // The record comes first each time, as it tells that some of the others are ours.
  for (const std::string& name : backup && !same ? names : std::vector<std::string>()) {
    STRIPLINE_ASSIGN_OR_RETURN(Change kept, state_of(folder / name));
    kept.path = backup_of(kept.path);
    if (kept.text) backups[name] = sha256_hex(*kept.text);
    changes.push_back(std::move(kept));
  }
  if (same && earlier->contains(kBackups)) backups = earlier->at(kBackups);
  if (!backups.empty()) record[kBackups] = std::move(backups);
  if (!there.empty()) record[kFormerFiles] = there;
  changes.push_back({folder / kRecordName, record.dump(2) + "\n"});
  // What programs read comes last, and refers to the others.
  std::for_each(bundle.files.rbegin(), bundle.files.rend(), [&](const ExportFile& one) {
    changes.push_back({folder / one.name, one.text});
  });
  for (const std::string& name : backup && !same ? left_over : std::vector<std::string>()) {
    changes.push_back({folder / name, std::nullopt});
  }
  return carry_out(changes);
}

Result<bool> remove_bundle(const fs::path& file) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json record, record_beside(file));
  STRIPLINE_ASSIGN_OR_RETURN(std::vector<std::string> names, names_of(record));
  if (std::ranges::find(names, file.filename().string()) == names.end()) return not_listed(file);
  const fs::path folder = file.parent_path();
  // Files that are gone, or back as they were before, are no change: an earlier call may have been
  // ended in the middle.
  for (const std::string& name : names) {
    std::error_code error;
    if (fs::exists(folder / name, error) && !is_ours(folder / name)) return changed(name);
  }
  if (!is_installed(record)) {
    return Error(ErrorCode::failed_precondition,
                 "'" + file.string() + "' was not installed: it is what was exported");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Change> kept, backups_of(record, folder));
  std::vector<Change> changes;
  const auto add = [&](const std::string& name) {
    const auto found = std::ranges::find(kept, folder / name, &Change::path);
    changes.push_back({folder / name, found == kept.end() ? std::nullopt : found->text});
  };
  for (const std::string& name : names) add(name);
  for (const Change& one : kept) {
    const std::string name = one.path.filename().string();
    if (name == kRecordName || std::ranges::find(names, name) != names.end()) continue;
    STRIPLINE_RETURN_IF_ERROR(check_replaceable(one.path, "move it away"));
    add(name);
  }
  // It tells which files are ours until they are done.
  add(kRecordName);
  for (const Change& one : kept) changes.push_back({backup_of(one.path), std::nullopt});
  STRIPLINE_RETURN_IF_ERROR(carry_out(changes));
  return !kept.empty();
}

std::vector<fs::path> noted_exports() {
  std::vector<fs::path> files;
  const auto text = read_whole_file(list_of_exports());
  std::istringstream lines(text.ok() ? *text : "");
  for (std::string line; std::getline(lines, line);) {
    std::error_code error;
    if (fs::exists(line, error)) files.emplace_back(line);
  }
  return files;
}

void note_export(const fs::path& file) {
  const fs::path list = list_of_exports();
  std::vector<fs::path> files = noted_exports();
  if (list.empty() || std::ranges::find(files, file) != files.end()) return;
  files.push_back(file);
  std::string text;
  for (const fs::path& one : files) text += one.string() + "\n";
  std::error_code error;
  fs::create_directories(list.parent_path(), error);
  (void)write_atomically(list, text);
}

}  // namespace stripline::suites::tune
