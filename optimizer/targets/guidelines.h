// Performance guidelines of MPI (Traff, Gropp and Thakur, IEEE TPDS 21, 2010): an operation should
// not take longer than others that do the same together, and not less for more data. Where it does,
// the library has chosen badly, whatever it is compared with. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/compare.h"
#include "optimizer/targets/decide.h"

namespace stripline::targets {

/// Times of one operation in each run; NaN where it was not measured.
struct CellSeries {
  Cell cell;
  std::vector<double> times_s;
};

struct Violation {
  Cell cell;
  std::string guideline;           ///< "allreduce <= reduce + bcast", "8 B <= 128 B"
  stats::NonInferiorityTest test;  ///< time of the operation over that of what bounds it
};

/// What is violated for certain, by more than the rule's margin, at its confidence over all
/// guidelines that could be looked at; the worst one first. Series are of runs that they share.
/// Errors: as decide_cell().
Result<std::vector<Violation>> violated_guidelines(std::span<const CellSeries> series,
                                                   const DecisionRule& rule);

}  // namespace stripline::targets
