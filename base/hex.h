// Bytes as lower-case hexadecimal, as endpoint addresses travel in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stripline {

std::string to_hex(std::string_view bytes);

/// The bytes, or nullopt if `text` has an odd length or a character that is no hexadecimal digit.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace stripline
