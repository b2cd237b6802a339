// Programs run by tests: started with their output in files, bounded in time, and gone when their
// object is.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/clock.h"
#include "base/subprocess.h"

namespace stripline {

/// The path of a program of this build.
std::string program(const std::string& name);

/// A folder that is removed with its object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);

/// How a program ended and what it wrote.
struct Finished {
  int exit_code = -1;  ///< -1: it had to be killed, or a signal did
  std::string out;
  std::string err;
};

/// A running program whose output goes to files.
class Program {
 public:
  Program(const TempFolder& folder, const std::string& name, std::vector<std::string> argv,
          const std::map<std::string, std::string>& environment = {});
  Subprocess& process() { return *process_; }
  std::string out() const { return read_file(out_path_); }
  std::string err() const { return read_file(err_path_); }
  /// Waits for its end; kills it after the limit.
  Finished finish(double limit_s);

 private:
  std::filesystem::path out_path_;
  std::filesystem::path err_path_;
  std::optional<Subprocess> process_;
};

/// Runs a program to its end.
Finished run_program(std::vector<std::string> argv, double limit_s = 60,
                     const std::map<std::string, std::string>& environment = {});

/// The ids of a process's children.
std::vector<pid_t> children_of(pid_t pid);

/// The ids of all processes that were started as `path`.
std::vector<pid_t> processes_of(const std::string& path);

/// Lines of `text` that contain `part`.
size_t lines_with(const std::string& text, const std::string& part);

/// Waits until `condition` holds; whether it did within the limit.
template <typename Condition>
bool eventually(Condition condition, double limit_s);

/// Naps that `eventually` takes.
void nap();

template <typename Condition>
bool eventually(Condition condition, double limit_s) {
  const double end = steady_seconds() + limit_s;
  while (!condition()) {
    if (steady_seconds() > end) return false;
    nap();
  }
  return true;
}

}  // namespace stripline
