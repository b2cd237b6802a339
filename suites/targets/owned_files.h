// Recognises Stripline's own files, as no others are replaced or removed. Reads files, changes
// none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stripline::suites::tune {

/// The record beside the files of an export (export_record.h).
inline constexpr const char* kRecordName = "stripline-export.json";
/// How every other file of an export begins, after "# ", where it may have comments.
inline constexpr const char* kMark = "Written by Stripline";
/// What a file that is replaced by another one of ours is kept as, behind its name.
inline constexpr const char* kBackupSuffix = ".backup";

/// Whether a file begins with our mark, is a record or the backup of one, or has the content that
/// the record beside it lists.
bool is_ours(const std::filesystem::path& path);

/// Errors: already_exists where a file is there that is not ours; `advice` says what to do.
Status check_replaceable(const std::filesystem::path& path, std::string_view advice);

}  // namespace stripline::suites::tune
