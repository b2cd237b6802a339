// An export as a whole, its record and its files, so that it can be moved to another folder or node
// and installed where programs read it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "suites/targets/adapters/adapter.h"

namespace stripline::suites::tune {

struct Bundle {
  std::string record;  ///< JSON, as kRecordName holds it
  std::vector<ExportFile> files;
};

/// The export that `file` is one of. Errors: not_found without a record beside it, data_loss where
/// a file is not what was exported.
Result<Bundle> read_bundle(const std::filesystem::path& file);

/// One JSON document with all of it, where it comes from included.
Result<std::string> packed(const Bundle& bundle);

/// Errors: data_loss, also where a file is not what its record says.
Result<Bundle> unpacked(std::string_view text, std::string_view what);

/// Writes what packed() has made into a folder of ours. Returns the path of its first file. Errors:
/// those of unpacked(), moved() and write_bundle(); unimplemented for a target that is not
/// measured.
Result<std::filesystem::path> unpack_into(const std::filesystem::path& folder,
                                          std::string_view text, std::string_view what);

/// The same settings for `folder`: the path in them is another one then. The first file is that
/// which users name, and is called `name` unless that is empty. Only what is `installed` may be
/// removed again. Errors: data_loss for files that are not those of this target.
Result<Bundle> moved(const Bundle& bundle, const Adapter& adapter,
                     const std::filesystem::path& folder, const std::string& name, bool installed);

/// Writes it into the folder, which is made; the record keeps SHA-256 of files of ours that are
/// there. With `backup`, what is there and ours is kept as NAME.backup, which the record lists,
/// unless it is the same, and files that the new export does not have are removed. Errors:
/// already_exists, before anything is written, where something is not ours or of another target;
/// data_loss; unavailable: what was written until then is taken back.
Status write_bundle(const Bundle& bundle, const std::filesystem::path& folder, bool backup,
                    std::string_view advice);

/// Removes the export that `file` is one of, and puts back every backup that its record lists.
/// Returns whether something was put back. Where a process was ended in the middle of it, another
/// call does the rest. Errors: not_found without a record, data_loss for what was changed since,
/// failed_precondition for what is not installed, and already_exists for what is not ours where
/// something would be put back, or a backup that is not what was kept, before anything is removed;
/// unavailable: what was done until then is taken back.
Result<bool> remove_bundle(const std::filesystem::path& file);

/// Files of exports that this user has written or installed, by note_export(), the oldest first;
/// without those that are gone.
std::vector<std::filesystem::path> noted_exports();
/// That it cannot be noted is not an error: it only is not listed then.
void note_export(const std::filesystem::path& file);

}  // namespace stripline::suites::tune
