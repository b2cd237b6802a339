#include "base/whole_file.h"

#include <array>
#include <fstream>

namespace stripline {

Result<std::string> read_whole_file(const std::filesystem::path& path, size_t max_bytes) {
  std::ifstream in(path, std::ios::binary);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Error(ErrorCode::not_found,
                 "cannot read '" + path.string() + "': it is a folder; name a file in it");
  }
  if (!in) {
    const bool exists = std::filesystem::exists(path, ignored);
    return Error(ErrorCode::not_found, "cannot read '" + path.string() +
                                           "': " + (exists ? "no permission" : "no such file"));
  }
  std::string text;
  std::array<char, 65536> buffer{};
  while (in.read(buffer.data(), buffer.size()) || in.gcount() > 0) {
    text.append(buffer.data(), static_cast<size_t>(in.gcount()));
    if (text.size() > max_bytes) {
      return Error(ErrorCode::data_loss, "'" + path.string() + "' is larger than " +
                                             std::to_string(max_bytes) + " bytes; refused");
    }
  }
  return text;
}

}  // namespace stripline
