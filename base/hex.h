// Bytes as lower-case hexadecimal, as endpoint addresses travel in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stripline {

std::string to_hex(std::string_view bytes);

/// The value of a hexadecimal digit of either case, or -1 of any other character.
constexpr int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The bytes, or nullopt if `text` has an odd length or a character that is no hexadecimal digit.
std::optional<std::string> from_hex(std::string_view text);

}  // namespace stripline
