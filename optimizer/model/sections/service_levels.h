// What bandwidth a network leaves to each of many nodes that communicate at once: the section
// `service_levels` of the tuned model (docs/model-file.md), G^h(P,S) and G^l(P,S) of Iancu et al.,
// section 4. It holds for the path between nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// Distances between nodes are 0 to kDistances - 1; what is farther counts as the last of them.
inline constexpr uint32_t kDistances = 8;

/// What the distance between two nodes is.
enum class DistanceScale : uint8_t {
  switches,  ///< levels of switches between them beyond the first one
  numbers,   ///< where no one knows the switches: the highest bit in which their numbers differ
};

/// Names as they stand in model files.
std::string_view to_string(DistanceScale scale);
std::optional<DistanceScale> distance_scale_from(std::string_view name);

/// Nodes that each exchange streams of operations of this size with one other at this distance.
/// Both factors are times of the same operations between two nodes alone.
struct ServiceLevel {
  uint32_t nodes = 0;
  uint32_t distance = 0;
  uint64_t bytes = 0;
  Parameter best;   ///< of the node that is served best: G^h
  Parameter worst;  ///< of the one that is served worst: G^l
};

/// Levels ascend by nodes, then distance, then bytes.
struct ServiceModel {
  DistanceScale scale = DistanceScale::switches;
  std::vector<ServiceLevel> get;
  std::vector<ServiceLevel> put;
};

Section service_levels_section();

}  // namespace stripline::model
