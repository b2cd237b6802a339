// The memory of a rank's shared segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace stripline::fabric::ofi {

/// Private, page-aligned, zeroed memory whose pages are really there, so that a job that does not
/// fit fails when it starts and not in the middle. Unmapped on destruction.
class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        mapped_(std::exchange(other.mapped_, 0)) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }
  ~Segment();

  /// Errors: resource_exhausted, with what is available and how to ask for less.
  static Result<Segment> allocate(size_t bytes);

  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  size_t mapped_ = 0;
};

}  // namespace stripline::fabric::ofi
