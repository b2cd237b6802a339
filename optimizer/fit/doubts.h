// By how much loops take longer than the parts that a campaign measured of them: the doubts of
// composition of the section `strip`, from problems that were held out (judge_decisions.h).
#pragma once

#include <cstddef>
#include <span>

#include "optimizer/fit/judge_decisions.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// With fewer problems of a kind, its doubt stays what planners take without one.
inline constexpr std::size_t kLeastDoubted = 8;
/// A doubt holds for this part of the problems.
inline constexpr double kDoubtCovers = 0.95;

/// Sets StripModel::composition_doubt from loops and nest_composition_doubt from nests: the excess
/// of what cuts take over what is predicted of them, given what the baseline took in the same run.
/// The mean over a problem's cuts counts, then the quantile kDoubtCovers over the problems of a
/// run; the mean over runs is published with its interval. Held-out loops go through the data of
/// one rank: others_doubt is not fitted. What cannot be fitted is absent.
void fit_doubts(std::span<const HeldOutTimes> held_out, double confidence,
                model::TunedModel& model);

}  // namespace stripline::fit
