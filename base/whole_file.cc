#include "base/whole_file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sys/stat.h>
#include <system_error>

#include "base/cut_text.h"
#include "base/subprocess.h"

namespace stripline {
namespace {

struct Close {
  // The owner itself. NOLINTNEXTLINE(cppcoreguidelines-owning-memory)
  void operator()(std::FILE* file) const { std::fclose(file); }
};

Error read_error(const std::filesystem::path& path, int error) {
  return {ErrorCode::not_found, "cannot read " + quoted_text(path.string()) + ": " +
                                    (error == EISDIR ? "it is a folder; name a file in it"
                                                     : std::generic_category().message(error))};
}

}  // namespace

Result<std::string> read_whole_file(const std::filesystem::path& path, size_t max_bytes) {
  // Opening a FIFO would wait for its writer.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return read_error(path, errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return read_error(path, errno);
  if (S_ISDIR(status.st_mode)) return read_error(path, EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::failed_precondition,
                 "cannot read " + quoted_text(path.string()) +
                     ": it is a pipe or device, which may never end; write it to a file first");
  }
  const std::unique_ptr<std::FILE, Close> file(::fdopen(fd.get(), "rb"));
  if (file == nullptr) return read_error(path, errno);
  [[maybe_unused]] const int owned_by_file = fd.release();
  std::string text;
  std::array<char, 65536> buffer{};
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), count);
    if (text.size() > max_bytes) {
      return Error(ErrorCode::data_loss, quoted_text(path.string()) + " is larger than " +
                                             std::to_string(max_bytes) + " bytes; refused");
    }
  }
  if (std::ferror(file.get()) != 0) return read_error(path, errno);
  return text;
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace stripline
