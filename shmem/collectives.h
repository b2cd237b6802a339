// Collective operations, on teams and on active sets, by those of the runtime: which algorithm
// carries one out is what the tuned model, or its default, says.
//
// With SHMEM_THREAD_MULTIPLE they are made of operations in the background, so that a thread that
// waits for other PEs does not keep this PE's other threads from what those wait for.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <stripline/reduction.h>

#include "shmem/active_sets.h"
#include "shmem/world.h"

namespace stripline::shmem {

using stripline::op_add;
using stripline::op_bit_and;
using stripline::op_bit_or;
using stripline::op_bit_xor;
using stripline::op_max;
using stripline::op_min;
using stripline::op_mul;

/// `detail`: what PEs have to agree on besides the call, for a person to read, which debug mode
/// checks; null: nothing.
void barrier_all(const char* call, const char* detail = nullptr);
void sync_all(const char* call);
/// Nonzero for SHMEM_TEAM_INVALID, here and below.
int team_sync(const char* call, shmem_team_t team);
void barrier_set(const char* call, shmem_team_t set);
void sync_set(const char* call, shmem_team_t set);

/// On all PEs, the root among them, `dest` becomes root's `source`.
int broadcast(const char* call, shmem_team_t team, void* dest, const void* source, size_t bytes,
              int root);
/// On all but the root, whose `dest` stays as it is.
int broadcast_to_others(const char* call, shmem_team_t team, void* dest, const void* source,
                        size_t bytes, int root);
/// All sources one after the other; the same length on all PEs for fcollect.
int collect(const char* call, shmem_team_t team, void* dest, const void* source, size_t bytes);
int fcollect(const char* call, shmem_team_t team, void* dest, const void* source, size_t bytes);
/// Block i of `source`, of this many bytes, becomes block "this PE" of PE i's `dest`.
int alltoall(const char* call, shmem_team_t team, void* dest, const void* source, size_t bytes);
/// The same with elements apart, by strides in elements.
int alltoalls(const char* call, shmem_team_t team, void* dest, const void* source,
              ptrdiff_t dest_stride, ptrdiff_t source_stride, size_t count, size_t element_bytes);

/// What the templates below are made of. `in` may be `out`.
int reduce_by(const char* call, World& world, Team* team, std::span<const std::byte> in,
              std::span<std::byte> out, const stripline::detail::Reduction& op);
int scan_by(const char* call, World& world, Team* team, std::span<const std::byte> in,
            std::span<std::byte> out, const stripline::detail::Reduction& op, bool exclusive);

/// Types that are combined alike are one: fewer functions.
template <typename T>
auto combined_as() {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if constexpr (sizeof(T) == 1)
        return int8_t{};
      else if constexpr (sizeof(T) == 2)
        return int16_t{};
      else if constexpr (sizeof(T) == 4)
        return int32_t{};
      else
        return int64_t{};
    } else {
      if constexpr (sizeof(T) == 1)
        return uint8_t{};
      else if constexpr (sizeof(T) == 2)
        return uint16_t{};
      else if constexpr (sizeof(T) == 4)
        return uint32_t{};
      else
        return uint64_t{};
    }
  } else if constexpr (std::is_same_v<T, stripline_complexd>) {
    return std::complex<double>{};
  } else if constexpr (std::is_same_v<T, stripline_complexf>) {
    return std::complex<float>{};
  } else {
    return T{};
  }
}

template <typename Op, typename T>
const stripline::detail::Reduction& reduction() {
  static const Op op{};
  static const auto made = stripline::detail::reduction_of<T, Op>(op);
  return made;
}

template <typename Op, typename T>
int reduce(const char* call, shmem_team_t team, T* dest, const T* source, size_t count) {
  World& here = world(call);
  const size_t bytes = bytes_of(call, count, sizeof(T));
  return reduce_by(
      call, here, here.team_or_null(team), {reinterpret_cast<const std::byte*>(source), bytes},
      {reinterpret_cast<std::byte*>(dest), bytes}, reduction<Op, decltype(combined_as<T>())>());
}

/// On an active set; `work` is not used.
template <typename Op, typename T>
void to_all(const char* call, shmem_team_t set, T* dest, const T* source, int count,
            [[maybe_unused]] const T* work) {
  if (count > 0) reduce<Op>(call, set, dest, source, static_cast<size_t>(count));
}

template <typename Op, typename T>
int inscan(const char* call, shmem_team_t team, T* dest, const T* source, size_t count) {
  World& here = world(call);
  const size_t bytes = bytes_of(call, count, sizeof(T));
  return scan_by(call, here, here.team_or_null(team),
                 {reinterpret_cast<const std::byte*>(source), bytes},
                 {reinterpret_cast<std::byte*>(dest), bytes},
                 reduction<Op, decltype(combined_as<T>())>(), false);
}

/// Zero on the first PE.
template <typename Op, typename T>
int exscan(const char* call, shmem_team_t team, T* dest, const T* source, size_t count) {
  World& here = world(call);
  const size_t bytes = bytes_of(call, count, sizeof(T));
  return scan_by(call, here, here.team_or_null(team),
                 {reinterpret_cast<const std::byte*>(source), bytes},
                 {reinterpret_cast<std::byte*>(dest), bytes},
                 reduction<Op, decltype(combined_as<T>())>(), true);
}

}  // namespace stripline::shmem
