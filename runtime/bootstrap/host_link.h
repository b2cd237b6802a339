// The connection of a launcher with one of its hosts: ssh, or on its own host the program itself,
// and the messages over its standard input and output.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_channel.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::bootstrap {

class HostLink {
 public:
  /// Starts `program` (host_share.h) on the host; `ssh` is the command for that, with its options.
  /// Errors: of Subprocess::spawn().
  static Result<HostLink> open(const std::string& host, const std::vector<std::string>& ssh,
                               const std::string& program);

  /// True if it leads to another host.
  bool by_ssh() const { return by_ssh_; }

  /// Readable when there may be messages.
  int fd() const { return channel_.fd(); }
  bool unwritten() const { return channel_.unwritten(); }
  /// What the program there, and ssh, write to standard error; -1 when that has ended.
  int error_fd() const { return errors_.get(); }

  /// Never blocks. That the other end is gone shows when it is read.
  void post(const Json& message);
  void flush();

  /// The next message, if there is one. Until expect_no_noise() it skips lines that are none: a
  /// login shell may print something first. Errors: unavailable at the end, data_loss.
  Result<std::optional<Json>> read();
  void expect_no_noise();

  /// Takes what there is on error_fd().
  void read_errors();
  /// The last line of that, for a person; empty if there was none since expect_no_noise().
  std::string last_words() const;

  /// Why the connection has ended, when read() has said so: of one that has not come about
  /// (unavailable, not_found), and of one that was lost (aborted). Takes up to a second.
  Error ending();

  /// No more will be posted: the program there ends.
  void hang_up();
  /// Waits patience_s at most for the end that hang_up() brings, and ends what is left here.
  void close(double patience_s);

 private:
  HostLink(std::string host, Subprocess process, JsonChannel channel, UniqueFd errors)
      : host_(std::move(host)),
        process_(std::move(process)),
        channel_(std::move(channel)),
        errors_(std::move(errors)) {}

  std::string host_;
  std::string program_;
  std::string ssh_;  // the command and its options, as one types it
  Subprocess process_;
  JsonChannel channel_;
  UniqueFd errors_;
  std::string error_text_;  // the end of it
  bool by_ssh_ = true;
  bool noise_ = true;
};

}  // namespace stripline::bootstrap
