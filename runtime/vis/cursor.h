// Walking over the regions of a transfer without listing them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/vis/strided.h"

namespace stripline::vis {

/// `count` regions of `bytes`, `stride` apart.
struct Run {
  int64_t offset = 0;
  int64_t stride = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

/// The same on both sides.
struct RunPair {
  int64_t remote = 0;
  int64_t local = 0;
  int64_t remote_stride = 0;
  int64_t local_stride = 0;
  uint64_t count = 0;
  uint64_t bytes = 0;
};

/// Position in the stream of one side. Knows no end: after the last byte comes the first.
class SideCursor {
 public:
  /// At the start of a side, which stays where it is while the cursor is used.
  void start(const Side& side) {
    side_ = &side;
    index_.assign(side.dimensions.size(), 0);
    offset_ = side.base;
    within_ = 0;
  }

  /// At a byte of the stream.
  void start(const Side& side, uint64_t position) {
    start(side);
    within_ = position % side.bytes;
    uint64_t region = position / side.bytes;
    for (size_t i = 0; i < index_.size() && region > 0; ++i) {
      const SideDimension& dimension = side.dimensions[i];
      index_[i] = region % dimension.count;
      offset_ += dimension.stride * static_cast<int64_t>(index_[i]);
      region /= dimension.count;
    }
  }

  /// The next bytes, at most `limit` (at least 1): whole regions, or a part of one.
  Run next(uint64_t limit) {
    if (within_ != 0 || limit < side_->bytes) {
      const Run part{offset_ + static_cast<int64_t>(within_), 0, 1,
                     std::min(side_->bytes - within_, limit)};
      within_ += part.bytes;
      if (within_ == side_->bytes) {
        within_ = 0;
        step(1);
      }
      return part;
    }
    if (index_.empty()) return {offset_, 0, 1, side_->bytes};
    const SideDimension& row = side_->dimensions.front();
    const Run run{offset_, row.stride, std::min(row.count - index_[0], limit / side_->bytes),
                  side_->bytes};
    step(run.count);
    return run;
  }

 private:
  // By at most what is left of the innermost dimension.
  void step(uint64_t regions) {
    for (size_t i = 0; i < index_.size(); ++i) {
      const SideDimension& dimension = side_->dimensions[i];
      index_[i] += regions;
      offset_ += dimension.stride * static_cast<int64_t>(regions);
      if (index_[i] < dimension.count) return;
      offset_ -= dimension.stride * static_cast<int64_t>(dimension.count);
      index_[i] = 0;
      regions = 1;
    }
  }

  const Side* side_ = nullptr;
  DimensionList<uint64_t> index_;
  int64_t offset_ = 0;
  uint64_t within_ = 0;
};

/// Whole regions of both sides together.
class PairCursor {
 public:
  /// Before the first region of a normal shape, which stays while the cursor is used.
  void start(const Strided& shape) {
    shape_ = &shape;
    index_.assign(shape.dimensions.size(), 0);
    left_ = shape.bytes == 0 ? 0 : shape.regions();
    remote_ = shape.remote;
    local_ = shape.local;
  }

  bool done() const { return left_ == 0; }

  /// The next regions of the innermost dimension, at most `limit` (at least 1). Not when done().
  RunPair next(uint64_t limit) {
    RunPair run{remote_, local_, 0, 0, 1, shape_->bytes};
    if (!index_.empty()) {
      const Dimension& row = shape_->dimensions.front();
      run.remote_stride = row.remote_stride;
      run.local_stride = row.local_stride;
      run.count = std::min(row.count - index_[0], limit);
    }
    left_ -= run.count;
    step(run.count);
    return run;
  }

 private:
  void step(uint64_t regions) {
    for (size_t i = 0; i < index_.size(); ++i) {
      const Dimension& dimension = shape_->dimensions[i];
      index_[i] += regions;
      remote_ += dimension.remote_stride * static_cast<int64_t>(regions);
      local_ += dimension.local_stride * static_cast<int64_t>(regions);
      if (index_[i] < dimension.count) return;
      remote_ -= dimension.remote_stride * static_cast<int64_t>(dimension.count);
      local_ -= dimension.local_stride * static_cast<int64_t>(dimension.count);
      index_[i] = 0;
      regions = 1;
    }
  }

  const Strided* shape_ = nullptr;
  DimensionList<uint64_t> index_;
  uint64_t left_ = 0;
  int64_t remote_ = 0;
  int64_t local_ = 0;
};

}  // namespace stripline::vis
