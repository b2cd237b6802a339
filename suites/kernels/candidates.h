// The plans that an exhaustive search over the methods of carrying out a kernel tries.
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

/// What a search over all candidates for a kernel tries: forced_candidates(), or, of a kernel
/// with strided transfers, variant `forced` by each method and in all numbers of pieces; and the
/// variants by hand, which are outside of the runtime's own choices. The simplest comes first.
/// Errors: as forced_candidates().
Result<std::vector<experiment::Point>> search_candidates(const experiment::Point& base,
                                                         uint32_t ranks);

/// The candidates that a program by hand can be swept over: the variants by hand, in pieces, and
/// strips that are all issued at once.
std::vector<experiment::Point> hand_swept(const std::vector<experiment::Point>& candidates);

}  // namespace stripline::suites
