// By how much predictions are wrong, over a plane of (region bytes, data bytes): the measured
// ratios of a model, compiled for interpolation. How a transfer goes changes at sizes of its data
// (of a message, of several, of a slot), so that these are an axis, and numbers of regions are not.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/model/sections/vis.h"

namespace stripline::cost {

/// The natural logarithm of a ratio of measured to predicted time, with the ends of its interval.
struct LogRatio {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Immutable; safe to share between threads.
class ResidualTable {
 public:
  /// Knows nothing.
  ResidualTable() = default;

  /// Measured cells, at most one per place; they need not fill a grid. Where a grid
  /// over their sizes has no cell, a mean of all holds, weighted by the inverse fourth power of the
  /// distance on logarithmic scales: of its neighbours, in effect. Its interval holds their spread,
  /// too.
  explicit ResidualTable(const std::vector<model::VisResidual>& cells);

  bool empty() const { return x_.empty(); }

  /// The ratio at a place, given as logarithms to the base 2: bilinear between the measured ones,
  /// the edge of the measured range outside of it. A table that knows nothing says 1, exactly.
  LogRatio at(double log2_region_bytes, double log2_data_bytes) const;

  /// Bounds of the ratio, with its interval, wherever it is asked for. Not as logarithms.
  double least() const { return least_; }
  double most() const { return most_; }

 private:
  std::vector<double> x_;        // log2 of region bytes, ascending
  std::vector<double> y_;        // log2 of data bytes, ascending
  std::vector<LogRatio> cells_;  // by x, then y
  double least_ = 1;
  double most_ = 1;
};

}  // namespace stripline::cost
