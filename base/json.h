// JSON reading and the canonical form that hashes are taken over. Include from .cc files and from
// headers that are not installed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace stripline {

using Json = nlohmann::json;  // object keys are sorted (std::map)

/// Parses `text`, in time proportional to its length. Limits nesting so that hostile input cannot
/// exhaust the stack, and refuses an object that has a key twice. `what` names the input in the
/// message. Errors: data_loss with the byte position or the key.
Result<Json> parse_json(std::string_view text, std::string_view what);

/// Reads and parses a file of at most `max_bytes`. Errors: not_found, data_loss.
Result<Json> read_json_file(const std::filesystem::path& path, size_t max_bytes = size_t{64} << 20);

/// Writes pretty-printed JSON through a temporary file in the same folder and a rename, so that a
/// reader never sees half of it.
Status write_json_file(const std::filesystem::path& path, const Json& value);

/// The canonical form: keys sorted, no white space, integers as such, doubles in the shortest form
/// that reads back equal. Errors: invalid_argument if a number is NaN or infinite, which JSON
/// cannot hold.
Result<std::string> canonical_json(const Json& value);

/// `value` on a line. Bytes that are not UTF-8, as texts of others may hold, are replaced.
std::string dumped(const Json& value);

/// A member of a known kind, or an error that names it: `where` is e.g. "model.network.get".
Result<double> get_number(const Json& object, std::string_view key, std::string_view where);
Result<int64_t> get_integer(const Json& object, std::string_view key, std::string_view where);
Result<std::string> get_string(const Json& object, std::string_view key, std::string_view where);
Result<bool> get_bool(const Json& object, std::string_view key, std::string_view where);
/// Pointers into `object`; never null on success.
Result<const Json*> get_object(const Json& object, std::string_view key, std::string_view where);
Result<const Json*> get_array(const Json& object, std::string_view key, std::string_view where);

}  // namespace stripline
