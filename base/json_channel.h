// JSON lines over a stream socket: one object per line, in both directions. How launchers, agents
// and ranks talk (docs/worker-protocol.md).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline {

/// One end of a JSON-lines channel. Not thread-safe; reading from one thread and writing from
/// another needs a lock of the caller's around write().
class JsonChannel {
 public:
  explicit JsonChannel(UniqueFd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }

  /// Writes the object and a newline; blocks while the socket is full. A closed peer gives
  /// unavailable, never SIGPIPE.
  Status write(const Json& message);

  /// The same message to several: each gets it as fast as it reads, and one that does not read yet
  /// holds up none of the others. Returns when all have it. Errors: as write(), of the first that
  /// has one; the others get it all the same.
  static Status write_to_all(std::span<JsonChannel* const> channels, const Json& message);

  /// The next message. Waits at most `timeout_seconds` (0: only what is there, < 0: for ever).
  /// nullopt: nothing within the time. Errors: unavailable at end of stream, data_loss when a line
  /// is not a JSON object or exceeds 64 MiB.
  Result<std::optional<Json>> read(double timeout_seconds);

 private:
  std::optional<Result<std::optional<Json>>> take_line();

  UniqueFd fd_;
  std::string buffer_;
  size_t scanned_ = 0;  // bytes of buffer_ known to hold no newline
};

}  // namespace stripline
