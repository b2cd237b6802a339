// What blocking copies that do not wait cost beside their transfers (<stripline/bulk.h>): the
// section `bulk` of the tuned model (docs/model-file.md). It holds for peers that are reached
// through the fabric.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

inline constexpr uint32_t kMaxBulkInFlight = 1U << 20;  ///< that a model may say

/// Copying this many bytes that came over the network to where the program wants them.
struct BulkCopyPoint {
  uint64_t bytes = 0;
  Parameter copy_s;
};

struct BulkModel {
  std::vector<BulkCopyPoint> copies;  ///< by size, ascending; at least one
  /// Larger gets are not made ahead: their copy is not surely shorter than waiting for them.
  /// Absent where that was so of no size; 0: of all.
  std::optional<uint64_t> max_get_bytes;
  /// The fewest operations in flight to one rank with which a stream is about as fast as it gets.
  std::optional<uint32_t> in_flight;
  std::optional<Parameter> check_s;  ///< comparing an access with puts in flight
};

Section bulk_section();

}  // namespace stripline::model
