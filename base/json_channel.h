// JSON lines over a stream socket or two pipes: one object per line, in both directions. How
// launchers, agents and ranks talk (docs/worker-protocol.md).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace stripline {

/// One end of a JSON-lines channel. Not thread-safe; reading from one thread and writing from
/// another needs a lock of the caller's around write().
class JsonChannel {
 public:
  explicit JsonChannel(UniqueFd socket) : in_(std::move(socket)) {}
  /// Over two descriptors of any kind, e.g. pipes; makes both non-blocking. The caller blocks or
  /// ignores SIGPIPE.
  JsonChannel(UniqueFd in, UniqueFd out);

  /// Readable when there may be something to read().
  int fd() const { return in_.get(); }
  /// Writable when flush() may get on.
  int write_fd() const { return out_ ? out_.get() : in_.get(); }

  /// Writes the object and a newline; blocks while the socket is full. A closed peer gives
  /// unavailable, never SIGPIPE.
  Status write(const Json& message);

  /// As write(), but never blocks: what the socket does not take is kept for flush(), in order.
  Status post(const Json& message);

  /// The same message to several, kept in memory once. Errors: as post(), of the first that has
  /// one; the others get it all the same.
  static Status post_to_all(std::span<JsonChannel* const> channels, const Json& message);

  /// Writes what the socket takes of what is kept; never blocks. Call it when the socket becomes
  /// writable. Errors: unavailable if the peer has closed; nothing is kept any more then.
  Status flush();

  /// True if something posted has not been written yet.
  bool unwritten() const { return !kept_.empty(); }

  /// The next message. Waits at most `timeout_seconds` (0: only what is there, < 0: for ever).
  /// nullopt: nothing within the time. Errors: unavailable at end of stream, data_loss when a line
  /// is not a JSON object or exceeds 64 MiB.
  Result<std::optional<Json>> read(double timeout_seconds);

  /// As read(), but the line as it came, without its end: message_of() reads it.
  Result<std::optional<std::string>> read_line(double timeout_seconds);

  /// The message of a line. Errors: data_loss when it is not a JSON object.
  static Result<Json> message_of(std::string_view line);

 private:
  using Line = std::shared_ptr<const std::string>;

  Status post_line(Line line);
  Result<std::optional<std::string>> take_line();

  UniqueFd in_;            // a socket for both directions unless there is out_
  UniqueFd out_;           // for writing
  std::deque<Line> kept_;  // not written yet
  size_t written_ = 0;     // bytes of the first of them that are
  std::string buffer_;
  size_t scanned_ = 0;  // bytes of buffer_ known to hold no newline
};

}  // namespace stripline
