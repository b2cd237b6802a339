// What is compared: a system is a way for rank 0 to reach the memory of rank 1.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/order.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "suites/neighbours/data.h"
#include "suites/neighbours/rows.h"
#include "suites/neighbours/turns.h"

namespace stripline::suites::neighbours {

class System {
 public:
  virtual ~System() = default;

  /// As reports name it: the library, and which of its methods.
  virtual const char* family() const = 0;
  virtual const char* way() const = 0;
  /// True if it has something that serves for a row.
  virtual bool offers(const Row& row) const = 0;
  /// kAllBytes that the other rank reads and writes.
  virtual std::byte* memory() = 0;

  /// On rank 0: a batch of a row, from data.source or to data.sink. Seconds per operation.
  virtual double initiate(const Row& row, Data& data) = 0;
  /// On rank 1, meanwhile: progress until `turns` is over, or its part of a batch.
  virtual void attend(const Row& row, const Turns& turns) = 0;
};

/// Addresses and the like from one rank to the other, collectively; empty when it has none.
using Swap = std::function<std::vector<std::byte>(const std::vector<std::byte>& mine)>;

/// How a system joins: which path it uses is the path that is compared.
struct Place {
  int rank = 0;
  bool same_node = false;  ///< shared memory of one node, else TCP
  Swap swap;
};

Result<std::unique_ptr<System>> open_stripline(const Place& place);
Result<std::unique_ptr<System>> open_libfabric(const Place& place);
Result<std::unique_ptr<System>> open_mpi_one_sided(const Place& place);
Result<std::unique_ptr<System>> open_mpi_two_sided(const Place& place);
Result<std::unique_ptr<System>> open_mpi_packed(const Place& place);
/// `by_pieces`: only strided transfers, an operation per piece, instead of those packed by hand.
Result<std::unique_ptr<System>> open_ucx(const Place& place, bool by_pieces);

// --- how times are taken, alike for all -------------------------------------------------------

/// Blocking operations: the median over groups, as one preemption of either process must not
/// decide. `operation(i)` is the i-th of the batch.
template <typename One>
double blocking_s(const Row& row, const One& operation) {
  using fabric::ofi::monotonic_s;
  std::vector<double> seconds;
  for (size_t i = 0; i < row.count;) {
    const double begin_s = monotonic_s();
    for (size_t last = i + row.group; i < last; ++i) operation(i);
    seconds.push_back((monotonic_s() - begin_s) / static_cast<double>(row.group));
  }
  return stats::median(seconds);
}

/// A batch as a whole, until all of it is in place.
template <typename Batch>
double batch_s(const Row& row, const Batch& batch) {
  const double begin_s = fabric::ofi::monotonic_s();
  batch();
  return (fabric::ofi::monotonic_s() - begin_s) / static_cast<double>(row.count);
}

}  // namespace stripline::suites::neighbours
