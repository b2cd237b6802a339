#include "server/store/file_lock.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

namespace stripline::server {
namespace {

std::string owner_of(int fd) {
  char text[32];
  const ssize_t size = pread(fd, text, sizeof text - 1, 0);
  if (size <= 0) return "another process";
  std::string digits;
  for (const char c : std::string(text, static_cast<size_t>(size))) {
    if (c < '0' || c > '9') break;
    digits.push_back(c);
  }
  return digits.empty() ? "another process" : "process " + digits;
}

}  // namespace

Result<FileLock> FileLock::acquire(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) {
    return Error(ErrorCode::unavailable, "cannot open lock file '" + path.string() +
                                             "': " + std::generic_category().message(errno) +
                                             "; choose a --data-dir in which this user may write");
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Error(ErrorCode::unavailable, "cannot lock '" + path.string() +
                                               "': " + std::generic_category().message(errno) +
                                               "; the database must be on a local disk");
    }
    return Error(ErrorCode::already_exists,
                 "'" + path.string() + "' is locked by " + owner_of(fd.get()));
  }
  const std::string pid = std::to_string(getpid()) + "\n";
  if (ftruncate(fd.get(), 0) != 0 ||
      pwrite(fd.get(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    return Error(ErrorCode::unavailable, "cannot write lock file '" + path.string() +
                                             "': " + std::generic_category().message(errno));
  }
  return FileLock(std::move(fd));
}

}  // namespace stripline::server
