#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/update_operator.h>

namespace stripline {
namespace {

struct saturating_add {
  static constexpr bool kAssociative = true;
  static constexpr bool kCommutative = true;
  template <typename T>
  static constexpr T identity() {
    return 0;
  }
  constexpr uint8_t operator()(uint8_t a, uint8_t b) const {
    return static_cast<uint8_t>(std::min(a + b, 255));
  }
};

// Says nothing about itself.
struct average {
  double operator()(double a, double b) const { return (a + b) / 2; }
};

struct Point {
  float x = 0;
  float y = 0;
};
struct add_points {
  Point operator()(Point a, Point b) const { return {a.x + b.x, a.y + b.y}; }
};
struct remembers {
  double factor = 2;
  double operator()(double a, double b) const { return a + factor * b; }
};

static_assert(update_operator<op_add, double> && update_operator<op_replace, Point>);
static_assert(update_operator<saturating_add, uint8_t> && update_operator<add_points, Point>);
static_assert(!update_operator<op_bit_or, double>);
static_assert(!update_operator<remembers, double>);

template <typename Op, typename T>
using algebra = operator_algebra<Op, T>;

static_assert(algebra<op_add, double>::associative() && !algebra<op_add, double>::exact());
static_assert(algebra<op_add, int>::exact() && algebra<op_min, float>::exact());
static_assert(algebra<op_replace, Point>::associative() &&
              !algebra<op_replace, Point>::commutative() &&
              !algebra<op_replace, Point>::has_identity());
static_assert(algebra<saturating_add, uint8_t>::commutative() &&
              algebra<saturating_add, uint8_t>::has_identity());
static_assert(!algebra<average, double>::associative() && !algebra<average, double>::exact());
static_assert(!algebra<add_points, Point>::commutative() &&
              !algebra<add_points, Point>::has_identity());

template <typename T>
std::vector<T> values() {
  using limits = std::numeric_limits<T>;
  std::vector<T> all{limits::lowest(), limits::max(), limits::min(), T{0}, T{1}, T{77}};
  if constexpr (std::is_floating_point_v<T>) {
    all.insert(all.end(), {-T{0}, limits::infinity(), -limits::infinity(), limits::denorm_min()});
  }
  return all;
}

template <typename T, typename... Ops>
void leaves_all_bits() {
  const auto check = [](auto op) {
    using A = algebra<decltype(op), T>;
    static_assert(A::has_identity());
    for (const T value : values<T>()) {
      const T same = op(value, A::identity());
      EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(&same, 1)),
                                     std::as_bytes(std::span(&value, 1))))
          << value << " became " << same;
    }
  };
  (check(Ops{}), ...);
}

TEST(UpdateOperator, IdentityLeavesEveryBit) {
  leaves_all_bits<double, op_add, op_mul, op_min, op_max>();
  leaves_all_bits<float, op_add, op_mul, op_min, op_max>();
  leaves_all_bits<int64_t, op_add, op_mul, op_min, op_max, op_bit_and, op_bit_or, op_bit_xor>();
  leaves_all_bits<uint16_t, op_add, op_mul, op_min, op_max, op_bit_and, op_bit_or, op_bit_xor>();
  EXPECT_TRUE(std::signbit(algebra<op_add, double>::identity()));
}

TEST(UpdateOperator, ReplaceKeepsWhatCameLast) {
  constexpr op_replace op;
  EXPECT_EQ(op(op(1, 2), 3), 3);
  EXPECT_EQ(op(1, op(2, 3)), 3);
}

}  // namespace
}  // namespace stripline
