// What the experiments on NAS kernels have in common.
#pragma once

#include "optimizer/experiment/experiment.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites {

/// Problem classes of the NAS Parallel Benchmarks; S is the default.
experiment::Factor nas_class_factor();
nas::NasClass nas_class_of(const experiment::Point& point);

}  // namespace stripline::suites
