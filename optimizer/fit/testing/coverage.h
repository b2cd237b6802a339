// How often the intervals of fits contain the truth of synthetic machines. Not part of any product.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimizer/fit/operation.h"
#include "optimizer/fit/testing/synthetic.h"

namespace stripline::fit {

struct Tally {
  int covered = 0;
  int fitted = 0;
  int absent = 0;
  std::vector<double> half_widths;  ///< Relative to the truth, where that is above zero.
};

/// By parameter: "get[0].L".
using Tallies = std::map<std::string, Tally>;

/// How an operation of this machine is fitted.
Kind kind_of(const TrueOperation& operation);

/// Counts the parameters of a fit. `right` counts fits that have found as many segments as there
/// are.
void judge_coverage(const TrueOperation& truth, const OperationFit& fit, Tallies& tallies,
                    int& right);

}  // namespace stripline::fit
