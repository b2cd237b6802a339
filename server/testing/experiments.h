// Declarations for tests: shaped like those of the suites, with small grids.
#pragma once

#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::server {

inline experiment::Factor powers(const char* name, const char* unit, int64_t low, int64_t high) {
  experiment::Factor factor;
  factor.name = name;
  factor.unit = unit;
  factor.description = "a factor";
  for (int64_t value = low; value <= high; value *= 2) factor.values.emplace_back(value);
  factor.minimum = 0;
  factor.maximum = double{1 << 30};
  return factor;
}

inline experiment::Experiment declared(const char* name, std::vector<experiment::Factor> factors,
                                       std::vector<std::string> variants,
                                       std::vector<std::string> feeds) {
  experiment::Experiment e;
  e.name = name;
  e.title = name;
  e.description = "an experiment";
  e.factors = std::move(factors);
  e.variants = std::move(variants);
  e.metric = {"time", "s", true};
  e.min_ranks = 2;
  e.max_ranks = 64;
  e.verification = "bytes are compared";
  e.feeds = std::move(feeds);
  return e;
}

/// What feeds a network model, and a kernel that does not. `high`: largest size.
inline std::vector<experiment::Experiment> test_experiments(int64_t high = 4 << 20) {
  return {
      declared("micro.latency", {powers("bytes", "B", 8, high)}, {"get", "put"}, {"network.get.L"}),
      declared("micro.issue", {powers("bytes", "B", 8, high), powers("burst", "1", 1, 256)},
               {"get", "put"}, {"network.get.o"}),
      declared("micro.flood",
               {powers("bytes", "B", 8, high),
                [] {
                  experiment::Factor count = powers("count", "1", 8, 8);
                  count.values.emplace_back(int64_t{64});
                  return count;
                }()},
               {"get", "put"}, {"network.get.g"}),
      declared("micro.overlap", {powers("bytes", "B", 8, high)}, {"get", "put"}, {"network.get.r"}),
      declared("kernel.loop", {powers("bytes", "B", 8, 64)}, {"blocking", "tuned"}, {}),
  };
}

/// Transfers of many regions by an operation each, this many of which are in flight.
inline experiment::Experiment test_windows() {
  experiment::Experiment e =
      declared("micro.vis_window",
               {powers("region_bytes", "B", 32, 1024), powers("bytes", "B", 16384, 16384),
                powers("stride", "1", 2, 2), powers("window", "1", 4, 128)},
               {"get", "put"}, {"vis.pipelined_window"});
  return e;
}

}  // namespace stripline::server
