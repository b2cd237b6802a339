// The experiments' factors: their default grids, and their values at a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
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
experiment::Factor integer_factor(std::string name, std::string unit, std::string description,
                                  std::initializer_list<int64_t> values, double minimum,
                                  double maximum);

/// A factor whose values are names.
experiment::Factor name_factor(std::string name, std::string description,
                               std::vector<experiment::ParamValue> values);
experiment::Factor name_factor(std::string name, std::string description,
                               std::initializer_list<const char*> values);

/// The value of a count or size at a completed point.
size_t size_param(const experiment::Point& point, std::string_view factor);

/// How many ranks the experiments accept; those without a part wait inside the library.
inline constexpr uint32_t kMostRanks = 1024;

}  // namespace stripline::suites
