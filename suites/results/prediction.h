// How well a fitted model predicts what it was not fitted to: blocking gets and puts of sizes
// between those of the grid, measured in the same launches.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "optimizer/cost/link_costs.h"
#include "suites/results/options.h"
#include "suites/results/run_medians.h"

namespace stripline::suites::results {

/// Over the held-out sizes of one operation. Errors are relative to the measured time.
struct PredictionErrors {
  size_t sizes = 0;
  double mean = 0;
  double largest = 0;
  uint64_t largest_at_bytes = 0;
  /// Mean difference between the medians of the odd and of the even runs: what repeating the
  /// measurement with half of the runs misses by.
  double noise = 0;
};

/// Compares `costs` with the medians over runs of at least one size. Pure.
PredictionErrors prediction_errors(const cost::LinkCosts& costs, const RunMedians& measured);

/// Prints the table for tcp and every profile. Errors: as measure_run().
Status print_prediction(const Options& options);

}  // namespace stripline::suites::results
