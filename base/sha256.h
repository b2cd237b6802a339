// SHA-256 of bytes, as lower-case hexadecimal.
#pragma once

#include <string>
#include <string_view>

namespace stripline {

std::string sha256_hex(std::string_view bytes);

}  // namespace stripline
