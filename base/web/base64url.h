// Base64 with the alphabet of URLs and without padding (RFC 4648, section 5): the form of all parts
// of a JSON web token. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stripline::web {

std::string to_base64url(std::string_view bytes);

/// nullopt for other characters, padding, an impossible length, and bits that are left over and not
/// zero: the bytes have this one form, and no other.
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace stripline::web
