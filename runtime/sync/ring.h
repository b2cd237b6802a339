// A vector in n blocks that go around a ring of ranks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/sync/collectives.h"

namespace stripline::sync {

/// The vector cut into `blocks` of about the same length, at multiples of element_bytes.
class Cut {
 public:
  Cut(Bytes data, size_t element_bytes, Rank blocks)
      : data_(data),
        element_bytes_(element_bytes),
        count_(data.size() / element_bytes),
        blocks_(blocks) {}

  /// Blocks [first, last) as one.
  Bytes range(Rank first, Rank last) const {
    return data_.subspan(begin(first), begin(last) - begin(first));
  }
  Bytes operator[](Rank block) const { return range(block, block + 1); }
  /// The longest block of such a cut.
  static size_t largest(size_t bytes, size_t element_bytes, Rank blocks) {
    return (bytes / element_bytes + blocks - 1) / blocks * element_bytes;
  }

 private:
  // The first count % blocks blocks hold one element more.
  size_t begin(Rank block) const {
    const size_t more = count_ % blocks_;
    return (block * (count_ / blocks_) + (block < more ? block : more)) * element_bytes_;
  }

  Bytes data_;
  size_t element_bytes_;
  size_t count_;
  Rank blocks_;
};

/// This rank holds block `mine`, the rank `d` after it block mine + d (mod n); afterwards every
/// rank holds all. Steps from first_step on. `block_of(i)` is where block i lies or goes.
template <typename BlockOf>
void ring_allgather(Round& round, Rank mine, uint32_t first_step, const BlockOf& block_of) {
  const Rank n = round.size;
  for (Rank step = 0; step + 1 < n; ++step) {
    const auto out = static_cast<Rank>((uint64_t{mine} + n - step) % n);
    const Rank in = out == 0 ? n - 1 : out - 1;
    round.exchange(round.after(1), block_of(out), round.before(1), block_of(in), first_step + step);
  }
}

}  // namespace stripline::sync
