// A worker: a child process with a JSON-lines channel on its descriptor 3
// (docs/worker-protocol.md). Never blocks: what the socket does not take at once is kept and sent
// when poll() says so.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_channel.h"
#include "base/point_record.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::agent {

class WorkerProcess {
 public:
  /// Starts `command` with `environment` added to this process's. The kernel kills the worker when
  /// the calling thread ends, so call it from the thread that lives as long as the agent.
  static Result<WorkerProcess> start(std::vector<std::string> command,
                                     const std::map<std::string, std::string>& environment);

  /// To be polled for POLLIN, and for POLLOUT while wants_write(); -1 after the channel's end.
  int channel_fd() const { return channel_open_ ? channel_.fd() : -1; }
  /// Readable once the process has ended.
  int exit_fd() const { return exit_fd_.get(); }
  bool wants_write() const { return channel_open_ && !outbox_.empty(); }

  /// Queues a message and sends what the socket takes. To a worker that is gone: does nothing, its
  /// end is reported by exit_fd().
  void tell(const Json& message);
  /// Sends what is queued, as far as the socket takes it.
  void flush();

  /// The line of the next message that is there; nullopt if there is none, or the channel has
  /// ended. Errors: data_loss when it is too long; reading may go on.
  Result<std::optional<std::string>> next_line();

  std::optional<ExitStatus> poll_exit() { return process_.poll(); }
  void kill();
  pid_t pid() const { return process_.pid(); }
  /// How many points of its assignment it has begun, as far as it says so.
  uint64_t points_begun() const { return record_.begun(); }

 private:
  WorkerProcess(Subprocess process, JsonChannel channel, UniqueFd exit_fd, PointRecord record)
      : process_(std::move(process)),
        channel_(std::move(channel)),
        exit_fd_(std::move(exit_fd)),
        record_(std::move(record)) {}

  Subprocess process_;
  JsonChannel channel_;
  UniqueFd exit_fd_;
  PointRecord record_;
  std::string outbox_;
  bool channel_open_ = true;
};

}  // namespace stripline::agent
