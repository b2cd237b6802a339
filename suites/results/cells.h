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

enum class CellKind {
  few_ranks,  ///< a processor for each: at least 60 cells of 2 ranks, on tcp, shm and the profiles
  many_ranks  ///< at least 100 of 4 to 64 ranks on the profiles, under declared computation, since
              ///< what is measured of more ranks than processors depends on how they take turns
};

/// Quick: one small cell per network. Errors: as networks(); internal when a kernel no longer
/// accepts a problem.
Result<std::vector<Cell>> quality_cells(const Options& options, CellKind kind);

}  // namespace stripline::suites::results
