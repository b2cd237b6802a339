// The times of one operation by size and run, from a campaign's series.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "optimizer/experiment/experiment.h"

namespace stripline::suites::results {

/// [bytes][run]: the median of a run.
using RunMedians = std::map<uint64_t, std::map<uint32_t, double>>;

/// Medians of the verified series whose point, which has a factor `bytes`, is wanted. Pure.
RunMedians run_medians(const std::vector<experiment::SampleSeries>& series,
                       const std::function<bool(const experiment::Point&)>& wanted);

}  // namespace stripline::suites::results
