// What loops and nests have fetched stays described as long as its buffer lives, the rank has made
// no acquire, and has not stored there itself: a later loop finds it here and need not fetch it
// (Iancu, Chen and Yelick, section 6). docs/memory-model.md says what an acquire is;
// rma::Operations::acquire_epoch() counts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "optimizer/access/lmad.h"
#include "optimizer/access/nest.h"
#include "runtime/loop/buffer_pool.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

/// Elements of another rank's segment that a loop wants.
struct WantedRegion {
  rank_t rank = 0;
  int64_t base = 0;            ///< offset of the first iteration's
  uint64_t bytes = 0;          ///< of an iteration, which lie together
  uint64_t element_bytes = 1;  ///< they are as aligned here as elements of this size are
  std::span<const access::Dimension> loops{};  ///< at most access::kMaxDepth; strides of any sign
};

/// Where they are.
struct KeptRegion {
  BufferPool::Buffer* buffer = nullptr;
  std::byte* data = nullptr;                              ///< of the first iteration
  std::array<int64_t, access::kMaxDepth> stride_bytes{};  ///< by loop
};

class DataCache final : public rma::Keeper {
 public:
  /// Regions of a buffer that are described; of a loop over more of them none is kept.
  static constexpr size_t kMostRegions = 64;

  DataCache(ContextState& state, BufferPool& pool)
      : Keeper(state.memory.keepers()), state_(state), pool_(pool) {}

  /// Nothing is kept, at the cost of a comparison.
  bool empty() const { return !keeps(); }

  /// Where a region is, all of it, if that is known and still holds.
  std::optional<KeptRegion> find(const WantedRegion& wanted);

  /// Describes what is about to be fetched into a buffer, which is in use.
  void keep(BufferPool::Buffer& buffer, rank_t rank, const access::Lmad& bytes, std::byte* data);
  /// What keep() said of a buffer has been fetched: it can be found from now on, unless this rank
  /// has made an acquire or stored there meanwhile.
  void complete(BufferPool::Buffer& buffer);
  /// A buffer's contents are not what was said.
  static void forget(BufferPool::Buffer& buffer) { buffer.contents.clear(); }

  /// Before a buffer is taken: those whose contents have become old are free.
  void give_up_old();

  const rma::KeptStatistics& statistics() const { return statistics_; }

 private:
  void stored(rank_t rank, uint64_t offset, uint64_t bytes) override;

  ContextState& state_;
  BufferPool& pool_;
  uint64_t epoch_ = 0;  // in which all contents were begun
  rma::KeptStatistics statistics_;
};

}  // namespace stripline::detail
