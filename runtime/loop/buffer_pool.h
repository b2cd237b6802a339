// The buffers of a rank's loops and nests: one pool with a budget (Iancu, Chen and Yelick, section
// 6). A buffer that is given back stays, for the next loop, and for what it holds of other ranks'
// memory (data_cache.h); where the budget leaves no room for a new one, or there are very many,
// those that were used least recently go first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <stripline/global_ptr.h>

#include "optimizer/access/lmad.h"

namespace stripline::detail {

/// The alignment of buffers, and of what is laid out in them.
inline constexpr uint64_t kAlignment = 64;
inline constexpr uint64_t align_up(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Bytes of another rank's segment, packed one run after another.
struct FetchedRegion {
  rank_t rank = 0;
  access::Lmad bytes;  ///< canonical, by offsets in the segment
  std::byte* data = nullptr;
  bool complete = false;  ///< all of it is here
};

/// Not thread-safe: as the Context.
class BufferPool {
 public:
  /// Beside those in use. All are looked at for each loop, and for each store of this rank while
  /// the data cache has something.
  static constexpr size_t kMostBuffers = 128;

  struct Buffer {
    struct Free {
      Free() : Free(std::align_val_t{kAlignment}) {}
      explicit Free(std::align_val_t of_memory) : alignment(of_memory) {}
      void operator()(std::byte* memory) const;
      std::align_val_t alignment;
    };
    using Memory = std::unique_ptr<std::byte[], Free>;  // NOLINT(*-avoid-c-arrays)
    Memory memory;
    uint64_t capacity = 0;
    uint32_t users = 0;
    uint64_t last_use = 0;
    std::vector<FetchedRegion> contents;  ///< kept by the data cache
  };

  /// Keeps a buffer from being given to others.
  class Use {
   public:
    Use() = default;
    Use(BufferPool& pool, Buffer& buffer) : pool_(&pool), buffer_(&buffer) { ++buffer.users; }
    Use(Use&& other) noexcept
        : pool_(other.pool_), buffer_(std::exchange(other.buffer_, nullptr)) {}
    Use& operator=(Use&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(buffer_, other.buffer_);
      return *this;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      if (buffer_ != nullptr) pool_->give_back(*buffer_);
    }

    Buffer* buffer() const { return buffer_; }  ///< null: none
    std::byte* memory() const { return buffer_ == nullptr ? nullptr : buffer_->memory.get(); }

   private:
    BufferPool* pool_ = nullptr;
    Buffer* buffer_ = nullptr;
  };

  struct Statistics {
    uint64_t allocations = 0;
    uint64_t evicted_regions = 0;  ///< described contents of buffers that had to go
    uint64_t most_bytes = 0;       ///< that all buffers had together
  };

  explicit BufferPool(uint64_t budget_bytes) : budget_(budget_bytes) {}

  /// What one more loop may take: half of what others that are in flight leave of the budget, so
  /// that loops in its body find something, too. While there are others, a power of two: plans are
  /// found again although it varies what those have.
  uint64_t room() const;
  /// While there are none.
  uint64_t most_room() const { return budget_ / 2; }

  /// A buffer of `bytes`, with any contents; none if there is no memory. Beyond
  /// the budget it is one that goes when it is given back: a loop has to have one granule.
  Use acquire(uint64_t bytes);

  /// Those there are.
  const std::vector<std::unique_ptr<Buffer>>& buffers() const { return buffers_; }
  uint64_t bytes() const { return bytes_; }
  const Statistics& statistics() const { return statistics_; }

 private:
  // A loop is not given a buffer that is more than this many times as large as it asks for: while
  // it is in flight, loops in its body have to do with the rest.
  static constexpr uint64_t kMostWaste = 4;
  static constexpr uint64_t kLeastBytes = 4096;

  /// Null without memory.
  static Buffer::Memory allocate(uint64_t bytes);
  void give_back(Buffer& buffer);
  void remove(const Buffer& buffer);
  template <typename Suits, typename Better>
  Buffer* best(const Suits& suits, const Better& better) const;

  uint64_t budget_;
  uint64_t bytes_ = 0;
  uint64_t clock_ = 0;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  Statistics statistics_;
};

}  // namespace stripline::detail
