// A folder of this process for what it writes while it measures, removed with its object.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::suites::tune {

class WorkFolder {
 public:
  /// Below `parent`, with a name that cannot be guessed; only this user may enter it. Empty: the
  /// folder for temporary files. Errors: unavailable.
  static Result<WorkFolder> create(const std::filesystem::path& parent = {});
  WorkFolder(WorkFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  /// A file in it, empty. Errors: unavailable.
  Result<UniqueFd> open_for_writing(const std::string& name) const;

 private:
  explicit WorkFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace stripline::suites::tune
