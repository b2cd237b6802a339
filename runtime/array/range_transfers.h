// How a range of a shared array is moved: which contiguous transfers, and whether they go straight
// to their place in the caller's memory or through a buffer.
#pragma once

#include <cstdint>
#include <vector>

#include <stripline/shared_array.h>

namespace stripline::array {

/// When blocks are moved one by one.
struct TransferConfig {
  /// Blocks of at least this size go straight to their place, one transfer each: a copy would cost
  /// more than a message. Smaller ones of one rank share a transfer.
  uint64_t direct_block_bytes = uint64_t{16} << 10;
};

/// Elements that lie together in a rank's part. `position` is that of the first in the caller's
/// memory, or in the buffer.
struct Transfer {
  rank_t rank = 0;
  uint64_t index = 0;
  uint64_t count = 0;
  uint64_t position = 0;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

struct TransferPlan {
  /// The transfers' positions are in a buffer: rank by rank, in the order of the array.
  bool buffered = false;
  std::vector<Transfer> transfers;
};

/// For elements [first, first + count).
TransferPlan plan_transfers(const detail::ArrayShape& shape, rank_t ranks, uint64_t first,
                            uint64_t count, const TransferConfig& config = {});

/// Calls visit(Transfer) for every piece of the range that is contiguous on both sides, in the
/// order of the array; positions are in the caller's memory.
template <typename Visit>
void for_each_piece(const detail::ArrayShape& shape, rank_t ranks, uint64_t first, uint64_t count,
                    Visit visit) {
  if (shape.indefinite) {
    if (count > 0) visit(Transfer{shape.owner, first, count, 0});
    return;
  }
  const distribution<block_cyclic<>> elements{{shape.block}, {ranks}};
  for (uint64_t done = 0; done < count;) {
    const place at = elements.locate(first + done);
    const uint64_t left_in_block = shape.block - (first + done) % shape.block;
    const uint64_t piece = std::min(left_in_block, count - done);
    visit(Transfer{at.rank, at.index, piece, done});
    done += piece;
  }
}

}  // namespace stripline::array
