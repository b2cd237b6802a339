// What is compared: operations, how many make a batch, and where each one goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stripline::suites::harness {

/// Memory of rank 1 that rank 0 reads and writes. A counter for fetch-add follows it.
inline constexpr size_t kMemoryBytes = size_t{8} << 20;
inline constexpr size_t kCounterOffset = kMemoryBytes;
inline constexpr size_t kAllBytes = kMemoryBytes + 64;
/// What one fetch-add adds.
inline constexpr uint64_t kAddend = 3;

enum class Operation : uint8_t {
  message,      ///< 8 bytes there and back, with the program of rank 1 between; half of it
  put,          ///< blocking, until the data are in place
  get,          ///< blocking
  fetch_add,    ///< blocking, 8 bytes
  put_window,   ///< a window of them unfinished, each with a handle that says when it is in place
  put_fenced,   ///< a window of them between two fences (flushes)
  put_many,     ///< all of the batch until the fence
  get_fenced,   ///< a window of them between two fences (flushes)
  put_flood,    ///< large ones, a window of them unfinished
  get_flood,    ///< likewise
  strided_put,  ///< blocking; pieces at a density of 50 % on both sides
  strided_get,  ///< likewise
};

struct Row {
  Operation operation = Operation::put;
  size_t bytes = 8;   ///< of an operation, or of a piece
  size_t count = 1;   ///< operations in a batch
  size_t group = 1;   ///< blocking ones that are timed together
  size_t window = 1;  ///< unfinished operations, or those between fences
  size_t pieces = 1;  ///< of a strided transfer

  std::string name() const;
  bool is_strided() const {
    return operation == Operation::strided_put || operation == Operation::strided_get;
  }
  bool is_put() const {
    return operation == Operation::put || operation == Operation::put_window ||
           operation == Operation::put_fenced || operation == Operation::put_many ||
           operation == Operation::put_flood || operation == Operation::strided_put;
  }
  bool is_get() const {
    return operation == Operation::get || operation == Operation::get_fenced ||
           operation == Operation::get_flood || operation == Operation::strided_get;
  }
  /// "latency", "rate" or "bandwidth", and how much of the latter an operation is.
  const char* metric() const;
  double amount() const;
  /// Where in the memory the i-th operation of a batch goes, on both sides: small ones anywhere,
  /// large ones in turn, strided ones at the beginning.
  size_t offset(size_t i) const;
  /// Between the beginnings of pieces.
  size_t stride() const { return 2 * bytes; }
  /// From the first byte of a strided transfer to where the next piece would begin.
  size_t span() const { return pieces * stride(); }
};

/// The rows over a network, or between processes of one node, where small operations take
/// nanoseconds and are timed in groups.
std::vector<Row> all_rows(bool same_node);

}  // namespace stripline::suites::harness
