// The rows of the sample table on noncontiguous transfers (micro.pack, micro.vis, micro.vis_chunk,
// micro.vis_window) as fit_vis.h reads them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <tuple>

#include "optimizer/fit/sample_table.h"
#include "optimizer/plan/vis.h"

namespace stripline::fit {

/// A transfer that was measured.
struct VisShape {
  plan::Direction direction = plan::Direction::get;
  uint64_t region_bytes = 0;
  uint64_t regions = 0;
  uint64_t stride = 0;  ///< distance of two regions in units of their size
  friend bool operator<(const VisShape& a, const VisShape& b) {
    return std::tie(a.direction, a.region_bytes, a.regions, a.stride) <
           std::tie(b.direction, b.region_bytes, b.regions, b.stride);
  }
};

/// How it was carried out; 0: as without a model.
struct VisSetting {
  uint64_t chunk_bytes = 0;
  uint32_t window = 0;
  uint32_t iov_limit = 1;  ///< regions that a native operation took
  friend bool operator<(const VisSetting& a, const VisSetting& b) {
    return std::tie(a.chunk_bytes, a.window, a.iov_limit) <
           std::tie(b.chunk_bytes, b.window, b.iov_limit);
  }
};

/// The request that describes a shape to the planner. The largest chunk is taken to hold
/// `medium_bytes`, a message plan::kUsualMessageBytes, and bounding boxes to be allowed for gets.
plan::VisRequest request_of(const VisShape& shape, plan::ComputeClass compute,
                            uint64_t medium_bytes);

/// Times in seconds, with the computation, which `compute` holds alone.
struct VisTimes {
  std::array<std::map<VisSetting, RunMedians>, plan::kVisMethods> methods;
  RunMedians compute;
};

struct VisSamples {
  /// micro.pack: by span, then size of a region, seconds per region.
  using PackTimes = std::map<uint64_t, std::map<uint64_t, RunMedians>>;
  PackTimes pack;
  PackTimes unpack;
  /// micro.vis: by class of computation and shape.
  std::array<std::map<VisShape, VisTimes>, plan::kComputeClasses> cells;
  /// micro.vis_chunk and micro.vis_window: by shape, then setting.
  std::map<VisShape, std::map<VisSetting, RunMedians>> chunks;
  std::map<VisShape, std::map<VisSetting, RunMedians>> windows;
  uint32_t pack_raw = 0;  ///< repetitions in micro.pack
  uint32_t vis_raw = 0;   ///< repetitions in micro.vis
};

VisSamples sort_vis_samples(const SampleTable& table);

}  // namespace stripline::fit
