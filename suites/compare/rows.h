// What is compared: for each operation, how either system runs a batch of it, and how to tell that
// the batch had its effect.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stripline/context.h>

#include "runtime/fabric/ofi/monotonic_clock.h"
#include "suites/compare/bare_rank.h"
#include "suites/compare/board.h"
#include "suites/compare/socket_pair.h"

namespace stripline::suites::compare {

/// Memory of each rank that the others read and write.
inline constexpr size_t kMemoryBytes = size_t{8} << 20;

struct Systems {
  std::unique_ptr<Context> ours;
  BareRank bare;
  SocketPair sockets;
};

/// One side of a comparison.
struct Side {
  System system = System::none;
  std::function<double()> batch;   ///< runs a batch; returns seconds per operation
  std::function<bool()> verified;  ///< whether the last batch had its effect
};

struct Row {
  std::string name;
  std::string metric;    ///< "latency", "rate" or "bandwidth"
  double amount = 1;     ///< operations or bytes per operation, for rates
  std::string unit;      ///< of the metric
  double most = 0;       ///< largest ratio that is accepted; 0: none stated
  std::string baseline;  ///< what the second side is
  Side first;
  Side second;
};

/// Seconds per operation of a batch.
template <typename Batch>
double per_operation_s(size_t operations, const Batch& batch) {
  const double begin_s = fabric::ofi::monotonic_s();
  batch();
  return (fabric::ofi::monotonic_s() - begin_s) / static_cast<double>(operations);
}

/// Makes rows, and is the memory they work on.
class RowWork {
 public:
  virtual ~RowWork() = default;
  virtual std::vector<Row> rows() = 0;  ///< valid as long as this object
};

/// For rank 0; `array` has kMemoryBytes and a cache line more.
std::unique_ptr<RowWork> network_rows(Systems& systems, global_ptr<std::byte> array);

/// What is compared between ranks of one node: operations through the mapping beside plain loads,
/// stores and copies of the same memory, or through the kernel's copy beside the bare system call.
/// For rank 0 of Contexts whose same_node is mapped or cma.
std::unique_ptr<RowWork> node_rows(Systems& systems, global_ptr<std::byte> array);

}  // namespace stripline::suites::compare
