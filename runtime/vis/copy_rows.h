// Copying rows of regions: the inner loops of packing and unpacking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stripline::vis {
namespace detail {

// A length the compiler knows: a load and a store instead of a call.
template <size_t Bytes>
void copy_fixed(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
                uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(to, from, Bytes);
    to += to_stride;
    from += from_stride;
  }
}

}  // namespace detail

/// Copies `count` regions of `bytes`, whose starts lie the strides apart. The two sides do not
/// overlap.
inline void copy_rows(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
                      uint64_t count, uint64_t bytes) {
  switch (bytes) {
    case 1:
      return detail::copy_fixed<1>(to, to_stride, from, from_stride, count);
    case 2:
      return detail::copy_fixed<2>(to, to_stride, from, from_stride, count);
    case 4:
      return detail::copy_fixed<4>(to, to_stride, from, from_stride, count);
    case 8:
      return detail::copy_fixed<8>(to, to_stride, from, from_stride, count);
    case 16:
      return detail::copy_fixed<16>(to, to_stride, from, from_stride, count);
    case 32:
      return detail::copy_fixed<32>(to, to_stride, from, from_stride, count);
    case 64:
      return detail::copy_fixed<64>(to, to_stride, from, from_stride, count);
    default:
      for (uint64_t i = 0; i < count; ++i) {
        std::memcpy(to, from, bytes);
        to += to_stride;
        from += from_stride;
      }
  }
}

}  // namespace stripline::vis
