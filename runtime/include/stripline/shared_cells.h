// What the hot paths of <stripline/shared_updates.h> consist of; not part of the public API.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <thread>
#include <type_traits>

#include <stripline/grid.h>
#include <stripline/update_operator.h>

#include "optimizer/model/sections/shared_update.h"
#include "optimizer/plan/shared_update.h"

namespace stripline {

namespace detail {

/// What the hot path of a worker looks at, in its own memory.
struct SharedLane {
  std::byte* cells = nullptr;  ///< of the grid, in this process
  grid_extent shape;
  // Cells [first, first + count) whose row is in [y_first, y_first + y_count) are updated by plain
  // loads and stores; the first one lies at `plain`.
  std::byte* plain = nullptr;
  uint64_t first = 0;
  uint64_t count = 0;
  uint64_t y_first = 0;
  uint64_t y_count = 0;
  uint64_t list_count = 0;  ///< `count` for single updates; 0 where it takes more to know
  uint64_t until_look = 0;  ///< calls until some are looked at
  /// How cells are updated that are not this worker's alone: `atomic`, `locked` or `boxes`.
  plan::SharedStrategy method = plan::SharedStrategy::atomic;
  /// Not 0: somebody has no room for a box, and no cell of others may be updated plainly any more.
  const std::atomic<uint32_t>* revoked = nullptr;
  // A lock for each line of cells, in cache lines of their own.
  uint32_t* locks = nullptr;
  uint64_t lock_mask = 0;
  uint64_t lock_cells = 1;
  // Boxes by number; null: not in use.
  std::byte** boxes = nullptr;
  std::array<uint32_t, 3> box_shift{};  ///< their extents as powers of two
  uint64_t boxes_y = 0;                 ///< boxes along y, and z
  uint64_t boxes_z = 0;
  uint64_t away = 0;  ///< updates of cells that others own
};

/// Cells of one type under one operator, for code that knows neither.
struct CellOperations {
  size_t bytes = 0;
  model::CellType type = model::CellType::other;  ///< as models know it
  bool has_atomic = false;
  bool has_replicas = false;  ///< else `fill` to `fold_shared` are not called
  void (*fill)(std::byte* cells, uint64_t count) = nullptr;  ///< with the identity
  /// into[i] = op(into[i], from[i])
  void (*fold)(std::byte* into, const std::byte* from, uint64_t count) = nullptr;
  /// The same for cells of the grid from `first` on, while others update them.
  void (*fold_shared)(SharedLane& lane, uint64_t first, const std::byte* from,
                      uint64_t count) = nullptr;
  /// For measurements: the cells at these numbers are updated, each with `value`.
  void (*plain)(std::byte* cells, const std::byte* value, std::span<const uint16_t> at) = nullptr;
  void (*atomic)(std::byte* cells, const std::byte* value, std::span<const uint16_t> at) = nullptr;
};

constexpr uint64_t kLockWords = 16;  // a cache line

/// Holds the lock of a cell.
class CellLock {
 public:
  CellLock(const SharedLane& lane, uint64_t index)
      : word_(lane.locks[(index / lane.lock_cells & lane.lock_mask) * kLockWords]) {
    constexpr int kSpins = 100;
    for (int spins = 0; word_.exchange(1, std::memory_order_acquire) != 0; ++spins) {
      if (spins >= kSpins) std::this_thread::yield();
    }
  }
  ~CellLock() { word_.store(0, std::memory_order_release); }
  CellLock(const CellLock&) = delete;
  CellLock& operator=(const CellLock&) = delete;

 private:
  std::atomic_ref<uint32_t> word_;
};

/// The type of cells as models know it.
template <typename T>
constexpr model::CellType cell_type() {
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) return model::CellType::integer4;
  if constexpr (std::is_integral_v<T> && sizeof(T) == 8) return model::CellType::integer8;
  if constexpr (std::is_floating_point_v<T> && sizeof(T) == 4) return model::CellType::float4;
  if constexpr (std::is_floating_point_v<T> && sizeof(T) == 8) return model::CellType::float8;
  return model::CellType::other;
}

/// True if an update of a T can be a compare-and-swap of all of its bits.
template <typename T>
constexpr bool has_atomic_update() {
  if constexpr (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8) {
    return (std::has_unique_object_representations_v<T> ||
            std::is_floating_point_v<T>)&&std::atomic_ref<T>::is_always_lock_free &&
           std::atomic_ref<T>::required_alignment <= alignof(T);
  } else {
    return false;
  }
}

/// The methods of updating one cell, or a row of them.
template <typename T, typename Op>
struct CellUpdates {
  using Algebra = operator_algebra<Op, T>;
  static constexpr bool kHasAtomic = has_atomic_update<T>();
  static constexpr bool kHasReplicas = Algebra::associative() && Algebra::has_identity();

  static void plain(T& cell, T value) { cell = Op{}(cell, value); }

  static void atomic(T& cell, T value) {
    if constexpr (kHasAtomic) {
      std::atomic_ref<T> shared(cell);
      constexpr auto kOrder = std::memory_order_relaxed;
      if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op_add>) {
        shared.fetch_add(value, kOrder);
      } else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op_bit_and>) {
        shared.fetch_and(value, kOrder);
      } else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op_bit_or>) {
        shared.fetch_or(value, kOrder);
      } else if constexpr (std::is_integral_v<T> && std::is_same_v<Op, op_bit_xor>) {
        shared.fetch_xor(value, kOrder);
      } else {
        T old = shared.load(kOrder);
        while (!shared.compare_exchange_weak(old, Op{}(old, value), kOrder)) {
        }
      }
    }
  }

  static T* cell(const SharedLane& lane, uint64_t index) {
    return reinterpret_cast<T*>(lane.cells) + index;
  }

  /// Where others may update the cell, too; by the lane's method, which is not boxes.
  static void shared(SharedLane& lane, uint64_t index, T value) {
    if (kHasAtomic && lane.method == plan::SharedStrategy::atomic) {
      atomic(*cell(lane, index), value);
    } else {
      const CellLock lock(lane, index);
      plain(*cell(lane, index), value);
    }
  }

  static CellOperations operations() {
    CellOperations of;
    of.bytes = sizeof(T);
    of.type = cell_type<T>();
    of.has_atomic = kHasAtomic;
    of.has_replicas = kHasReplicas;
    of.plain = [](std::byte* cells, const std::byte* value, std::span<const uint16_t> at) {
      T* const to = reinterpret_cast<T*>(cells);
      const T by = *reinterpret_cast<const T*>(value);
      for (const uint16_t i : at) plain(to[i], by);
    };
    of.atomic = [](std::byte* cells, const std::byte* value, std::span<const uint16_t> at) {
      T* const to = reinterpret_cast<T*>(cells);
      const T by = *reinterpret_cast<const T*>(value);
      for (const uint16_t i : at) atomic(to[i], by);
    };
    if constexpr (kHasReplicas) {
      of.fill = [](std::byte* cells, uint64_t count) {
        T* const to = reinterpret_cast<T*>(cells);
        for (uint64_t i = 0; i < count; ++i) to[i] = Algebra::identity();
      };
      of.fold = [](std::byte* into_bytes, const std::byte* from_bytes, uint64_t count) {
        T* __restrict const into = reinterpret_cast<T*>(into_bytes);
        const T* __restrict const from = reinterpret_cast<const T*>(from_bytes);
        for (uint64_t i = 0; i < count; ++i) plain(into[i], from[i]);
      };
      of.fold_shared = [](SharedLane& lane, uint64_t first, const std::byte* from_bytes,
                          uint64_t count) {
        const T* const from = reinterpret_cast<const T*>(from_bytes);
        for (uint64_t i = 0; i < count; ++i) shared(lane, first + i, from[i]);
      };
    }
    return of;
  }
};

}  // namespace detail
}  // namespace stripline
