// How much of a transfer's time computation can hide, by size: what a network offers to
// strip-mining.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/results/options.h"

namespace stripline::suites::results {

/// 1 - exposed / blocking, by size: the median over runs of a run's micro.overlap and micro.latency
/// medians. `variant` is get or put. Below zero where overlapping costs more than it hides. Pure.
std::map<uint64_t, double> hidden_share(const std::vector<experiment::SampleSeries>& series,
                                        const std::string& variant);

/// Prints the shares for tcp and every profile. Errors: as measure_run().
Status print_overlap(const Options& options);

}  // namespace stripline::suites::results
