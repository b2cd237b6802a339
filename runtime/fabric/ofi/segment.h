// The memory of a rank's shared segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/subprocess.h"

namespace stripline::fabric::ofi {

/// When the pages of a segment are made.
enum class Pages {
  /// At once: a job that does not fit fails when it starts and not in the middle, and no first
  /// touch is slower than those after it.
  now,
  /// When they are first touched, so that what a program never uses costs neither memory nor time;
  /// for those who know that there is room (base/job_memory.h).
  when_touched,
};

/// Zeroed memory, aligned to pages and, if it is large enough for some, to huge pages (part of
/// which would be small ones otherwise: gets of 64 KiB over shm took 7 % longer). Unmapped on
/// destruction.
///
/// A shared one is a file without a name (memfd): it takes no room in /dev/shm, leaves nothing
/// behind when the process is killed, and others of this user map it through /proc (same_node.h).
class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_(std::exchange(other.mapped_, 0)),
        file_(std::move(other.file_)) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    std::swap(file_, other.file_);
    return *this;
  }
  ~Segment();

  enum class Kind { exclusive, shared };

  /// A host that gives no such file gives an exclusive segment instead, whose file() is -1. Errors:
  /// resource_exhausted, with what is available and how to ask for less.
  static Result<Segment> allocate(size_t bytes, Kind kind = Kind::exclusive,
                                  Pages pages = Pages::now);

  std::span<std::byte> bytes() const { return {base_, bytes_}; }

  /// The descriptor of a shared one; -1 of others.
  int file() const { return file_.get(); }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
  UniqueFd file_;
};

}  // namespace stripline::fabric::ofi
