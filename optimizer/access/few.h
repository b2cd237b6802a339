// A list of at most N values in place, which copies only those it has: most nests have few groups
// of the many there may be, and planning copies them often. Public headers use it, so that programs
// need no library for that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

namespace stripline::access {

template <typename T, size_t N>
class Few {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Not defaulted: value-initialization would clear all N.
  Few() {}  // NOLINT(modernize-use-equals-default)
  Few(const Few& other) { *this = other; }
  Few& operator=(const Few& other) {
    if (this == &other) return *this;
    size_ = other.size_;
    if constexpr (!std::is_trivially_copyable_v<T>) {
      std::uninitialized_copy(other.begin(), other.end(), begin());
    } else if (size_ != 0) {
      std::memcpy(static_cast<void*>(bytes_), other.bytes_, size_ * sizeof(T));
    }
    return *this;
  }
  ~Few() = default;

  size_t size() const { return size_; }
  /// A value more, made of the arguments. There is room.
  template <typename... Arguments>
  T& emplace_back(const Arguments&... arguments) {
    return *::new (static_cast<void*>(bytes_ + size_++ * sizeof(T))) T{arguments...};
  }
  /// A value more: what `make()` returns, without a copy. There is room.
  template <typename Make>
  T& add(Make make) {
    return *::new (static_cast<void*>(bytes_ + size_++ * sizeof(T))) T(make());
  }
  void clear() { size_ = 0; }
  /// Removes a value; those behind it move up.
  void erase(size_t i) {
    std::copy(begin() + i + 1, end(), begin() + i);
    --size_;
  }

  T& operator[](size_t i) { return begin()[i]; }
  const T& operator[](size_t i) const { return begin()[i]; }
  T* begin() { return std::launder(reinterpret_cast<T*>(bytes_)); }
  T* end() { return begin() + size_; }
  const T* begin() const { return std::launder(reinterpret_cast<const T*>(bytes_)); }
  const T* end() const { return begin() + size_; }

 private:
  size_t size_ = 0;
  alignas(T) std::byte bytes_[N * sizeof(T)];  // NOLINT(*-c-arrays, *-member-init)
};

}  // namespace stripline::access
