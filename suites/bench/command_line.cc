#include "suites/bench/command_line.h"

#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace stripline::suites::bench {
Status check_writable(const std::string& file) {
  std::error_code ignored;
  const std::filesystem::path path(file);
  std::filesystem::path asked = path;
  if (!std::filesystem::exists(path, ignored)) {
    asked = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  }
  const bool folder = std::filesystem::is_directory(asked, ignored);
  if (folder == (asked != path) && ::access(asked.c_str(), W_OK) == 0) return {};
  return Error(ErrorCode::unavailable,
               "cannot write '" + file + "'; check that its folder exists and is writable");
}

}  // namespace stripline::suites::bench
