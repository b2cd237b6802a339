// Records as JSON lines: appended one at a time, so that an interrupted command keeps what it has.
#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace stripline::suites::results {

/// The records of a file, in order; none if there is no such file. A last line that was cut off by
/// an interruption is left out. Errors: data_loss for any other line that does not parse;
/// unavailable when the file is there and cannot be read.
Result<std::vector<Json>> read_json_lines(const std::filesystem::path& path);

/// Adds a record, making folders as needed, and drops a cut-off last line. Not for several
/// processes at once. Errors: unavailable when the file cannot be read or written, invalid_argument
/// for a number that JSON cannot hold.
Status append_json_line(const std::filesystem::path& path, const Json& record);

}  // namespace stripline::suites::results
