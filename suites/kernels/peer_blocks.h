// What a rank reads in an all-to-all: one block of every other rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <stripline/context.h>
#include <stripline/loop.h>

#include "suites/kernels/aligned_buffer.h"
#include "suites/kernels/engine.h"

namespace stripline::suites {

/// Each rank begins with its successor, so that they do not all read from rank 0 at once. Has the
/// memory that the variants work with, too.
template <typename T>
class PeerBlocks {
 public:
  /// Elements [start, start + count) of every other rank's part of a symmetric array.
  PeerBlocks(const Context& context, global_ptr<T> array, size_t start, size_t count)
      : me_(context.rank_me()),
        ranks_(context.rank_n()),
        block_elements_(count),
        buffer_(count * (ranks_ - 1)),
        in_flight_(kHandParts * (ranks_ - 1)) {
    for (rank_t step = 1; step < ranks_; ++step) {
      const global_ptr<T> part = context.on_rank(array, (me_ + step) % ranks_);
      blocks_.push_back({part + static_cast<std::ptrdiff_t>(start), count});
    }
  }

  std::span<const LoopBlock<const T>> blocks() const { return blocks_; }
  /// The rank that a block belongs to.
  rank_t owner_of(size_t block) const { return static_cast<rank_t>((me_ + 1 + block) % ranks_); }
  /// Elements of all blocks.
  size_t elements() const { return block_elements_ * blocks_.size(); }
  /// How many of a block's elements are among the first `elements` of all blocks.
  size_t covered(size_t block, size_t elements) const {
    const size_t before = block * block_elements_;
    return elements <= before ? 0 : std::min(elements - before, block_elements_);
  }
  /// `fine` as in VariantBuffers.
  VariantBuffers<T> buffers(size_t fine) { return {buffer_.data(), in_flight_, fine}; }

 private:
  rank_t me_;
  rank_t ranks_;
  size_t block_elements_;
  std::vector<LoopBlock<const T>> blocks_;
  AlignedBuffer<T> buffer_;
  std::vector<future> in_flight_;
};

}  // namespace stripline::suites
