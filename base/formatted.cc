#include "base/formatted.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

namespace stripline {

std::string formatted(const char* pattern, ...) {
  std::string text(64, '\0');
  for (;;) {
    std::va_list arguments;
    va_start(arguments, pattern);
    const auto bytes = static_cast<size_t>(
        std::max(0, std::vsnprintf(text.data(), text.size() + 1, pattern, arguments)));
    va_end(arguments);
    const bool fits = bytes <= text.size();
    text.resize(bytes);
    if (fits) return text;
  }
}

}  // namespace stripline
