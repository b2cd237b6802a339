// What compute primitives cost: the section `compute` of the tuned model (docs/model-file.md).
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// Seconds per element of a primitive over a footprint of this many bytes.
struct ComputePoint {
  uint64_t bytes = 0;
  Parameter seconds_per_element;
};

/// Compute primitives on doubles (Iancu et al., section 6.1), each by footprint, ascending.
struct ComputeModel {
  std::vector<ComputePoint> red_in;   ///< sum += a[i], data in cache
  std::vector<ComputePoint> red_out;  ///< the same, data out of cache
  std::vector<ComputePoint> vec_in;   ///< a[i] += b[i]
  std::vector<ComputePoint> vec_out;
  std::vector<ComputePoint> alu;  ///< one dependent floating-point operation, no memory
};

/// A primitive by its name in model files and in micro.compute.
struct ComputePrimitive {
  const char* name;
  std::vector<ComputePoint> ComputeModel::*points;
  const char* what;
};
inline constexpr ComputePrimitive kComputePrimitives[] = {
    {"red_in", &ComputeModel::red_in, "reduction in cache"},
    {"red_out", &ComputeModel::red_out, "reduction out of cache"},
    {"vec_in", &ComputeModel::vec_in, "vector in cache"},
    {"vec_out", &ComputeModel::vec_out, "vector out of cache"},
    {"alu", &ComputeModel::alu, "floating-point operation"}};

Section compute_section();

}  // namespace stripline::model
