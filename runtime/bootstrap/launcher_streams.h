// Standard output and error of a launcher whose ranks are on other hosts, and its standard input,
// which rank 0 reads there.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <poll.h>
#include <string>

namespace stripline::bootstrap {

/// What has come of ranks and is to be written to a descriptor of this process, in order. Never
/// blocks: a terminal or a pipe that takes nothing holds up no one but the ranks.
class OutputQueue {
 public:
  /// Called when this many bytes of this owner have been written, or never will be.
  using Taken = std::function<void(size_t owner, size_t bytes)>;

  OutputQueue(int to, Taken taken) : to_(to), taken_(std::move(taken)) {}

  void add(size_t owner, std::string bytes);
  /// Writes what the descriptor takes. Returns whether that was anything.
  bool flush();
  /// For poll().
  pollfd wait() const { return {queue_.empty() ? -1 : to_, POLLOUT, 0}; }
  bool empty() const { return queue_.empty(); }
  /// No one reads any more (EPIPE), or the disk is full.
  bool closed() const { return closed_; }
  /// What is left is dropped, as if no one read any more.
  void close();

 private:
  struct Piece {
    size_t owner = 0;
    std::string bytes;
    size_t written = 0;
  };
  int to_;
  Taken taken_;
  std::deque<Piece> queue_;
  bool closed_ = false;
};

/// A piece of what a descriptor has to read; empty: the end, or an error. Call it when poll() says
/// that there is something.
std::string read_piece(int from);

}  // namespace stripline::bootstrap
