// Where a curve breaks, more exactly: sizes between the two that a protocol switch lies between.
// Pure.
#pragma once

#include <vector>

#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"
#include "optimizer/experiment/held_out.h"

namespace stripline::campaign {

/// Two sizes between which a switch lies need no other between them when the ratio of the larger to
/// the smaller, or their difference, is at most this.
inline constexpr double kNearRatio = 1.1;
inline constexpr double kNearBytes = 128;

/// New points of the latency curves of a network (micro.latency) between the sizes around each of
/// their breaks, as optimizer/fit would find them: three, which cut the distance into four, evenly
/// on a logarithmic scale and in multiples of 8 bytes. None where the sizes are near to each other
/// already, and none that are in the table. Points without medians do not count, nor do those that
/// are held out, to which no model is fitted; null: none are.
std::vector<experiment::Point> points_at_breaks(
    const PointTable& table, const experiment::HeldOutPoints* held_out = nullptr);

}  // namespace stripline::campaign
