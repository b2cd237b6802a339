// What the experiments on NAS kernels have in common.
#pragma once

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites {

/// Problem classes of the NAS Parallel Benchmarks, from the smallest to the largest.
experiment::Factor nas_class_factor();
/// Of a completed point.
nas::NasClass nas_class_of(const experiment::Point& point);

/// Whether a completed point is none of variant fine in a larger class than S, in which so many
/// elements move, each waited for, that a run takes minutes to hours. Errors: invalid_argument.
Status check_fine_class(const experiment::Point& point);

}  // namespace stripline::suites
