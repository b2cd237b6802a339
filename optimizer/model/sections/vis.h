// What a campaign learned of noncontiguous transfers: the section `vis` of the tuned model
// (docs/model-file.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// By how much the cost model is wrong at one place: the measured time of a transfer over the
/// predicted one.
struct VisResidual {
  uint64_t region_bytes = 0;  ///< VOL, at least 1
  uint64_t regions = 0;       ///< DEPTH, at least 1
  Parameter ratio;            ///< with the interval over runs
};

/// Residuals of one method. What the program does meanwhile, and whether the regions lie close
/// together or spread far, make separate tables. Each ascends by region_bytes, then regions.
struct VisResiduals {
  std::vector<VisResidual> compact;  ///< the extent is less than kSpreadFactor times the data
  std::vector<VisResidual> spread;
};

/// From this ratio of extent to data on, regions count as spread.
inline constexpr uint64_t kSpreadFactor = 8;

/// The methods of optimizer/plan/vis.h.
struct VisMethodResiduals {
  VisResiduals pipelined;
  VisResiduals native_iov;
  VisResiduals bounding_box;
  VisResiduals packed;
};

/// Transfers in one direction on one path. Absent members were not measured.
struct VisDirection {
  std::optional<uint64_t> chunk_bytes;       ///< best size of a packed message
  std::optional<uint32_t> window;            ///< best number of them in flight
  std::optional<uint32_t> pipelined_window;  ///< best number of contiguous operations in flight
  std::optional<Parameter> iov_piece_s;      ///< what each region of a native operation costs
  /// How long an active message waits at a target that is busy with a light or heavy computation.
  std::optional<Parameter> light_delay_s;
  std::optional<Parameter> heavy_delay_s;
  VisMethodResiduals communication_only;
  VisMethodResiduals light;
  VisMethodResiduals heavy;
};

/// The tables of residuals by method and by class, under their names in model files and in the
/// order of plan::VisMethod and plan::ComputeClass (optimizer/plan/vis.h).
inline constexpr std::array<std::pair<const char*, VisResiduals VisMethodResiduals::*>, 4>
    kResidualsOfMethod = {{{"pipelined", &VisMethodResiduals::pipelined},
                           {"native_iov", &VisMethodResiduals::native_iov},
                           {"bounding_box", &VisMethodResiduals::bounding_box},
                           {"packed", &VisMethodResiduals::packed}}};
inline constexpr std::array<std::pair<const char*, VisMethodResiduals VisDirection::*>, 3>
    kResidualsOfClass = {{{"communication_only", &VisDirection::communication_only},
                          {"light", &VisDirection::light},
                          {"heavy", &VisDirection::heavy}}};

/// One path.
struct VisModel {
  std::optional<VisDirection> put;
  std::optional<VisDirection> get;
};

Section vis_section();

}  // namespace stripline::model
