// What atomic operations do and on which types: one list for atomic domains (<stripline/atomic.h>)
// and for networks (runtime/fabric/fabric.h), which carry the numbers in messages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace stripline::detail {

/// What an atomic operation makes of a variable and its operand. `load` and `compare_swap` only
/// make sense when the previous value is asked for.
enum class AtomicOp : uint8_t {
  load,
  store,  ///< also the swap, when the previous value is asked for
  compare_swap,
  add,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
};
inline constexpr size_t kAtomicOps = 9;

enum class AtomicType : uint8_t { int32, uint32, int64, uint64, float64 };
inline constexpr size_t kAtomicTypes = 5;

constexpr size_t bytes_of(AtomicType type) {
  return type == AtomicType::int32 || type == AtomicType::uint32 ? 4 : 8;
}

}  // namespace stripline::detail
