// From what a user asks on the command line to points. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::suites::bench {

/// The experiment of this name. Errors: not_found, with the nearest names.
Result<const experiment::Experiment*> find_experiment(const std::string& name);

/// The product of the variants and the values asked for. `params` are "NAME=VALUE",
/// "NAME=V1,V2,..." or "NAME=all" (the declared grid); a factor that is left out takes the first
/// value of its grid. No variants: all of them. Points with equal
/// parameters are neighbours, in the order of the variants. Errors: invalid_argument that says what
/// is accepted.
Result<std::vector<experiment::Point>> points_from(const experiment::Experiment& declaration,
                                                   const std::vector<std::string>& variants,
                                                   const std::vector<std::string>& params);

/// "4 KiB", "1 MiB", "12 B" for factors in bytes; else the plain value.
std::string value_text(const experiment::Factor& factor, const experiment::ParamValue& value);

}  // namespace stripline::suites::bench
