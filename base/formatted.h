// Numbers in text, as printf() writes them.
#pragma once

#include <string>

namespace stripline {

/// The text that snprintf() writes for this pattern, of any length.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* pattern, ...);

}  // namespace stripline
