#include <iostream>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/table.h"
#include "base/whole_file.h"
#include "optimizer/targets/lines.h"
#include "optimizer/targets/registry.h"
#include "suites/targets/bundle.h"
#include "suites/targets/commands.h"
#include "suites/targets/export_record.h"
#include "suites/targets/owned_files.h"
#include "suites/targets/session.h"
#include "suites/targets/work_folder.h"

namespace stripline::suites::tune {
namespace {

namespace fs = std::filesystem;

Result<const Adapter*> adapter_of(const std::string& target_name) {
  STRIPLINE_ASSIGN_OR_RETURN(const targets::Target* target, targets::find_target(target_name));
  return find_adapter(*target);
}

// Where an export goes, and what its first file is called there.
struct Place {
  fs::path folder;
  std::string name;  // empty: as it is
  bool read_by_itself = false;
};

Result<Place> place_for(const Adapter& adapter, const std::string& folder) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto read, adapter.read_files());
  if (folder.empty() && read.empty()) {
    return Error(ErrorCode::invalid_argument,
                 "programs of " + std::string(adapter.target().title) +
                     " read no file by themselves: name a folder by --to, and have the file there "
                     "read by the shells that start them");
  }
  std::error_code error;
  Place place{.folder = folder.empty() ? read.front().parent_path() : fs::absolute(folder, error)};
  for (const fs::path& file : read) {
    if (!fs::equivalent(file.parent_path(), place.folder, error) &&
        file.parent_path() != place.folder) {
      continue;
    }
    place.name = file.filename().string();
    place.read_by_itself = true;
    break;
  }
  return place;
}

// The file that is named, or the first one of what it packs.
Result<fs::path> file_of(const std::string& name, bool is_packed, const WorkFolder& folder) {
  if (is_packed) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(name));
    return unpack_into(folder.path(), text, "'" + name + "'");
  }
  std::error_code error;
  return fs::absolute(name, error);
}

Result<int> install(const InstallOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder folder, WorkFolder::create());
  STRIPLINE_ASSIGN_OR_RETURN(const fs::path file, file_of(options.file, options.packed, folder));
  STRIPLINE_ASSIGN_OR_RETURN(const ExportRecord record, read_record_of(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, adapter_of(record.target));
  if (!record.validated) {
    return Error(
        ErrorCode::failed_precondition,
        "'" + file.string() + "' was not validated: tune again, or 'stripline export verify' it");
  }
  if (record.proofs.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "that the target reads '" + file.string() +
                     "' was not proven, as nothing that was measured is slow enough for a probe: "
                     "tune again with more numbers of ranks, or --minutes");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Basis here, basis_here(*adapter));
  for (const std::string& one : stale_reasons(record, here)) print_progress(one);
  if (here.version != record.version && !options.accept_untried) {
    return Error(ErrorCode::failed_precondition,
                 "it is of " + record.version + ", and " + here.version +
                     " is installed: 'stripline export verify' says whether it holds there, and "
                     "notes that it does; --accept-untried installs it all the same");
  }
  // Whoever tuned it knew of his programs; others may read it, too.
  if (record.commutative_only && !options.commutative_only) {
    return Error(ErrorCode::failed_precondition,
                 "it was tuned by --commutative-only: programs with operations that do not commute "
                 "get wrong results with it; where none that reads it has any, "
                 "--commutative-only installs it");
  }
  const targets::Safety safety{.commutative_only = record.commutative_only};
  STRIPLINE_ASSIGN_OR_RETURN(const Place place, place_for(*adapter, options.folder));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, read_bundle(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle there,
                             moved(bundle, *adapter, place.folder, place.name, true));
  const fs::path installed = place.folder / there.files.front().name;
  STRIPLINE_ASSIGN_OR_RETURN(const auto complaints, adapter->complaints(file, safety, installed));
  if (!complaints.empty()) {
    return Error(ErrorCode::failed_precondition,
                 "it would have no effect, or be unsafe: " + complaints.front());
  }
  STRIPLINE_RETURN_IF_ERROR(write_bundle(
      there, place.folder, true,
      "move it away, add the lines of the exported file to it by hand, or name another "
      "folder by --to"));
  note_export(installed);
  std::cout
      << "Installed: " << installed.string() << '\n'
      << (place.read_by_itself
              ? "Programs read it from now on.\n"
              : "Programs read it where it is given to them; docs/tuning-other-runtimes.md says "
                "how.\n")
      << "Back: stripline export uninstall " << installed.string() << '\n';
  return kExitOk;
}

Result<int> uninstall(const std::string& name) {
  std::error_code error;
  fs::path file = fs::absolute(name, error);
  if (fs::is_directory(file, error)) {
    if (!fs::exists(file / kRecordName, error)) {
      std::cout << "Nothing is installed in " << file.string() << '\n';
      return kExitOk;
    }
    STRIPLINE_ASSIGN_OR_RETURN(const Json record, read_json_file(file / kRecordName));
    STRIPLINE_ASSIGN_OR_RETURN(const Json* files, get_object(record, "files", "export record"));
    if (files->empty()) return Error(ErrorCode::data_loss, "export record: it lists no file");
    file /= files->begin().key();
  }
  STRIPLINE_ASSIGN_OR_RETURN(const bool restored, remove_bundle(file));
  std::cout << (restored ? "Put back what was installed before: " : "Removed: ") << file.string()
            << '\n';
  return kExitOk;
}

Result<int> pack(const PackOptions& options) {
  std::error_code error;
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, read_bundle(fs::absolute(options.file, error)));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, packed(bundle));
  if (options.output.empty()) {
    std::cout << text;
    return kExitOk;
  }
  if (fs::exists(options.output, error)) {
    return Error(ErrorCode::already_exists,
                 "'" + options.output + "' is there already; name another file by --output");
  }
  STRIPLINE_RETURN_IF_ERROR(write_atomically(options.output, text));
  return kExitOk;
}

Result<int> unpack(const PackOptions& options) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(options.file));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, unpacked(text, "'" + options.file + "'"));
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(bundle.record, "export record"));
  STRIPLINE_ASSIGN_OR_RETURN(const ExportRecord record, record_from_json(json));
  STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, adapter_of(record.target));
  std::error_code error;
  const fs::path folder =
      fs::absolute(options.output.empty() ? "stripline-" + record.target : options.output, error);
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle there, moved(bundle, *adapter, folder, "", false));
  STRIPLINE_RETURN_IF_ERROR(write_bundle(there, folder, false, "name another folder by --output"));
  const fs::path file = folder / there.files.front().name;
  note_export(file);
  std::cout << "Unpacked: " << file.string() << ", of " << record.user << " on " << record.host
            << ", " << record.time << "\nNot validated here: stripline export verify "
            << file.string() << '\n';
  return kExitOk;
}

// The record of an export in the files of another version: what was decided stays, and nothing
// counts as validated.
Result<Bundle> as_converted(const Bundle& bundle, std::vector<ExportFile> files,
                            const std::string& version) {
  STRIPLINE_ASSIGN_OR_RETURN(Json record, parse_json(bundle.record, "export record"));
  record["converted_from"] = record["version"];
  record["version"] = version;
  record["validated"] = false;
  record["installed"] = false;
  record["configuration"] = "";
  record["stages"] = Json::array();
  record["checks"] = Json::array();
  if (record.contains("proofs")) {
    for (Json& one : record["proofs"]) one["factor"] = nullptr;  // the probes stay
  }
  record.erase(kFormerFiles);
  record.erase(kBackups);
  record["files"] = Json::object();
  for (ExportFile& one : files) {
    one.text = sealed(one.text);
    record["files"][one.name] = sha256_hex(one.text);
  }
  return Bundle{record.dump(2) + "\n", std::move(files)};
}

Result<int> convert(const ConvertOptions& options) {
  const auto version = targets::parse_version(options.version);
  if (!version) {
    return Error(ErrorCode::invalid_argument,
                 "'" + options.version + "' is not a valid version: write 5.0 or 5.0.7");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const WorkFolder work, WorkFolder::create());
  STRIPLINE_ASSIGN_OR_RETURN(const fs::path file, file_of(options.file, options.packed, work));
  STRIPLINE_ASSIGN_OR_RETURN(const ExportRecord record, read_record_of(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, adapter_of(record.target));
  const std::string title(adapter->target().title);
  const std::string name = to_string(*version);
  if (name == record.version) {
    return Error(ErrorCode::invalid_argument, "'" + file.string() + "' is of " + title + " " +
                                                  name +
                                                  " already: 'stripline export pack' "
                                                  "takes it to another node");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const std::string text, read_whole_file(file));
  std::vector<std::string> comments = targets::leading_comments(text);
  comments.push_back("Converted for " + title + " " + name + ": NOT VALIDATED there, but in " +
                     record.version);
  std::error_code error;
  const fs::path folder = fs::absolute(
      options.output.empty() ? "stripline-" + record.target + "-" + name : options.output, error);
  STRIPLINE_ASSIGN_OR_RETURN(OtherVersion other,
                             adapter->for_version(file, *version, folder, std::move(comments)));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle bundle, read_bundle(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Bundle converted,
                             as_converted(bundle, std::move(other.files), name));
  STRIPLINE_RETURN_IF_ERROR(
      write_bundle(converted, folder, false, "name another folder by --output"));
  const fs::path first = folder / converted.files.front().name;
  for (const std::string& one : other.left_out) std::cout << "Left out: " << one << '\n';
  std::cout << "Converted: " << first.string() << ", for " << title << ' ' << name
            << "\nNot validated there; where it is installed: stripline export verify "
            << first.string() << " --accept-untried\n";
  return kExitOk;
}

// What an export of this user that is still there is about, and why it is no longer what was
// validated.
struct Noted {
  std::string target = "-";
  std::vector<std::string> reasons;
};

Noted look_at(const fs::path& file) {
  Noted noted;
  const auto look = [&]() -> Status {
    STRIPLINE_ASSIGN_OR_RETURN(const ExportRecord record, read_record_of(file));
    noted.target = record.target;
    STRIPLINE_ASSIGN_OR_RETURN(const Adapter* adapter, adapter_of(record.target));
    STRIPLINE_ASSIGN_OR_RETURN(const Basis here, basis_here(*adapter));
    noted.reasons = stale_reasons(record, here);
    return {};
  };
  if (const Status looked = look(); !looked.ok()) {
    noted.reasons.push_back(looked.error().message());
  }
  return noted;
}

void list_targets(bool json) {
  Table table({{"target"}, {"installed"}, {"tried"}, {"what"}});
  for (const targets::Target* const target : targets::all_targets()) {
    const auto installed = detect(*target);
    std::string tried;
    for (const auto version : target->tried) {
      tried.append(tried.empty() ? "" : ", ").append(version);
    }
    const bool tuned = target->support == targets::Support::tuned;
    if (json) {
      Json line = {{"target", target->name},
                   {"title", target->title},
                   {"installed", installed.ok() ? Json(to_string(installed->version)) : Json()},
                   {"tried", target->tried},
                   {"tuned", tuned}};
      // What settings are validated with, beside the version and the kernel (session.h).
      if (const auto adapter = find_adapter(*target); installed.ok() && adapter.ok()) {
        const auto here = basis_here(**adapter);
        if (here.ok()) line["configuration"] = here->configuration;
      }
      std::cout << line.dump() << '\n';
      continue;
    }
    table.add({std::string(target->name), installed.ok() ? to_string(installed->version) : "-",
               tried.empty() ? "-" : tried,
               tuned ? "measured, decided and validated" : "files are written, not measured"});
  }
  if (!json) std::cout << table.text();
}

}  // namespace

int install_command(const InstallOptions& options) { return exit_code_of(install(options)); }
int uninstall_command(const std::string& file) { return exit_code_of(uninstall(file)); }
int convert_command(const ConvertOptions& options) { return exit_code_of(convert(options)); }
int pack_command(const PackOptions& options) { return exit_code_of(pack(options)); }
int unpack_command(const PackOptions& options) { return exit_code_of(unpack(options)); }

int list_command(bool json) {
  list_targets(json);
  Table table({{"export"}, {"target"}, {"state"}});
  for (const fs::path& file : noted_exports()) {
    const Noted noted = look_at(file);
    if (json) {
      const Json line = {
          {"export", file.string()}, {"target", noted.target}, {"stale", noted.reasons}};
      std::cout << line.dump() << '\n';
      continue;
    }
    std::string state = noted.reasons.empty() ? "as it was validated" : "STALE: ";
    for (const std::string& one : noted.reasons) {
      state.append(&one == &noted.reasons.front() ? "" : "; ").append(one);
    }
    table.add({file.string(), noted.target, state});
  }
  if (!json && !table.empty()) std::cout << '\n' << table.text();
  return kExitOk;
}

}  // namespace stripline::suites::tune
