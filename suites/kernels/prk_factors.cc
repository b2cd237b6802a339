#include "suites/kernels/prk_factors.h"

#include "suites/grids.h"

namespace stripline::suites {
namespace {

constexpr const char* kIterationsFactor = "iterations";
constexpr const char* kLog2SizeFactor = "lsize";
constexpr const char* kRadiusFactor = "radius";

}  // namespace

experiment::Factor prk_iterations_factor() {
  return integer_factor(kIterationsFactor, "1",
                        "Iterations of the benchmark in a repetition, each with what changes "
                        "between iterations; a sample is the time of one.",
                        {int64_t{4}, int64_t{1}, int64_t{16}}, 1, 1000);
}

size_t prk_iterations_of(const experiment::Point& point) {
  return size_param(point, kIterationsFactor);
}

std::vector<experiment::Factor> sparse_size_factors() {
  return {integer_factor(
              kLog2SizeFactor, "1", "Base-2 logarithm of the points along each axis of the grid.",
              {int64_t{8}, int64_t{5}, int64_t{6}, int64_t{7}, int64_t{9}, int64_t{10}}, 1, 12),
          integer_factor(kRadiusFactor, "1", "Points of the star on either side along each axis.",
                         {int64_t{4}, int64_t{2}, int64_t{8}}, 0, 64)};
}

prk::SparseSize sparse_size_of(const experiment::Point& point) {
  return {static_cast<uint32_t>(size_param(point, kLog2SizeFactor)),
          static_cast<uint32_t>(size_param(point, kRadiusFactor))};
}

}  // namespace stripline::suites
