#include "base/pki/secret_file.h"

#include <cerrno>
#include <iostream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/whole_file.h"

namespace stripline::pki {
namespace {

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;
constexpr size_t kMaxBytes = size_t{1} << 20;

Status check_private(const std::filesystem::path& path, const char* mode) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    return Error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
                 "cannot read '" + path.string() + "': " + std::generic_category().message(errno));
  }
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
    return Error(ErrorCode::failed_precondition,
                 "'" + path.string() + "' belongs to another user (id " +
                     std::to_string(status.st_uid) + "), who can change it; it is not used");
  }
  if ((status.st_mode & kOthers) != 0) {
    return Error(ErrorCode::failed_precondition,
                 "'" + path.string() + "' is open to other users; it is not used until 'chmod " +
                     mode + " " + path.string() + "'");
  }
  return {};
}

}  // namespace

Status make_private_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), failure);
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return Error(ErrorCode::unavailable, "cannot create folder '" + folder.string() +
                                             "': " + std::generic_category().message(errno));
  }
  if (!std::filesystem::is_directory(folder, failure)) {
    return Error(ErrorCode::unavailable, "'" + folder.string() + "' is not a folder");
  }
  return check_private(folder, "700");
}

Status write_secret(const std::filesystem::path& path, std::string_view text) {
  STRIPLINE_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::create(path, kOwnerOnly));
  STRIPLINE_RETURN_IF_ERROR(file.write(text));
  return file.commit();
}

Result<std::string> read_secret(const std::filesystem::path& path) {
  STRIPLINE_RETURN_IF_ERROR(check_private(path, "600"));
  return read_whole_file(path, kMaxBytes);
}

Result<std::string> read_secret_line(const std::string& path) {
  std::string text;
  if (path == "-") {
    std::getline(std::cin, text);
  } else {
    STRIPLINE_ASSIGN_OR_RETURN(text, read_secret(path));
  }
  text.resize(std::min(text.size(), text.find('\n')));
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

}  // namespace stripline::pki
