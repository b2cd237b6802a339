#include "suites/kernels/prk_factors.h"

#include "suites/grids.h"

namespace stripline::suites {
namespace {

constexpr const char* kPrkIterationsFactor = "iterations";
constexpr const char* kLog2SizeFactor = "lsize";

}  // namespace

experiment::Factor prk_iterations_factor() {
  return integer_factor(kPrkIterationsFactor, "1",
                        "Iterations of the benchmark in a repetition, each with what changes "
                        "between iterations; a sample is the time of one.",
                        {4, 1, 16}, 1, 1000);
}

size_t prk_iterations_of(const experiment::Point& point) {
  return size_param(point, kPrkIterationsFactor);
}

std::vector<experiment::Factor> sparse_size_factors() {
  return {integer_factor(kLog2SizeFactor, "1",
                         "Base-2 logarithm of the points along each axis of the grid.",
                         {8, 5, 6, 7, 9, 10}, 1, 12),
          integer_factor(kPrkRadiusFactor, "1",
                         "Points of the star on either side along each axis.", {4, 2, 8}, 0, 64)};
}

prk::SparseSize sparse_size_of(const experiment::Point& point) {
  return {static_cast<uint32_t>(size_param(point, kLog2SizeFactor)),
          static_cast<uint32_t>(size_param(point, kPrkRadiusFactor))};
}

}  // namespace stripline::suites
