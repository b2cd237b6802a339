// For tests that run on networks that are not built in.
#pragma once

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>

#include "base/json.h"
#include "runtime/fabric/emulated/profile.h"

namespace stripline::fabric {

/// A built-in profile with some members changed, as a file that goes away.
class ProfileFile {
 public:
  ProfileFile(const std::string& name, const std::function<void(Json&)>& change)
      : path_(std::filesystem::temp_directory_path() /
              ("stripline_" + name + "_" + std::to_string(::getpid()) + ".json")) {
    Json profile = *parse_json(builtin_profile_text(name), name);
    change(profile);
    std::ofstream(path_) << profile.dump();
  }
  ~ProfileFile() { std::filesystem::remove(path_); }
  ProfileFile(const ProfileFile&) = delete;
  ProfileFile& operator=(const ProfileFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace stripline::fabric
