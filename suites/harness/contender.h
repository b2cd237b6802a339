// What is compared: a contender lets rank 0 reach the memory of rank 1 by one method of one
// library. Its ranks are two processes of a host, in which all contenders live together; rank 0
// runs batches of the same rows on each in turn (alternate.h, batches.h), and rank 1 attends.
//
// A new contender is a file in contenders/, a function here that opens it, and a line in the
// program that is to compare it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stripline/atomic.h>
#include <stripline/context.h>

#include "base/result.h"
#include "optimizer/stats/order.h"
#include "runtime/fabric/ofi/monotonic_clock.h"
#include "suites/harness/data.h"
#include "suites/harness/rows.h"
#include "suites/harness/turns.h"

namespace stripline::suites::harness {

class Contender {
 public:
  virtual ~Contender() = default;

  /// As reports name it: the library, and which of its methods, "" where it has one.
  virtual const char* family() const = 0;
  virtual const char* method() const { return ""; }
  /// True if it has operations that serve for a row.
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

/// How a contender joins: the path that it uses is the path that is compared.
struct Place {
  int rank = 0;
  std::string fabric;   ///< of the runtime and of libfabric: tcp, net, shm
  bool mapped = false;  ///< shared memory of one node, else a network
  Swap swap;
};

/// Collective. Errors: unavailable where a library does not open. Errors of MPI end the job with
/// MPI's own message.
using Opened = Result<std::unique_ptr<Contender>>;
/// By a context of two ranks, which lives longer, and its `array` of kAllBytes.
std::unique_ptr<Contender> open_stripline(Context& context, global_ptr<std::byte> array,
                                          AtomicPath atomics = AtomicPath::automatic);
Opened open_libfabric(const Place& place);
/// A TCP connection over loopback, and nothing else: gets of 8 bytes.
Opened open_sockets(const Place& place);
Opened open_mpi_one_sided(const Place& place);
Opened open_mpi_two_sided(const Place& place);
Opened open_mpi_packed(const Place& place);
/// `by_pieces`: only strided transfers, an operation per piece, instead of those packed by hand.
Opened open_ucx(const Place& place, bool by_pieces);

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

/// Messages there and back, of which half is a message: `exchange(word)` sends the word and waits
/// for the answer.
template <typename Exchange>
double message_s(const Row& row, const Data& data, const Exchange& exchange) {
  return blocking_s(row, [&](size_t i) { exchange(word_at(i, data.salt)); }) / 2;
}

/// A batch as a whole, until all of it is in place.
template <typename Batch>
double batch_s(const Row& row, const Batch& batch) {
  const double begin_s = fabric::ofi::monotonic_s();
  batch();
  return (fabric::ofi::monotonic_s() - begin_s) / static_cast<double>(row.count);
}

/// Operations without handles: `start(i)` starts the i-th, and `fence()`, after each window of
/// them, waits for all.
template <typename Start, typename Fence>
double fenced_s(const Row& row, const Start& start, const Fence& fence) {
  return batch_s(row, [&] {
    for (size_t i = 0; i < row.count;) {
      for (size_t last = i + row.window; i < last; ++i) start(i);
      fence();
    }
  });
}

}  // namespace stripline::suites::harness
