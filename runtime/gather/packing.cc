#include "runtime/gather/packing.h"

#include <cstring>

namespace stripline::gathers {
namespace {

// The compiler knows the size of frequent ones.
template <size_t Bytes>
struct Fixed {
  constexpr size_t bytes() const { return Bytes; }
};
struct Any {
  size_t size;
  size_t bytes() const { return size; }
};

template <typename Size>
void copy_elements(const Selection& which, std::span<const std::byte* const> arrays, Size size,
                   std::byte* to) {
  const size_t bytes = size.bytes();
  const auto copy = [&](uint64_t place) {
    for (const std::byte* const array : arrays) {
      std::memcpy(to, array + place * bytes, bytes);
      to += bytes;
    }
  };
  if (which.places.empty()) {
    for (uint64_t i = 0; i < which.elements; ++i) copy(which.first + i);
  } else if (arrays.size() == 1) {
    const std::byte* const array = arrays.front();
    for (const uint32_t place : which.places) {
      std::memcpy(to, array + place * bytes, bytes);
      to += bytes;
    }
  } else {
    for (const uint32_t place : which.places) copy(place);
  }
}

}  // namespace

void pack(const Selection& which, std::span<const std::byte* const> arrays, size_t element_bytes,
          std::byte* to, Work* work) {
  const uint64_t bytes = which.elements * element_bytes * arrays.size();
  if (which.places.empty() && arrays.size() == 1) {
    std::memcpy(to, arrays.front() + which.first * element_bytes, bytes);
    count_copy(work, 1, bytes);
    return;
  }
  switch (element_bytes) {
    case 4:
      copy_elements(which, arrays, Fixed<4>{}, to);
      break;
    case 8:
      copy_elements(which, arrays, Fixed<8>{}, to);
      break;
    case 16:
      copy_elements(which, arrays, Fixed<16>{}, to);
      break;
    default:
      copy_elements(which, arrays, Any{element_bytes}, to);
  }
  if (work == nullptr) return;
  work->bytes += 2 * static_cast<double>(bytes);
  work->rows +=
      static_cast<double>(arrays.size() == 1 ? which.runs : which.elements * arrays.size());
}

}  // namespace stripline::gathers
