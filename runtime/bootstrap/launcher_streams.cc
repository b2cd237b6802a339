#include "runtime/bootstrap/launcher_streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <unistd.h>
#include <utility>

#include <climits>

namespace stripline::bootstrap {

void OutputQueue::add(size_t owner, std::string bytes) {
  if (closed_) return taken_(owner, bytes.size());
  queue_.push_back({.owner = owner, .bytes = std::move(bytes)});
}

bool OutputQueue::flush() {
  bool any = false;
  while (!queue_.empty()) {
    pollfd room{to_, POLLOUT, 0};
    if (::poll(&room, 1, 0) <= 0) return any;
    Piece& piece = queue_.front();
    // What a pipe with room takes as a whole; more might block.
    const size_t bytes = std::min<size_t>(piece.bytes.size() - piece.written, PIPE_BUF);
    const ssize_t count = ::write(to_, piece.bytes.data() + piece.written, bytes);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) return any;
    if (count < 0) {
      close();
      return true;
    }
    any = true;
    piece.written += static_cast<size_t>(count);
    if (piece.written < piece.bytes.size()) continue;
    const Piece done = std::move(piece);
    queue_.pop_front();
    taken_(done.owner, done.bytes.size());
  }
  return any;
}

void OutputQueue::close() {
  closed_ = true;
  for (const Piece& piece : std::exchange(queue_, {})) taken_(piece.owner, piece.bytes.size());
}

std::string read_piece(int from) {
  std::array<char, 32768> buffer{};
  ssize_t count = 0;
  do {
    count = ::read(from, buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(count, 0))};
}

}  // namespace stripline::bootstrap
