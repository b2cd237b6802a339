// What updates of cells that the workers of a node share cost: the section `shared_update` of the
// tuned model (docs/model-file.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// How far apart the workers of a team are: hardware threads of one core, cores of one package, or
/// cores of several packages.
enum class SharedPlacement : uint8_t { core, package, node };
inline constexpr std::array<std::string_view, 3> kSharedPlacementNames = {"core", "package",
                                                                          "node"};
constexpr std::span<const std::string_view> names_of(SharedPlacement) {
  return kSharedPlacementNames;
}
inline std::string_view to_string(SharedPlacement placement) {
  return kSharedPlacementNames[static_cast<size_t>(placement)];
}

/// Types of cells, by their size in bytes. Models know all but `other`.
enum class CellType : uint8_t { integer4, integer8, float4, float8, other };
inline constexpr std::array<std::string_view, 5> kCellTypeNames = {"integer4", "integer8", "float4",
                                                                   "float8", "other"};
constexpr std::span<const std::string_view> names_of(CellType) { return kCellTypeNames; }
inline std::string_view to_string(CellType type) {
  return kCellTypeNames[static_cast<size_t>(type)];
}

/// What one update takes that a team of this many workers makes which are placed so. All but the
/// cost of combining are of cells that a cache of the first level holds.
struct SharedUpdatePoint {
  CellType type = CellType::integer8;
  SharedPlacement placement = SharedPlacement::package;
  uint32_t workers = 2;
  uint64_t footprint_bytes = 0;  ///< of a worker's replica that is combined
  Parameter plain_s;             ///< of a cell in this worker's cache
  Parameter atomic_s;            ///< the same as an atomic operation
  Parameter lock_s;              ///< the same under a lock that no one else wants
  Parameter transfer_s;          ///< a cache line that another worker has changed
  Parameter box_s;               ///< of a cell in a box, which is found by a table
  Parameter fold_s;              ///< combining a cell of a replica with its target, and clearing it
  Parameter barrier_s;           ///< a barrier of the workers
};

struct SharedUpdateModel {
  std::vector<SharedUpdatePoint> points;  ///< ascending, in the order of the members; at least one
};

Section shared_update_section();

}  // namespace stripline::model
