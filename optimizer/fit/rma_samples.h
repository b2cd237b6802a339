// Sorts the series on choices between ways of single operations (micro.atomic,
// micro.buffered_put, micro.put_combining, micro.put_message, micro.progress_call,
// micro.progress_wait) into what fit_rma.h reads: one median per run and point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "optimizer/fit/samples.h"

namespace stripline::fit {

/// One way at one value of an experiment's factor, seconds per operation.
struct WayTimes {
  RunMedians times;
  uint32_t raw_samples = 0;
};

/// By value of the factor, then name of the way.
using WaysByFactor = std::map<uint64_t, std::map<std::string, WayTimes>>;

struct RmaSamples {
  WaysByFactor buffered_put;          ///< by size of a put: waited, copied
  WaysByFactor put_combining;         ///< by size of a put: alone, combined
  WaysByFactor put_message;           ///< by size of a message: combined
  WaysByFactor atomic;                ///< by operations in flight: provider, message
  WaysByFactor progress_call;         ///< by size of a get: calls, thread
  WaysByFactor progress_wait;         ///< by microseconds that the target computes: calls, thread
  std::vector<std::size_t> used;      ///< indices of the series that went in, ascending
  std::vector<std::string> rejected;  ///< why a series was left out, one sentence each
};

/// Sorts series by the rules of sort_samples(); those of other experiments are ignored.
RmaSamples sort_rma_samples(std::span<const experiment::SampleSeries> series);

}  // namespace stripline::fit
