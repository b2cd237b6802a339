// The plans that an exhaustive search over a kernel's decompositions tries.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"

namespace stripline::suites {

/// Points of the variant `forced` with the problem of `base`: the whole transfer in one piece, then
/// strips of the powers of two below it down to 1 KiB (at most 256 strips), each under schedule A
/// and under schedule B with 1, 2, 4 and 8 operations ahead, as long as there are more strips.
/// Simpler ones come first. Errors: invalid_argument for an experiment without the variant
/// `forced`.
Result<std::vector<experiment::Point>> forced_candidates(const experiment::Point& base,
                                                         uint32_t ranks);

}  // namespace stripline::suites
