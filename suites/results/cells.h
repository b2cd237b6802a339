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
  many_ranks  ///< at least 100 of 2 to 64 ranks on the profiles, under declared computation, since
              ///< what is measured of more ranks than processors depends on how they take turns
};

/// Quick: one small cell per network. Errors: as networks(); internal when a kernel no longer
/// accepts a problem.
Result<std::vector<Cell>> quality_cells(const Options& options, CellKind kind);

/// What strip-mining is judged on besides the loops of quality_cells() (is_cut()), on the profiles
/// under declared computation.
struct StripCells {
  /// One transfer and the computation on it, light and heavy, for sizes from 1 KiB to 1 MiB: the
  /// micro-benchmark of Chen, section 5.3.
  std::vector<Cell> sweep;
  /// FT and IS of class W with 2 to 32 ranks: the applications of Chen, section 5.5, a class or two
  /// smaller, on the three clusters of the thesis.
  std::vector<Cell> applications;
};

/// As quality_cells(). Quick: two sizes, and no applications.
Result<StripCells> strip_cells(const Options& options);

/// The sweep of one emulated network, whatever options.only says. Errors: as quality_cells().
Result<std::vector<Cell>> strip_sweep(const Network& network, const Options& options);

/// True if the cell is a loop over bulk transfers, which can be cut into strips, rather than
/// strided transfers.
bool is_cut(const Cell& cell);

}  // namespace stripline::suites::results
