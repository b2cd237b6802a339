// From times of collective operations to the rules by which algorithms are chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/fit/samples.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// One rule per operation and measured size, for `ranks` ranks. It names the algorithm with the
/// least time over the runs if that is surely faster than the default: the ratio of both, paired by
/// run, lies below 1 at `confidence`, shared by the alternatives of the operation. Else it names
/// the default, so that noise changes nothing. Rules change at the geometric mean of two sizes; the
/// first and the last of an operation reach to the ends. A size is left out, and named in `notes`,
/// if the default was not measured in two runs or more. nullopt: there is no rule.
std::optional<model::CollectiveModel> fit_collectives(const SortedSamples& samples, uint32_t ranks,
                                                      double confidence,
                                                      std::vector<std::string>& notes);

}  // namespace stripline::fit
