// Lengths in bytes of what a program names by elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "optimizer/access/saturate.h"

namespace stripline::detail {

/// What byte_count() says of more elements than 64 bits can count the bytes of. No memory has so
/// many, so that every check of bounds refuses it.
inline constexpr size_t kTooManyBytes = SIZE_MAX;

/// The bytes of `count` elements.
template <typename T>
inline size_t byte_count(size_t count) {
  return access::saturating_multiply(uint64_t{count}, uint64_t{sizeof(T)});
}

/// As std::as_bytes() and std::as_writable_bytes(), which wrap around.
template <typename T>
inline std::span<const std::byte> bytes_of(std::span<const T> elements) {
  return {reinterpret_cast<const std::byte*>(elements.data()), byte_count<T>(elements.size())};
}
template <typename T>
inline std::span<std::byte> writable_bytes_of(std::span<T> elements) {
  return {reinterpret_cast<std::byte*>(elements.data()), byte_count<T>(elements.size())};
}

}  // namespace stripline::detail
