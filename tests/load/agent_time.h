// What samples take of the processor of a node that measures.
#pragma once

#include <cstdint>

#include "optimizer/experiment/experiment.h"

namespace stripline::load {

/// Processor time of this thread in which an agent takes a million samples of the point from its
/// worker, and writes what is sent of them, without the connection; in batches of this many. Ends
/// the program if the agent does not pass them on.
double agent_s_per_million(const experiment::Point& point, uint32_t samples_per_batch);

}  // namespace stripline::load
