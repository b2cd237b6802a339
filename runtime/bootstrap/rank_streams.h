// Standard output, error and input of the ranks of one host, whose launcher is on another one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::bootstrap {

/// What ranks write into a pipe, in transit to a launcher. No more is in flight than the launcher
/// has not taken yet: a reader that is slow makes ranks wait, and no one else.
class OutputStream {
 public:
  /// `name` is "out" or "err". With `whole_lines`, what is taken ends with a line. Errors:
  /// resource_exhausted.
  static Result<OutputStream> open(std::string_view name, bool whole_lines);

  const std::string& name() const { return name_; }
  /// Where ranks write. Stays open here, too, so that the pipe's end never comes.
  int write_fd() const { return to_.get(); }
  /// To wait on for more; -1 while the launcher has to take some first, and when it takes none.
  int read_fd() const;

  /// What there is now and may be sent; empty: nothing.
  std::string take();
  /// The launcher has taken so much.
  void taken(size_t bytes);
  /// No one takes what is written any more: ranks learn of it as with a pipe that is closed.
  void close() { from_.reset(); }
  /// True if nothing was left in the pipe when it was read last.
  bool empty() const { return empty_ || !from_; }

 private:
  std::string name_;
  UniqueFd from_;
  UniqueFd to_;
  bool whole_lines_ = false;
  bool empty_ = false;
  size_t in_flight_ = 0;
  std::string begun_;  // of a line that has not ended
};

/// What the launcher reads for rank 0, which it is asked for piece by piece.
class InputStream {
 public:
  /// Errors: resource_exhausted.
  static Result<InputStream> open();

  /// What rank 0 reads; to be closed here when the rank has it.
  UniqueFd& read_end() { return from_; }
  /// To wait on until more can be written; -1 if nothing is kept.
  int write_fd() const { return kept_.empty() ? -1 : to_.get(); }
  /// True if the launcher is to be asked for more. True once for each piece.
  bool wants_more();
  /// A piece; an empty one is the end.
  void give(std::string bytes);
  /// Writes what the pipe takes.
  void flush();

 private:
  UniqueFd from_;
  UniqueFd to_;
  std::string kept_;
  bool asked_ = false;
};

}  // namespace stripline::bootstrap
