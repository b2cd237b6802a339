// What the experiments on NAS kernels have in common.
#pragma once

#include <string_view>

#include "base/result.h"
#include "optimizer/experiment/experiment.h"
#include "suites/kernels/nas/nas_class.h"

namespace stripline::suites {

/// Problem classes of the NAS Parallel Benchmarks, from the smallest to the largest.
experiment::Factor nas_class_factor();
/// The class of a completed point.
nas::NasClass nas_class_of(const experiment::Point& point);

/// Variant fine moves a whole solution by single elements, each waited for, and takes class S only:
/// in larger ones these are millions. Errors: invalid_argument for a completed point that asks for
/// that.
Status check_fine_class(const experiment::Point& point);

/// True if a variant is left out unless it is named, because it takes minutes over a real network:
/// fine of these kernels.
bool only_by_name(const experiment::Experiment& experiment, std::string_view variant);

}  // namespace stripline::suites
