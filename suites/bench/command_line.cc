#include "suites/bench/command_line.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace stripline::suites::bench {
namespace {

// What an assignment's deadline may be (optimizer/experiment/json.h): four months.
constexpr double kMostSeconds = 1e7;

}  // namespace

std::string check_seconds(const std::string& text) {
  double seconds = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_to, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && parsed_to == end && seconds > 0 && seconds <= kMostSeconds) return {};
  return "'" + text + "' is not a number of seconds above 0 and at most 1e7";
}

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

Status flush_output() {
  errno = 0;
  const bool lost = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !lost) return {};
  const int why = errno;
  return Error(ErrorCode::unavailable,
               "cannot write to standard output" +
                   (why == 0 ? std::string() : ": " + std::generic_category().message(why)) +
                   "; the result is incomplete");
}

}  // namespace stripline::suites::bench
