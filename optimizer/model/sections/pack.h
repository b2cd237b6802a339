// What it costs to copy regions into, or out of, a contiguous buffer: the section `pack` of the
// tuned model (docs/model-file.md).
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// Copying regions into, or out of, a contiguous buffer: region_s + bytes s_per_byte for each,
/// where the regions with the gaps between them span this many bytes. Spans that stay in a cache
/// cost less than others.
struct PackPoint {
  uint64_t span_bytes = 0;
  Parameter region_s;
  Parameter s_per_byte;
};

/// Each by span, ascending.
struct PackModel {
  std::vector<PackPoint> pack;    ///< regions to buffer
  std::vector<PackPoint> unpack;  ///< buffer to regions
};

Section pack_section();

}  // namespace stripline::model
