// What a byte takes in segments that span too few sizes to tell. Pure.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "optimizer/model/sections/network.h"

namespace stripline::fit {

/// The slopes, in seconds a byte, that segments take from the nearest one whose slope is
/// determined, within their own intervals; at the index of each segment that takes one. A segment
/// that spans too few sizes to tell what a byte takes does not tell either what the first byte
/// takes.
std::vector<std::optional<model::Parameter>> borrowed_slopes(
    std::span<const model::Segment> segments);

}  // namespace stripline::fit
