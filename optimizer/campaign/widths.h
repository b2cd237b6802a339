// How narrow the intervals of a campaign's points are, and which of its experiments deserve more
// runs. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/campaign/point_table.h"

namespace stripline::campaign {

/// Half of the interval of a point's median, relative to it: to a quarter of the time of a blocking
/// operation of that size for what may be nothing, such as a difference of two times
/// (micro.overlap, micro.serve), where that is more. Nullopt with fewer than two runs.
std::optional<double> relative_width(const PointTable& table, uint32_t place);

/// Nearly all points that have been measured are known within this: the width that 19 of 20 do not
/// exceed. 0 while no point has an interval.
double achieved_width(const PointTable& table);

/// An experiment with the points of its in the table.
struct Block {
  std::string experiment;
  std::vector<uint32_t> places;
  uint32_t runs = 0;  ///< That have tried the point that fewest have tried.
  double width = 0;   ///< As achieved_width(), of its points; 0: unknown.
  /// By how much another run would narrow the intervals that are too wide, in widths per point.
  double gain = 0;
};

/// In order of their first points. `target`: the width that intervals should have.
std::vector<Block> blocks_of(const PointTable& table, double target);

}  // namespace stripline::campaign
