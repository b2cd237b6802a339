// What updates of one type of cells by one operator are, for code that knows neither: a table of
// functions, which <stripline/update.h> makes for each of its epochs. For the runtime.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <type_traits>

#include <stripline/atomic.h>
#include <stripline/reduction.h>
#include <stripline/update_operator.h>

namespace stripline::detail {

/// Updates in a parcel: a cell each, in units of UpdateType::unit from `base` on, and values.
struct UpdateBatch {
  std::byte* base = nullptr;
  const std::byte* cells = nullptr;
  const std::byte* values = nullptr;
  size_t count = 0;
  bool same = false;  ///< there is one value, for all of them
};

/// An atomic operation that does what an operator does.
struct UpdateAtomic {
  AtomicOp op = AtomicOp::load;  ///< there is none
  AtomicType type = AtomicType::int32;
};

template <typename T, typename Op>
constexpr UpdateAtomic update_atomic() {
  if constexpr ((std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                std::is_same_v<T, double>) {
    constexpr AtomicType kType = atomic_type<T>();
    if constexpr (std::same_as<Op, op_add>) return {AtomicOp::add, kType};
    if constexpr (std::same_as<Op, op_min>) return {AtomicOp::min, kType};
    if constexpr (std::same_as<Op, op_max>) return {AtomicOp::max, kType};
    if constexpr (std::same_as<Op, op_bit_and>) return {AtomicOp::bit_and, kType};
    if constexpr (std::same_as<Op, op_bit_or>) return {AtomicOp::bit_or, kType};
    if constexpr (std::same_as<Op, op_bit_xor>) return {AtomicOp::bit_xor, kType};
  }
  return {};
}

/// The type of cells and the operator, for code that knows neither.
struct UpdateType {
  uint32_t value_bytes = 0;
  uint32_t unit = 0;  ///< alignment of cells
  bool merges = false;
  bool commutes = false;
  bool exact = false;  ///< operator_algebra::exact()
  UpdateAtomic atomic;
  std::string_view name;  ///< which names both
  void (*apply)(const UpdateBatch& batch) = nullptr;
  /// The same, and what the cells held before, in their order, into `previous`.
  void (*fetch)(const UpdateBatch& batch, std::byte* previous) = nullptr;
  /// Updates `count` cells side by side.
  void (*apply_run)(std::byte* cells, const std::byte* values, size_t count) = nullptr;
  /// `into` becomes op(into, value); both are values in a buffer, and need not be aligned.
  void (*merge)(std::byte* into, const std::byte* value) = nullptr;
  /// Stores the identity into `count` values, likewise; null without one.
  void (*fill)(std::byte* values, size_t count) = nullptr;
};

template <typename T>
T& cell_of(const UpdateBatch& batch, size_t i) {
  uint32_t cell = 0;
  std::memcpy(&cell, batch.cells + i * sizeof cell, sizeof cell);
  return *reinterpret_cast<T*>(batch.base + size_t{cell} * alignof(T));
}
template <typename T>
T value_of(const UpdateBatch& batch, size_t i) {
  T value;
  std::memcpy(&value, batch.values + i * sizeof(T), sizeof(T));
  return value;
}

/// An operator has thrown.
struct UpdateFailure {
  const void* cell;
  std::exception_ptr error;
};

template <typename T, typename Op>
void apply_updates(const UpdateBatch& batch) {
  const Op op{};
  size_t i = 0;
  try {
    if (batch.same) {
      const T value = value_of<T>(batch, 0);
      for (; i < batch.count; ++i) {
        T& cell = cell_of<T>(batch, i);
        cell = op(cell, value);
      }
    } else {
      for (; i < batch.count; ++i) {
        T& cell = cell_of<T>(batch, i);
        cell = op(cell, value_of<T>(batch, i));
      }
    }
  } catch (...) {
    throw UpdateFailure{&cell_of<T>(batch, i), std::current_exception()};
  }
}

template <typename T, typename Op>
void fetch_updates(const UpdateBatch& batch, std::byte* previous) {
  size_t i = 0;
  try {
    for (; i < batch.count; ++i) {
      T& cell = cell_of<T>(batch, i);
      std::memcpy(previous + i * sizeof(T), &cell, sizeof(T));
      cell = Op{}(cell, value_of<T>(batch, batch.same ? 0 : i));
    }
  } catch (...) {
    throw UpdateFailure{&cell_of<T>(batch, i), std::current_exception()};
  }
}

template <typename T, typename Op>
void apply_run(std::byte* cells, const std::byte* values, size_t count) {
  T* const cell = reinterpret_cast<T*>(cells);
  size_t i = 0;
  try {
    for (; i < count; ++i) {
      T value;
      std::memcpy(&value, values + i * sizeof(T), sizeof(T));
      cell[i] = Op{}(cell[i], value);
    }
  } catch (...) {
    throw UpdateFailure{cell + i, std::current_exception()};
  }
}

template <typename T, typename Op>
void merge_values(std::byte* into, const std::byte* value) {
  T merged;
  T other;
  std::memcpy(&merged, into, sizeof(T));
  std::memcpy(&other, value, sizeof(T));
  merged = Op{}(merged, other);
  std::memcpy(into, &merged, sizeof(T));
}

template <typename T, typename Op>
void fill_identity(std::byte* values, size_t count) {
  const T identity = operator_algebra<Op, T>::identity();
  for (size_t i = 0; i < count; ++i) std::memcpy(values + i * sizeof(T), &identity, sizeof(T));
}

template <typename T, typename Op>
constexpr UpdateType update_type() {
  UpdateType type{sizeof(T),
                  alignof(T),
                  operator_algebra<Op, T>::associative(),
                  operator_algebra<Op, T>::commutative(),
                  operator_algebra<Op, T>::exact(),
                  update_atomic<T, Op>(),
                  __PRETTY_FUNCTION__,
                  &apply_updates<T, Op>,
                  &fetch_updates<T, Op>,
                  &apply_run<T, Op>,
                  &merge_values<T, Op>};
  if constexpr (operator_algebra<Op, T>::has_identity()) type.fill = &fill_identity<T, Op>;
  return type;
}

}  // namespace stripline::detail
