// What updates of other ranks' memory cost the processors: the section `update` of the tuned model
// (docs/model-file.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// One update of eight bytes at random among memory of this many bytes: buffers, a table, or cells.
struct UpdatePoint {
  uint64_t span_bytes = 0;
  Parameter append_s;  ///< written to the end of one of many buffers
  Parameter merge_s;   ///< into a table of cells, where it mostly finds an update of the same cell
  Parameter apply_s;   ///< from a message to its cell
  /// Into that table, where it finds none; absent: as if it found one.
  std::optional<Parameter> miss_s{};
};

struct UpdateModel {
  std::vector<UpdatePoint> items;  ///< by span, ascending; at least one
  /// One atomic operation of a stream, by the fabric and by active message.
  std::optional<Parameter> provider_s;
  std::optional<Parameter> message_s;
  std::optional<Parameter> minimum_gain;  ///< by which another method must be faster than buffers
};

Section update_section();

}  // namespace stripline::model
