// Transfers of many regions that campaigns measure: drawn for each campaign, in place of those that
// micro.vis declares. A grid that is fitted says how well a model does on that grid; programs ask
// for others. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::server {

/// The smallest and the largest region that are drawn, and how many of them make a transfer.
inline constexpr double kLeastRegionBytes = 16;
inline constexpr double kMaxRegionBytes = 32 << 10;
inline constexpr double kLeastRegions = 2;
inline constexpr double kMaxRegions = 4000;

class DrawnShapes {
 public:
  /// `points`: all of a plan. As many shapes as its grid of micro.vis has, one from each of equal
  /// parts of the logarithmic scales of region bytes and of regions, of no more data than the
  /// largest of the grid, with the distances of the grid. The same seed draws the same.
  DrawnShapes(const std::vector<experiment::Point>& points, uint64_t seed);

  /// Puts them in place of the grid's, in all directions, classes and methods alike.
  void apply(std::vector<experiment::Point>& points) const;

 private:
  struct Shape {
    int64_t region_bytes = 0;
    int64_t bytes = 0;
  };
  using Key = std::tuple<int64_t, int64_t, int64_t>;  // region_bytes, bytes, stride of the grid
  std::map<Key, Shape> shapes_;
};

}  // namespace stripline::server
