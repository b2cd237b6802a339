// Index expressions of loop nests: what stands between the brackets of an array in a loop, as a
// value.
//
//   const auto [i, j] = stripline::loop_indices<2>();   // i is the outer loop's
//   i * columns + j + 1
//
// has for each loop a coefficient, how far one more iteration moves, and a constant. Products of
// indices, a[b[i]] and the like are no affine functions and do not compile. Which indices occur,
// and which of them with a coefficient of 1, is part of the expression's type: so the compiler
// knows which elements of an innermost loop are neighbours, and which stay the same, as if the loop
// were written out.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "optimizer/access/nest.h"

namespace stripline {

/// What is known of a coefficient when the program is compiled.
enum class Coefficient : uint8_t { zero, one, any };

/// An affine function of the iteration numbers of up to sizeof...(Known) loops.
template <Coefficient... Known>
struct IndexExpression {
  static constexpr size_t kLoops = sizeof...(Known);  ///< the number of loops
  /// What is known of each coefficient.
  static constexpr std::array<Coefficient, kLoops> kKnown{Known...};
  /// The factors of the iteration numbers, the outermost loop first.
  std::array<int64_t, kLoops> coefficients{};
  int64_t constant = 0;  ///< what is added
};

namespace detail {

template <typename T>
struct IsIndexExpression : std::false_type {};
template <Coefficient... Known>
struct IsIndexExpression<IndexExpression<Known...>> : std::true_type {};

constexpr Coefficient sum_of(Coefficient a, Coefficient b) {
  if (a == Coefficient::zero) return b;
  if (b == Coefficient::zero) return a;
  return Coefficient::any;
}
constexpr Coefficient difference_of(Coefficient a, Coefficient b) {
  return b == Coefficient::zero ? a : Coefficient::any;
}
constexpr Coefficient scaled(Coefficient a) {
  return a == Coefficient::zero ? a : Coefficient::any;
}

template <size_t Loop, size_t... Loops>
constexpr auto index_of(std::index_sequence<Loops...>) {
  IndexExpression<(Loops == Loop ? Coefficient::one : Coefficient::zero)...> index;
  index.coefficients[Loop] = 1;
  return index;
}
template <size_t... Loops>
constexpr auto indices_of(std::index_sequence<Loops...> all) {
  return std::tuple{index_of<Loops>(all)...};
}

}  // namespace detail

/// The indices of a nest of `Loops` loops, the outermost first.
template <size_t Loops>
constexpr auto loop_indices() {
  static_assert(Loops >= 1 && Loops <= access::kMaxDepth);
  return detail::indices_of(std::make_index_sequence<Loops>{});
}

template <Coefficient... A, Coefficient... B>
requires(sizeof...(A) == sizeof...(B)) constexpr auto operator+(const IndexExpression<A...>& a,
                                                                const IndexExpression<B...>& b) {
  IndexExpression<detail::sum_of(A, B)...> sum;
  for (size_t loop = 0; loop < sizeof...(A); ++loop) {
    sum.coefficients[loop] = a.coefficients[loop] + b.coefficients[loop];
  }
  sum.constant = a.constant + b.constant;
  return sum;
}
template <Coefficient... A, Coefficient... B>
requires(sizeof...(A) == sizeof...(B)) constexpr auto operator-(const IndexExpression<A...>& a,
                                                                const IndexExpression<B...>& b) {
  IndexExpression<detail::difference_of(A, B)...> difference;
  for (size_t loop = 0; loop < sizeof...(A); ++loop) {
    difference.coefficients[loop] = a.coefficients[loop] - b.coefficients[loop];
  }
  difference.constant = a.constant - b.constant;
  return difference;
}

template <std::integral Number, Coefficient... Known>
constexpr auto operator+(IndexExpression<Known...> a, Number number) {
  a.constant += static_cast<int64_t>(number);
  return a;
}
template <std::integral Number, Coefficient... Known>
constexpr auto operator+(Number number, const IndexExpression<Known...>& a) {
  return a + number;
}
template <std::integral Number, Coefficient... Known>
constexpr auto operator-(IndexExpression<Known...> a, Number number) {
  a.constant -= static_cast<int64_t>(number);
  return a;
}
template <std::integral Number, Coefficient... Known>
constexpr auto operator*(const IndexExpression<Known...>& a, Number number) {
  IndexExpression<detail::scaled(Known)...> product;
  for (size_t loop = 0; loop < sizeof...(Known); ++loop) {
    product.coefficients[loop] = a.coefficients[loop] * static_cast<int64_t>(number);
  }
  product.constant = a.constant * static_cast<int64_t>(number);
  return product;
}
template <std::integral Number, Coefficient... Known>
constexpr auto operator*(Number number, const IndexExpression<Known...>& a) {
  return a * number;
}
template <std::integral Number, Coefficient... Known>
constexpr auto operator-(Number number, const IndexExpression<Known...>& a) {
  return a * -1 + number;
}

}  // namespace stripline
