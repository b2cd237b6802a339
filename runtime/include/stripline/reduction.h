// What reductions and scans combine elements with.
//
//   const auto everyone = stripline::team::world(ctx);
//   sum += everyone.allreduce(mine, stripline::op_add{});
//   const auto farthest = [](double a, double b) { return std::max(std::abs(a), std::abs(b)); };
//   sum += everyone.allreduce(mine, farthest);
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace stripline {

// Any function object that takes two elements and returns one will do, if it is associative and
// commutative, gives the same on every rank, and does not throw. That ends the job with a message:
// the other ranks wait for what this one has not sent. These are the usual ones.

/// The sum.
struct op_add {
  /// Returns a + b.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
/// The product.
struct op_mul {
  /// Returns a * b.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a * b);
  }
};
/// The smaller one.
struct op_min {
  /// The smaller one.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
/// The larger one.
struct op_max {
  /// The larger one.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
/// Bitwise and.
struct op_bit_and {
  /// The bits of both.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
/// Bitwise or.
struct op_bit_or {
  /// The bits of either.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
/// Bitwise exclusive or.
struct op_bit_xor {
  /// The bits of exactly one.
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

namespace detail {

/// Such a function for vectors of elements of one type.
struct Reduction {
  /// into[i] = f(other[i], into[i]) if `other_first`, else f(into[i], other[i]), for `count`
  /// elements; both are aligned as the type is, and do not overlap.
  void (*combine)(std::byte* into, const std::byte* other, size_t count, bool other_first,
                  const void* function);
  const void* function;
  size_t element_bytes;
  const char* name;  ///< of the instance of reduction_of(), which tells type and function
};

template <typename T, typename F>
Reduction reduction_of(const F& function) {
  static_assert(std::is_trivially_copyable_v<T>, "collectives move trivially copyable types");
  static_assert(alignof(T) <= 64, "elements of collectives are aligned to at most 64 bytes");
  static_assert(std::is_invocable_r_v<T, const F&, T, T>, "the function combines two elements");
  return {[](std::byte* into_bytes, const std::byte* other_bytes, size_t count, bool other_first,
             const void* erased) {
            const F& f = *static_cast<const F*>(erased);
            T* into = reinterpret_cast<T*>(into_bytes);
            const T* other = reinterpret_cast<const T*>(other_bytes);
            if (other_first) {
              for (size_t i = 0; i < count; ++i) into[i] = f(other[i], into[i]);
            } else {
              for (size_t i = 0; i < count; ++i) into[i] = f(into[i], other[i]);
            }
          },
          &function, sizeof(T), __PRETTY_FUNCTION__};
}

}  // namespace detail
}  // namespace stripline
