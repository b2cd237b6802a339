// Two methods of doing the same thing, compared within the runs that measured both.
#pragma once

#include <cstdint>
#include <optional>

#include "optimizer/fit/samples.h"
#include "optimizer/model/parameter.h"
#include "optimizer/stats/compare.h"

namespace stripline::fit {

/// The candidate's times over the baseline's; nullopt unless two runs have both, or where a time is
/// not above zero.
std::optional<stats::Ratio> ratio_of(const RunMedians& candidate, const RunMedians& baseline,
                                     double confidence);

/// 1 - ratio, by how much less the candidate takes.
model::Parameter gain_of(const stats::Ratio& ratio, uint32_t samples);

}  // namespace stripline::fit
