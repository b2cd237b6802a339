#include "suites/results/json_lines.h"

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace stripline::suites::results {
namespace {

// Empty if there is no such file.
Result<std::string> content_of(const std::filesystem::path& path) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing) && !missing) return std::string();
  std::ifstream file(path);
  std::string text;
  std::array<char, 65536> part{};
  do {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<size_t>(file.gcount()));
  } while (file);
  if (missing || !file.eof()) {
    return Error(ErrorCode::unavailable,
                 "cannot read '" + path.string() +
                     "'; make it readable, or choose another folder with --out");
  }
  return text;
}

// The length of the lines that were written to their end.
size_t complete_length(const std::string& text) {
  const size_t last = text.rfind('\n');
  return last == std::string::npos ? 0 : last + 1;
}

}  // namespace

Result<std::vector<Json>> read_json_lines(const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(std::string text, content_of(path));
  text.resize(complete_length(text));
  std::vector<Json> records;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    STRIPLINE_ASSIGN_OR_RETURN(
        Json record,
        parse_json(line, "'" + path.string() + "', line " + std::to_string(records.size() + 1)));
    records.push_back(std::move(record));
  }
  return records;
}

Status append_json_line(const std::filesystem::path& path, const Json& record) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string line, canonical_json(record));
  std::error_code ignored;  // opening the file says what is wrong
  std::filesystem::create_directories(path.parent_path(), ignored);
  STRIPLINE_ASSIGN_OR_RETURN(const std::string before, content_of(path));
  std::error_code resized;
  if (const size_t complete = complete_length(before); complete < before.size()) {
    std::filesystem::resize_file(path, complete, resized);
  }
  std::ofstream file(path, std::ios::app);
  if (!resized) file << line << '\n' << std::flush;
  if (resized || !file) {
    return Error(ErrorCode::unavailable,
                 "cannot write '" + path.string() + "'; choose another folder with --out");
  }
  return {};
}

}  // namespace stripline::suites::results
