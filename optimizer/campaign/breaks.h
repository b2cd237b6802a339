// Where a curve breaks, more exactly: sizes between the two that a protocol switch lies between,
// and between those that may hide one. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "optimizer/campaign/point_table.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::campaign {

/// Two sizes between which a switch lies need no other between them when the larger is so many
/// times the smaller, or they are so near to each other.
inline constexpr double kNearRatio = 1.1;
inline constexpr double kNearBytes = 128;

/// A step of a curve between two sizes, beyond what the sizes below them and those above say, is
/// looked into from this share of the time on: less changes no decision by more than its margin.
inline constexpr double kStepThatCounts = 0.03;

/// A line through fewer sizes fits whatever lies between them.
inline constexpr size_t kSizesOfALine = 16;

/// What is added to a plan, of its points; but a few are always allowed, because runs of few points
/// take little beside their start.
inline constexpr double kMostAdded = 0.15;
inline constexpr uint32_t kFewAdded = 12;

/// New points of the latency curves of a network (micro.latency), in sizes that are multiples of 8
/// bytes, and no more than `most`. In the order of what they are worth:
///
/// * three between the sizes around each break, as optimizer/fit would find them, which cut the
///   distance into four, evenly on a logarithmic scale;
/// * the same between two neighbours at which a curve steps (kStepThatCounts), which is no break of
///   the fit where too few sizes lie beyond;
/// * one in the middle of two neighbours, while a curve has fewer than kSizesOfALine sizes; of
///   those that are farthest from each other first.
///
/// None where the sizes are near to each other already, and none that are in the table. Points
/// without medians count only if the next run measures them: those before `grid`.
std::vector<experiment::Point> points_at_breaks(const PointTable& table, uint32_t grid = 0,
                                                size_t most = std::numeric_limits<size_t>::max());

}  // namespace stripline::campaign
