// What is compared: for each operation, how either system runs a batch of it, and how to tell that
// the batch had its effect.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <stripline/context.h>

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

/// The rows, with the memory they work on. For rank 0; `array` has kMemoryBytes and a cache line
/// more.
class Rows {
 public:
  Rows(Systems& systems, global_ptr<std::byte> array);
  ~Rows();
  const std::vector<Row>& all() const { return rows_; }

 private:
  class Work;
  std::unique_ptr<Work> work_;
  std::vector<Row> rows_;
};

}  // namespace stripline::suites::compare
