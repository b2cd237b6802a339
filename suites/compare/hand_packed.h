// Strided transfers as a careful program writes them without rput_strided: pack, one contiguous
// put, a message that lets the owner unpack; for gets the reverse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <stripline/context.h>

namespace stripline::suites::compare {

/// `count` pieces of `bytes`, `stride` apart on both sides.
struct Pieces {
  uint64_t bytes = 0;
  uint64_t stride = 0;
  uint64_t count = 0;
  uint64_t total() const { return bytes * count; }
};

class HandPacked {
 public:
  /// Collective. `array` has at least `span` bytes for data, followed by as many for packed ones.
  HandPacked(Context& context, global_ptr<std::byte> array, size_t span);

  /// From `source` to the start of rank 1's array; returns when the data are in place.
  void put(const std::byte* source, const Pieces& pieces);
  /// From the start of rank 1's array; returns when the data are here.
  void get(std::byte* destination, const Pieces& pieces);

 private:
  void ask(uint32_t handler, const Pieces& pieces);

  Context& context_;
  global_ptr<std::byte> data_;
  global_ptr<std::byte> packed_;
  std::vector<std::byte> buffer_;
  uint64_t answers_ = 0;
  uint32_t done_ = 0;
  uint32_t unpack_ = 0;
  uint32_t pack_ = 0;
};

}  // namespace stripline::suites::compare
