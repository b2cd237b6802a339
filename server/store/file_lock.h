// Keeps a second server away from a database.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::server {

/// An exclusive lock on a file (flock), held until destruction or the end of the process, however
/// it ends. The file holds the owner's process id, for the message that the loser prints. It is
/// not removed: removing it would let two owners lock two files of the same name.
class FileLock {
 public:
  /// Never waits. Errors: already_exists when another process holds it, naming that process;
  /// unavailable when the file cannot be created.
  static Result<FileLock> acquire(const std::filesystem::path& path);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace stripline::server
