// What the experiments on PRK kernels have in common.
#pragma once

#include <vector>

#include "optimizer/experiment/experiment.h"
#include "suites/kernels/prk/sparse_share.h"

namespace stripline::suites {

/// Points of a star along one axis, of PRK stencil and PRK sparse.
inline constexpr const char* kPrkRadiusFactor = "radius";

/// How often a repetition goes through the kernel; samples are times of one iteration.
experiment::Factor prk_iterations_factor();
/// What a completed point asks for.
size_t prk_iterations_of(const experiment::Point& point);

/// lsize and radius, of PRK sparse.
std::vector<experiment::Factor> sparse_size_factors();
/// What a completed point asks for.
prk::SparseSize sparse_size_of(const experiment::Point& point);

}  // namespace stripline::suites
