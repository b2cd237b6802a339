// The algorithm that a collective operation takes: the section `collective` of the tuned model
// (docs/model-file.md). The algorithms themselves are in optimizer/model/collective.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/model/collective.h"
#include "optimizer/model/parameter.h"

namespace stripline::model {

struct Section;

/// The algorithm that a collective operation takes, for this many ranks and bytes in
/// [from_bytes, to_bytes), counted as in CollectiveRequest.
struct CollectiveRule {
  CollectiveOperation operation = CollectiveOperation::broadcast;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::binomial;
  uint32_t min_ranks = 0;
  uint32_t max_ranks = 0;  ///< included
  uint64_t from_bytes = 0;
  uint64_t to_bytes = 0;
  uint64_t bytes = 0;  ///< the size that was measured, which lies in the range
  Parameter time_s;    ///< of the operation at that size, until the last rank has its result
  /// By how much less than the default's time; absent where the default is taken.
  std::optional<Parameter> gain;
};

/// No two rules of an operation hold for the same number of ranks and bytes.
struct CollectiveModel {
  std::vector<CollectiveRule> rules;
};

Section collective_section();

}  // namespace stripline::model
