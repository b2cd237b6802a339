// Carrying out an atomic operation on memory that this process can reach.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/fabric/fabric.h"

namespace stripline::fabric {

namespace detail {

template <typename Value>
Value combine(AtomicOp op, Value old, Value operand) {
  switch (op) {
    case AtomicOp::add:
      return static_cast<Value>(old + operand);
    case AtomicOp::min:
      return std::min(old, operand);
    case AtomicOp::max:
      return std::max(old, operand);
    default:
      return old;
  }
}

// `Word` holds the bits of `Value`. Sums of signed values wrap, as those of unsigned ones.
template <typename Value, typename Word>
Word apply(const AtomicRequest& request, std::byte* variable) {
  const std::atomic_ref<Word> shared(*reinterpret_cast<Word*>(variable));
  const auto operand = static_cast<Word>(request.operand);
  switch (request.op) {
    case AtomicOp::load:
      return shared.load();
    case AtomicOp::store:
      return shared.exchange(operand);
    case AtomicOp::compare_swap: {
      auto expected = static_cast<Word>(request.expected);
      shared.compare_exchange_strong(expected, operand);
      return expected;
    }
    case AtomicOp::bit_and:
      return shared.fetch_and(operand);
    case AtomicOp::bit_or:
      return shared.fetch_or(operand);
    case AtomicOp::bit_xor:
      return shared.fetch_xor(operand);
    default:
      break;
  }
  if constexpr (std::is_integral_v<Value>) {
    if (request.op == AtomicOp::add) return shared.fetch_add(operand);
  }
  Word old = shared.load();
  while (!shared.compare_exchange_weak(
      old, std::bit_cast<Word>(
               combine(request.op, std::bit_cast<Value>(old), std::bit_cast<Value>(operand))))) {
  }
  return old;
}

}  // namespace detail

/// Returns the bits that the variable held before. Atomic among calls of all processes that map the
/// memory.
inline uint64_t apply_atomic(const AtomicRequest& request, std::byte* variable) {
  switch (request.type) {
    case AtomicType::int32:
      return detail::apply<int32_t, uint32_t>(request, variable);
    case AtomicType::uint32:
      return detail::apply<uint32_t, uint32_t>(request, variable);
    case AtomicType::int64:
      return detail::apply<int64_t, uint64_t>(request, variable);
    case AtomicType::uint64:
      return detail::apply<uint64_t, uint64_t>(request, variable);
    case AtomicType::float64:
      return detail::apply<double, uint64_t>(request, variable);
  }
  return 0;
}

/// apply_atomic(), with the previous value where Fabric::atomic() wants it.
inline void apply_atomic(const AtomicRequest& request, std::byte* variable, void* previous) {
  const uint64_t old = apply_atomic(request, variable);
  // Little-endian: the low bytes come first.
  static_assert(std::endian::native == std::endian::little);
  if (previous != nullptr) std::memcpy(previous, &old, bytes_of(request.type));
}

/// Stores a signal's value: whoever reads it with acquire order sees what was written before.
inline void raise_flag(std::byte* flag, uint64_t value) {
  std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(flag))
      .store(value, std::memory_order_release);
}

}  // namespace stripline::fabric
