// The points of an experiment: the product of its variants and its factors' grids, whole or pruned.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::server {

/// A queue shows in bursts between one operation and the largest, or not at all
/// (optimizer/fit/hinge.h).
inline constexpr size_t kLeastBursts = 4;

/// What to leave out of the declared grids.
struct GridLimits {
  /// Sizes (factors in bytes with longer grids) are thinned to about this many, on a lattice that
  /// all experiments share, so that a size measured by one is measured by the others; first and
  /// last of each grid stay. 0: all.
  size_t sizes = 0;
  /// Other numeric factors are thinned to this many, first and last included; bursts to
  /// kLeastBursts at least. 0: all.
  size_t counts = 0;
  /// Sizes at which one repetition of the experiment could move more than this are left out (the
  /// product of its byte and count factors), unless nothing else would remain. 0: all.
  double max_bytes_per_repetition = 0;
};

/// The experiments with their factors' grids pruned.
std::vector<experiment::Experiment> prune(std::vector<experiment::Experiment> experiments,
                                          const GridLimits& limits);

/// How many points an experiment has, or all of them have; as a number that cannot overflow, before
/// they are made.
double count_points(const experiment::Experiment& experiment);
double count_points(const std::vector<experiment::Experiment>& experiments);

/// All points of these experiments, in declaration order.
std::vector<experiment::Point> grid_points(const std::vector<experiment::Experiment>& experiments);

}  // namespace stripline::server
