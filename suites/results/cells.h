// The (kernel, problem, network, ranks) cells that the quality of decisions is judged on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/results/fabrics.h"

namespace stripline::suites::results {

struct Cell {
  Network network;
  uint32_t ranks = 2;
  experiment::Point problem;  ///< of variant blocking, complete

  /// "emulated:opteron-vapi, 2 ranks, kernel.matvec: rows=128 cols=1024 passes=4 active=one".
  std::string key() const;
  std::string problem_text() const;
};

/// At least 60: tcp and shm with 2 ranks, the profiles with 2, and with 4 to 64 under declared
/// computation. Quick: one small cell per
/// network. Errors: as networks(); internal when a kernel no longer accepts a problem.
Result<std::vector<Cell>> quality_cells(const Options& options);

}  // namespace stripline::suites::results
