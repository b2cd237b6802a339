// Operators of updates, `cell = op(cell, value)`, and their algebra: what may be done to updates
// before they reach their cell.
//
// An operator is a type that can be default-constructed, holds nothing, and whose call takes the
// cell and the value and returns the new cell. op_add, op_min and the others of
// <stripline/reduction.h> are operators, and so is op_replace here. An operator of a program says
// what holds for it by members of these names; what it does not say, does not hold:
//
//   struct saturating_add {
//     static constexpr bool kAssociative = true;
//     static constexpr bool kCommutative = true;
//     template <typename T> static constexpr T identity() { return 0; }
//     uint8_t operator()(uint8_t a, uint8_t b) const {
//       return static_cast<uint8_t>(std::min(a + b, 255));
//     }
//   };
//
// Everything here is constexpr and thread-safe.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include <stripline/reduction.h>

namespace stripline {

/// The cell becomes the value: of one rank's updates of a cell the last one stays.
struct op_replace {
  static constexpr bool kAssociative = true;   ///< values may be merged
  static constexpr bool kCommutative = false;  ///< their order matters
  /// The value.
  template <typename T>
  constexpr T operator()(T /*cell*/, T value) const {
    return value;
  }
};

namespace detail {

template <typename Op>
concept SaysAssociative = requires {
  { Op::kAssociative } -> std::convertible_to<bool>;
};
template <typename Op>
concept SaysCommutative = requires {
  { Op::kCommutative } -> std::convertible_to<bool>;
};
template <typename Op, typename T>
concept SaysIdentity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

template <typename Op, typename... Others>
inline constexpr bool is_any_of = (std::same_as<Op, Others> || ...);

/// Operators of reduction.h, which are associative and commutative on numbers.
template <typename Op>
inline constexpr bool is_reduction_operator =
    is_any_of<Op, op_add, op_mul, op_min, op_max, op_bit_and, op_bit_or, op_bit_xor>;

template <typename Op>
inline constexpr bool is_bit_operator = is_any_of<Op, op_bit_and, op_bit_or, op_bit_xor>;

}  // namespace detail

/// What updates by Op do to cells of type T.
template <typename Op, typename T>
concept update_operator = std::is_trivially_copyable_v<T> && std::is_empty_v<Op> &&
    std::default_initializable<Op> && std::is_invocable_r_v<T, const Op&, T, T> &&
    !(detail::is_bit_operator<Op> && std::is_floating_point_v<T>);

/// What holds for Op on T.
///
/// Sums and products of floating-point numbers count as associative, although a different order
/// rounds differently: where each rounding matters, updates are to be logged instead of accumulated
/// (<stripline/update.h>). `exact` says where that makes no difference. For minima and maxima all
/// of this holds as long as nothing is NaN.
template <typename Op, typename T>
requires(update_operator<Op, T>) struct operator_algebra {
  /// op(op(a, v), w) = op(a, op(v, w)): updates of one cell may be merged before they are sent.
  static constexpr bool associative() {
    if constexpr (detail::is_reduction_operator<Op>) {
      return std::is_arithmetic_v<T>;
    } else if constexpr (detail::SaysAssociative<Op>) {
      return Op::kAssociative;
    } else {
      return false;
    }
  }
  /// op(op(a, v), w) = op(op(a, w), v): updates of one cell may arrive in any order.
  static constexpr bool commutative() {
    if constexpr (detail::is_reduction_operator<Op>) {
      return std::is_arithmetic_v<T>;
    } else if constexpr (detail::SaysCommutative<Op>) {
      return Op::kCommutative;
    } else {
      return false;
    }
  }
  /// True if merging gives the very same bits: not for sums and products of floating-point numbers.
  static constexpr bool exact() {
    return associative() && !(std::is_floating_point_v<T> && detail::is_any_of<Op, op_add, op_mul>);
  }
  /// True if there is a value that leaves every cell as it is, to the last bit.
  static constexpr bool has_identity() {
    if constexpr (!detail::is_reduction_operator<Op>) {
      return detail::SaysIdentity<Op, T>;
    } else if constexpr (detail::is_bit_operator<Op>) {
      return std::is_integral_v<T>;
    } else {
      return std::is_arithmetic_v<T>;
    }
  }
  /// That value. For sums of floating-point numbers it is -0.0: 0.0 would turn a -0.0 into 0.0.
  static constexpr T identity() requires(has_identity()) {
    if constexpr (!detail::is_reduction_operator<Op>) {
      return Op::template identity<T>();
    } else if constexpr (std::same_as<Op, op_add>) {
      if constexpr (std::is_floating_point_v<T>) return -T{0};
      return T{0};
    } else if constexpr (std::same_as<Op, op_mul>) {
      return T{1};
    } else if constexpr (std::same_as<Op, op_min>) {
      if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
      return std::numeric_limits<T>::max();
    } else if constexpr (std::same_as<Op, op_max>) {
      if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
      return std::numeric_limits<T>::lowest();
    } else if constexpr (std::same_as<Op, op_bit_and>) {
      return static_cast<T>(~T{0});
    } else {
      return T{0};
    }
  }
};

}  // namespace stripline
