// The order in which a plan fills its curves in, so that a run may be given as many of its points
// as its time allows, not only a whole grid.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

/// A run that cannot afford a whole grid measures a number of these equal parts of what the grid
/// adds to the next coarser one. Each part of a plan carries its share of the points that judge.
inline constexpr uint32_t kGridParts = 8;

/// The same points, ordered so that the first ones of any number are spread evenly over each
/// experiment's sizes. Points of an experiment that have the same size (factor::kBytes) stay
/// together, since a fit compares them: bursts of one size, or methods that move the same data.
/// Sizes follow each other in steps of the golden ratio, which leaves gaps of at most two lengths
/// wherever the sequence is cut (Knuth, The Art of Computer Programming, vol. 3, section 6.4,
/// theorem S), and does not resonate with the steps of inner factors.
std::vector<experiment::Point> by_refinement(const std::vector<experiment::Point>& points);

}  // namespace stripline::campaign
