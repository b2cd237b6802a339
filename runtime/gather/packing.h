// Elements of one or several arrays, brought together: the same element of all arrays side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <stripline/work.h>

namespace stripline::gathers {

/// The elements to pack: those at `places`, or, without any, `elements` of them from `first` on.
struct Selection {
  std::span<const uint32_t> places;
  uint64_t first = 0;
  uint64_t elements = 0;
  uint64_t runs = 0;  ///< of elements that lie side by side
};

/// Copies them from `arrays` to `to`, and adds what it has done to `work`, which may be null.
void pack(const Selection& which, std::span<const std::byte* const> arrays, size_t element_bytes,
          std::byte* to, Work* work);

}  // namespace stripline::gathers
