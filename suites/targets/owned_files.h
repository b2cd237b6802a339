// Recognises Stripline's own files, as no others are replaced or removed. Reads files, changes
// none.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::suites::tune {

/// The record beside the files of an export (export_record.h).
inline constexpr const char* kRecordName = "stripline-export.json";
/// What a record lists beside its own files: SHA-256, by name, of those that were there before it.
inline constexpr const char* kFormerFiles = "former_files";
/// The files that it replaced and that are kept as backups, the record before it included.
inline constexpr const char* kBackups = "backups";
/// How every other file of an export begins, after "# ", where it may have comments.
inline constexpr const char* kMark = "Written by Stripline";
/// What a file that is replaced by another one of ours is kept as, behind its name.
inline constexpr const char* kBackupSuffix = ".backup";

/// The text of a file with the SHA-256 of all of it in the line of our mark, in place of one that
/// is there; a text without our mark as it is.
std::string sealed(const std::string& text);

/// Whether a file is a record or the backup of one, has content that the record beside it lists, or
/// is not listed and sealed with the content that it has: else it was changed since, or is a file
/// of others that begins as ours do. The backup of a file is listed by the record, or by the backup
/// of it.
bool is_ours(const std::filesystem::path& path);

/// Errors: already_exists where a file is there that is not ours; `advice` says what to do.
Status check_replaceable(const std::filesystem::path& path, std::string_view advice);

/// Errors: already_exists where the record in a folder is of another target.
Status check_target(const std::filesystem::path& folder, std::string_view target);

/// Files in a folder that the record there lists with the content that they have: SHA-256, by name.
std::map<std::string, std::string> listed_files(const std::filesystem::path& folder);

}  // namespace stripline::suites::tune
