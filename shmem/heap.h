// The allocator of the symmetric heap: offsets, of which it is a pure function of the calls, so
// that PEs that make the same calls get the same offsets, or none, without a message. What it knows
// of blocks lies outside of the heap, where a program that writes past a block does not reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace stripline::shmem {

class Heap {
 public:
  /// A cache line: two variables that different PEs write to do not share one.
  static constexpr uint64_t kAlignment = 64;

  explicit Heap(uint64_t bytes);

  /// The lowest block that fits, aligned to `alignment`, a power of two. At least one byte.
  /// Empty: there is none.
  std::optional<uint64_t> allocate(uint64_t bytes, uint64_t alignment = kAlignment);

  /// Makes a block longer or shorter in its place. False: there is no room behind it, and nothing
  /// has changed. The block exists.
  bool resize(uint64_t offset, uint64_t bytes);

  /// False if no block begins there.
  bool free(uint64_t offset);

  /// The bytes that were asked for; empty if no block begins there.
  std::optional<uint64_t> size_of(uint64_t offset) const;

  /// True if all of these bytes were asked for by one block.
  bool holds(uint64_t offset, uint64_t bytes) const;

  uint64_t bytes() const { return bytes_; }
  uint64_t free_bytes() const { return free_bytes_; }

 private:
  struct Block {
    uint64_t asked = 0;
    uint64_t room = 0;  // a multiple of kAlignment
  };

  void give_back(uint64_t offset, uint64_t bytes);

  uint64_t bytes_;
  uint64_t free_bytes_;
  std::map<uint64_t, uint64_t> free_;  // offset -> size; never neighbours
  std::map<uint64_t, Block> blocks_;
};

}  // namespace stripline::shmem
