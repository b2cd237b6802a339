#include "agent/worker_process.h"

#include <cerrno>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stripline::agent {

Result<WorkerProcess> WorkerProcess::start(std::vector<std::string> command,
                                           const std::map<std::string, std::string>& environment) {
  constexpr int kControlFd = 3;
  constexpr int kRecordFd = 5;  // ranks may look for their operation record in 4
  STRIPLINE_ASSIGN_OR_RETURN(auto ends, socket_pair());
  SubprocessOptions options;
  options.argv = std::move(command);
  STRIPLINE_ASSIGN_OR_RETURN(PointRecord record, PointRecord::create());
  options.environment = environment;
  options.environment[kPointRecordVariable] = std::to_string(kRecordFd);
  options.inherit = {{ends.second.get(), kControlFd}, {record.file(), kRecordFd}};
  STRIPLINE_ASSIGN_OR_RETURN(Subprocess process, Subprocess::spawn(options));
  // The system call itself: the header of glibc 2.36 declares pidfd_open for C only.
  UniqueFd exit_fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid(), 0)));
  if (!exit_fd) {
    return Error(ErrorCode::resource_exhausted,
                 "cannot watch a worker: " + std::generic_category().message(errno) +
                     "; pidfd_open needs Linux 5.3 and a free descriptor");
  }
  return WorkerProcess(std::move(process), JsonChannel(std::move(ends.first)), std::move(exit_fd),
                       std::move(record));
}

void WorkerProcess::tell(const Json& message) {
  if (!channel_open_) return;
  outbox_ += dumped(message);
  outbox_ += '\n';
  flush();
}

void WorkerProcess::flush() {
  size_t done = 0;
  while (done < outbox_.size()) {
    const ssize_t sent = ::send(channel_.fd(), outbox_.data() + done, outbox_.size() - done,
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      done += static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      done = outbox_.size();  // the worker is gone; exit_fd() tells
    }
  }
  outbox_.erase(0, done);
}

Result<std::optional<std::string>> WorkerProcess::next_line() {
  if (!channel_open_) return std::optional<std::string>();
  Result<std::optional<std::string>> line = channel_.read_line(0);
  if (!line.ok() && line.error().code() == ErrorCode::unavailable) {
    channel_open_ = false;
    return std::optional<std::string>();
  }
  return line;
}

void WorkerProcess::kill() { process_.signal(SIGKILL); }

}  // namespace stripline::agent
