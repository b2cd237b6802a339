// How often the intervals of fits contain the truth of synthetic machines. Not part of any product.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optimizer/fit/operation.h"
#include "optimizer/fit/synthetic.h"

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

/// What a fit says of the sizes at which protocols switch.
struct BreakTally {
  int fitted = 0;   ///< Breaks of the fit ...
  int covered = 0;  ///< ... and those of them whose interval contains a switch.
  int visible =
      0;          ///< Switches at which a blocking operation's time changes by kVisible or more ...
  int found = 0;  ///< ... and those of them that lie in the interval of a break.
};
inline constexpr double kVisible = 0.1;

void judge_breaks(const TrueOperation& truth, const OperationFit& fit, BreakTally& tally);

}  // namespace stripline::fit
