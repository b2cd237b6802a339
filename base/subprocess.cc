#include "base/subprocess.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/memory_limits.h"
#include "base/quantity.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace stripline {
namespace {

using Clock = std::chrono::steady_clock;

// From SIGKILL to the end of a process; memory of many gigabytes takes its time.
constexpr double kReapPatienceS = 5;

std::string errno_text(int error) {
  return std::error_code(error, std::generic_category()).message();
}

// A descriptor of this process, and the number under which the child is to see it. It is above all
// such numbers: placing one overwrites none that is still to be placed, and none has its number
// already, with which dup2() would leave it close-on-exec.
struct Staged {
  UniqueFd fd;
  int target;
};

Error too_few_descriptors() {
  return {ErrorCode::resource_exhausted, "cannot start a process: the limit of " +
                                             std::to_string(descriptor_limit()) +
                                             " open files is reached; raise 'ulimit -n'"};
}

// All that the child is to have besides what it inherits anyhow.
Result<std::vector<Staged>> stage(const SubprocessOptions& options, int above_targets) {
  std::vector<std::pair<int, int>> wanted = options.inherit;
  if (options.stdin_fd) wanted.emplace_back(*options.stdin_fd, STDIN_FILENO);
  if (options.stdout_fd) wanted.emplace_back(*options.stdout_fd, STDOUT_FILENO);
  if (options.stderr_fd) wanted.emplace_back(*options.stderr_fd, STDERR_FILENO);
  std::vector<Staged> staged;
  for (const auto& [parent_fd, child_fd] : wanted) {
    UniqueFd copy(::fcntl(parent_fd, F_DUPFD_CLOEXEC, above_targets));
    if (!copy && errno == EBADF) {
      return Error(ErrorCode::internal, "a child process is to inherit descriptor " +
                                            std::to_string(parent_fd) + ", which is not open");
    }
    if (!copy) return too_few_descriptors();
    staged.push_back({std::move(copy), child_fd});
  }
  return staged;
}

// Runs in the child between fork and exec: only async-signal-safe calls. Reports errno to the
// parent through `error_fd`, which exec closes.
[[noreturn]] void child_main(const SubprocessOptions& options, char* const* argv, char* const* env,
                             const std::vector<Staged>& staged, pid_t parent, int error_fd) {
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(error_fd, &error, sizeof error);
    ::_exit(127);
  };
  if (options.new_process_group) {
    ::setpgid(0, 0);
    // In the background of a terminal, reading it, and writing to it after `stty tostop`, would
    // stop the child for ever. Ignored, the first fails and the second works.
    ::signal(SIGTTIN, SIG_IGN);
    ::signal(SIGTTOU, SIG_IGN);
  }
  if (options.die_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // the parent died before prctl took effect
  }
  // Ignored signals would be inherited through exec; handlers are reset by it.
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  for (const Staged& one : staged) {
    if (::dup2(one.fd.get(), one.target) < 0) fail();
  }
  restore_descriptor_limit();
  ::execvpe(argv[0], argv, env);
  fail();
  ::_exit(127);
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& extra) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!extra.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [key, value] : extra) result.emplace_back(key).append("=").append(value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& s : strings) result.push_back(s.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int UniqueFd::release() { return std::exchange(fd_, -1); }

void UniqueFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<std::pair<UniqueFd, UniqueFd>> socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return Error(ErrorCode::resource_exhausted,
                 "cannot create a socket pair: " + errno_text(errno) + "; raise 'ulimit -n'");
  }
  return std::pair(UniqueFd(fds[0]), UniqueFd(fds[1]));
}

std::string ExitStatus::describe() const {
  if (signal != 0) {
    const char* name = ::sigabbrev_np(signal);
    // A child has the limits of this process, unless it has set some of its own.
    const std::string limit = limit_behind(signal, ShellLimits::read());
    return "was killed by signal " + std::to_string(signal) +
           (name != nullptr ? std::string(" (SIG") + name + ")" : std::string()) +
           (limit.empty() ? "" : ": " + limit);
  }
  return "exited with code " + std::to_string(exit_code);
}

Result<Subprocess> Subprocess::spawn(const SubprocessOptions& options) {
  if (options.argv.empty()) return Error(ErrorCode::internal, "spawn without a program");
  std::vector<std::string> argv_strings = options.argv;
  std::vector<std::string> env_strings = merged_environment(options.environment);
  const std::vector<char*> argv = pointers(argv_strings);
  const std::vector<char*> env = pointers(env_strings);

  int above_targets = STDERR_FILENO + 1;
  for (const auto& [parent_fd, child_fd] : options.inherit) {
    above_targets = std::max(above_targets, child_fd + 1);
  }
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return too_few_descriptors();
  UniqueFd error_read(pipe_fds[0]);
  UniqueFd error_write(::fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, above_targets));
  ::close(pipe_fds[1]);
  if (!error_write) return too_few_descriptors();
  STRIPLINE_ASSIGN_OR_RETURN(const std::vector<Staged> staged, stage(options, above_targets));

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    return Error(ErrorCode::resource_exhausted, "cannot fork: " + errno_text(errno) +
                                                    "; raise the number of processes of this user "
                                                    "('ulimit -u'), or free memory");
  }
  if (pid == 0) {
    child_main(options, argv.data(), env.data(), staged, parent, error_write.get());
  }
  error_write.reset();
  int child_errno = 0;
  ssize_t got = 0;
  do {
    got = ::read(error_read.get(), &child_errno, sizeof child_errno);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof child_errno)) {
    ::waitpid(pid, nullptr, 0);
    return Error(child_errno == ENOENT ? ErrorCode::not_found : ErrorCode::failed_precondition,
                 "cannot start '" + options.argv[0] + "': " + errno_text(child_errno));
  }
  return Subprocess(pid, options.new_process_group);
}

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), group_(other.group_), status_(other.status_) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this != &other) {
    if (pid_ > 0 && !status_) terminate(0);
    pid_ = std::exchange(other.pid_, -1);
    group_ = other.group_;
    status_ = other.status_;
  }
  return *this;
}

Subprocess::~Subprocess() {
  if (pid_ > 0 && !status_) terminate(0);
}

std::optional<ExitStatus> Subprocess::poll() {
  if (status_ || pid_ <= 0) return status_;
  int raw = 0;
  if (::waitpid(pid_, &raw, WNOHANG) != pid_) return std::nullopt;
  ExitStatus status;
  if (WIFSIGNALED(raw)) {
    status.signal = WTERMSIG(raw);
  } else {
    status.exit_code = WEXITSTATUS(raw);
  }
  status_ = status;
  return status_;
}

Result<ExitStatus> Subprocess::wait(double timeout_seconds) {
  const auto start = Clock::now();
  // Polling with a growing nap: portable, and cheap beside the life of a process.
  auto nap = std::chrono::microseconds(200);
  while (true) {
    if (const auto status = poll()) return *status;
    if (timeout_seconds >= 0 &&
        std::chrono::duration<double>(Clock::now() - start).count() > timeout_seconds) {
      return Error(ErrorCode::deadline_exceeded, "process " + std::to_string(pid_) +
                                                     " still runs after " +
                                                     exact_seconds_text(timeout_seconds));
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, std::chrono::microseconds(10000));
  }
}

void Subprocess::signal(int signal_number) {
  if (pid_ <= 0 || status_) return;
  ::kill(group_ ? -pid_ : pid_, signal_number);
}

ExitStatus Subprocess::terminate(double grace_seconds) {
  if (const auto status = poll()) return *status;
  if (pid_ <= 0) return {};
  if (grace_seconds > 0) {
    signal(SIGTERM);
    if (const auto status = wait(grace_seconds); status.ok()) return *status;
  }
  signal(SIGKILL);
  ::kill(pid_, SIGKILL);  // in case it had not reached setpgid yet
  if (const auto status = wait(kReapPatienceS); status.ok()) return *status;
  // It hangs in the kernel, in the driver of a broken device say. It ends when it can, and is
  // init's to reap once this process has ended.
  status_ = ExitStatus{0, SIGKILL};
  return *status_;
}

std::filesystem::path find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::filesystem::path file = std::filesystem::path(folder) / name;
    std::error_code none;
    if (std::filesystem::is_regular_file(file, none) && ::access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return {};
}

std::string executable_folder() {
  std::error_code error;
  auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // without /proc; what the kernel was given may be relative
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    const auto* given = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    path = std::filesystem::absolute(given != nullptr ? given : ".", error);
  }
  return path.parent_path().string();
}

}  // namespace stripline
