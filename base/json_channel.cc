#include "base/json_channel.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace stripline {
namespace {

constexpr size_t kMaxLine = size_t{64} << 20;

Error closed_error() {
  return Error(ErrorCode::unavailable, "the other end of the control channel closed it");
}

std::shared_ptr<const std::string> line_of(const Json& message) {
  return std::make_shared<const std::string>(dumped(message) + '\n');
}

}  // namespace

JsonChannel::JsonChannel(UniqueFd in, UniqueFd out) : in_(std::move(in)), out_(std::move(out)) {
  for (const int fd : {in_.get(), out_.get()}) {
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);  // NOLINT(*-vararg)
  }
}

Status JsonChannel::write(const Json& message) {
  STRIPLINE_RETURN_IF_ERROR(post(message));
  while (unwritten()) {
    pollfd wait{write_fd(), POLLOUT, 0};
    ::poll(&wait, 1, -1);
    STRIPLINE_RETURN_IF_ERROR(flush());
  }
  return {};
}

Status JsonChannel::post(const Json& message) { return post_line(line_of(message)); }

Status JsonChannel::post_to_all(std::span<JsonChannel* const> channels, const Json& message) {
  const Line line = line_of(message);
  Status result;
  for (JsonChannel* channel : channels) {
    const Status posted = channel->post_line(line);
    if (result.ok()) result = posted;
  }
  return result;
}

Status JsonChannel::post_line(Line line) {
  kept_.push_back(std::move(line));
  return flush();
}

Status JsonChannel::flush() {
  while (!kept_.empty()) {
    const std::string& line = *kept_.front();
    const char* rest = line.data() + written_;
    const size_t bytes = line.size() - written_;
    const ssize_t n = out_ ? ::write(out_.get(), rest, bytes)
                           : ::send(in_.get(), rest, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return {};
    if (n < 0) {
      kept_.clear();
      written_ = 0;
      return closed_error();
    }
    written_ += static_cast<size_t>(n);
    if (written_ < line.size()) continue;
    kept_.pop_front();
    written_ = 0;
  }
  return {};
}

Result<std::optional<std::string>> JsonChannel::take_line() {
  const size_t newline = buffer_.find('\n', scanned_);
  if (newline == std::string::npos) {
    scanned_ = buffer_.size();
    if (buffer_.size() > kMaxLine) {
      return Error(ErrorCode::data_loss, "a control channel line exceeds 64 MiB");
    }
    return std::optional<std::string>();
  }
  std::optional<std::string> line = buffer_.substr(0, newline);
  buffer_.erase(0, newline + 1);
  scanned_ = 0;
  return line;
}

Result<Json> JsonChannel::message_of(std::string_view line) {
  Result<Json> parsed = parse_json(line, "control channel message");
  if (parsed.ok() && !parsed->is_object()) {
    return Error(ErrorCode::data_loss, "a control channel message is not a JSON object");
  }
  return parsed;
}

Result<std::optional<Json>> JsonChannel::read(double timeout_seconds) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto line, read_line(timeout_seconds));
  if (!line) return std::optional<Json>();
  STRIPLINE_ASSIGN_OR_RETURN(Json message, message_of(*line));
  return std::optional<Json>(std::move(message));
}

Result<std::optional<std::string>> JsonChannel::read_line(double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto deadline =
      Clock::now() + std::chrono::duration<double>(std::max(0.0, timeout_seconds));
  while (true) {
    auto line = take_line();
    if (!line.ok() || line->has_value()) return line;
    int wait_ms = -1;
    if (timeout_seconds >= 0) {
      const auto left = std::chrono::duration<double>(deadline - Clock::now()).count();
      wait_ms = left > 0 ? static_cast<int>(left * 1e3) + 1 : 0;
    }
    pollfd wait{in_.get(), POLLIN, 0};
    const int ready = ::poll(&wait, 1, wait_ms);
    if (ready < 0 && errno != EINTR) {
      return Error(ErrorCode::internal,
                   "poll on the control channel failed: " + std::generic_category().message(errno));
    }
    if (ready <= 0) {
      if (timeout_seconds >= 0 && Clock::now() >= deadline) return std::optional<std::string>();
      continue;
    }
    std::array<char, 65536> chunk{};
    const ssize_t n = out_ ? ::read(in_.get(), chunk.data(), chunk.size())
                           : ::recv(in_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (n == 0) return closed_error();
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return closed_error();
    }
    buffer_.append(chunk.data(), static_cast<size_t>(n));
  }
}

}  // namespace stripline
