// A place in a program's source, as messages show it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stripline {

/// "FILE:LINE". Where the line is not known, 0, what stands for the file: the name of a call.
inline std::string place_text(std::string_view file, int64_t line) {
  std::string text(file);
  if (line != 0) text += ":" + std::to_string(line);
  return text;
}

}  // namespace stripline
