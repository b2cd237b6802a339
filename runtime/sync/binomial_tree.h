// Binomial trees over the ranks of a team, which count from the root.
#pragma once

#include <algorithm>
#include <cstdint>

#include "runtime/fabric/fabric.h"

namespace stripline::sync {

/// The subtree of a rank: consecutive ranks that begin with it. Its children are 1, 2, 4, ... ranks
/// after it, below `top`; its parent is `top` ranks before it.
struct Subtree {
  uint64_t top = 1;  ///< the lowest set bit of the rank; the root's is no less than `size`
  fabric::Rank ranks = 1;

  Subtree(fabric::Rank self, fabric::Rank size) {
    while (top < size && (self & top) == 0) top *= 2;
    ranks = static_cast<fabric::Rank>(std::min<uint64_t>(top, size - self));
  }
};

}  // namespace stripline::sync
