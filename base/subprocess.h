// Starting, watching and ending child processes.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.h"

namespace stripline {

/// An owned file descriptor, closed on destruction. -1 is none.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

/// Both ends of a connected stream socket; each end is close-on-exec.
Result<std::pair<UniqueFd, UniqueFd>> socket_pair();

struct SubprocessOptions {
  std::vector<std::string> argv;  ///< argv[0] is the program, looked up in PATH if it has no slash.
  std::map<std::string, std::string> environment;  ///< Added to, or replacing, the parent's.
  /// Descriptors of the parent that the child sees under the given number (>= 3).
  std::vector<std::pair<int, int>> inherit;  ///< {parent fd, child fd}
  /// So that terminate() reaches grandchildren, too. A terminal does not stop such a child: its
  /// reads of it fail.
  bool new_process_group = true;
  bool die_with_parent = true;  ///< The kernel kills the child if this process dies.
  std::optional<int> stdin_fd;  ///< Redirect; default: inherit.
  std::optional<int> stdout_fd;
  std::optional<int> stderr_fd;
};

/// How a child ended.
struct ExitStatus {
  int exit_code = 0;  ///< Valid if signal == 0.
  int signal = 0;     ///< The signal that killed it, or 0.
  bool ok() const { return exit_code == 0 && signal == 0; }
  /// "exited with code 3", "was killed by signal 9 (SIGKILL)"; with the limit of the shell that is
  /// behind the signal, if one is (limit_behind()).
  std::string describe() const;
};

/// A child process. It has the limit of open files that this process was started with
/// (base/descriptors.h). Destroying a running one kills its group and reaps it: nothing is left
/// behind, unless the kernel does not let go of it for five seconds.
class Subprocess {
 public:
  /// Errors: not_found and failed_precondition if the program cannot be started,
  /// resource_exhausted without a free descriptor or process.
  static Result<Subprocess> spawn(const SubprocessOptions& options);

  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  ~Subprocess();

  pid_t pid() const { return pid_; }

  /// The status if it has ended; never blocks.
  std::optional<ExitStatus> poll();

  /// Waits at most `timeout_seconds` (< 0: for ever). Errors: deadline_exceeded.
  Result<ExitStatus> wait(double timeout_seconds = -1);

  /// Sends a signal to the process group. Harmless after the end.
  void signal(int signal_number);

  /// SIGTERM, then SIGKILL after `grace_seconds`; returns how it ended, or after five seconds how
  /// it will.
  ExitStatus terminate(double grace_seconds = 1.0);

 private:
  Subprocess(pid_t pid, bool group) : pid_(pid), group_(group) {}
  pid_t pid_ = -1;
  bool group_ = false;
  std::optional<ExitStatus> status_;
};

/// The file that a shell would run for a name without slashes; empty if it is not in PATH.
std::filesystem::path find_in_path(const std::string& name);

/// The folder of the running executable; helper programs are looked for there.
std::string executable_folder();

}  // namespace stripline
