// The default grids of the experiments' factors.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::suites {

/// Sizes from `low` to `high`, both powers of two: `per_octave` 1 gives the powers of two, 2 also
/// one and a half times each.
std::vector<experiment::ParamValue> size_grid(int64_t low, int64_t high, int per_octave);

/// A count or size factor with its grid; accepted from `minimum` to `maximum`.
experiment::Factor integer_factor(std::string name, std::string unit, std::string description,
                                  std::vector<experiment::ParamValue> values, double minimum,
                                  double maximum);

}  // namespace stripline::suites
