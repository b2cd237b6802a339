// Packing by hand, as well as it is done: pieces whose size the compiler knows.
#pragma once

#include <cstddef>
#include <cstring>

#include "suites/harness/rows.h"

namespace stripline::suites::harness {

template <size_t kBytes>
void gather_pieces(const std::byte* from, size_t stride, size_t pieces, std::byte* to) {
  for (size_t i = 0; i < pieces; ++i) std::memcpy(to + i * kBytes, from + i * stride, kBytes);
}
template <size_t kBytes>
void scatter_pieces(const std::byte* from, size_t stride, size_t pieces, std::byte* to) {
  for (size_t i = 0; i < pieces; ++i) std::memcpy(to + i * stride, from + i * kBytes, kBytes);
}

/// The pieces of a strided row at `from`, one after another.
inline void gather(const Row& row, const std::byte* from, std::byte* to) {
  switch (row.bytes) {
    case 8:
      return gather_pieces<8>(from, row.stride(), row.pieces, to);
    case 64:
      return gather_pieces<64>(from, row.stride(), row.pieces, to);
    case 512:
      return gather_pieces<512>(from, row.stride(), row.pieces, to);
    default:
      for (size_t i = 0; i < row.pieces; ++i) {
        std::memcpy(to + i * row.bytes, from + i * row.stride(), row.bytes);
      }
  }
}

/// The reverse.
inline void scatter(const Row& row, const std::byte* from, std::byte* to) {
  switch (row.bytes) {
    case 8:
      return scatter_pieces<8>(from, row.stride(), row.pieces, to);
    case 64:
      return scatter_pieces<64>(from, row.stride(), row.pieces, to);
    case 512:
      return scatter_pieces<512>(from, row.stride(), row.pieces, to);
    default:
      for (size_t i = 0; i < row.pieces; ++i) {
        std::memcpy(to + i * row.stride(), from + i * row.bytes, row.bytes);
      }
  }
}

}  // namespace stripline::suites::harness
