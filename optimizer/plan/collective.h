// Which algorithm carries out a collective operation.
//
// Without a model, the choice follows the sizes at which the literature changes from few messages
// to few bytes (Thakur, Rabenseifner and Gropp 2005, sections 4 and 5; Bruck et al. 1997),
// for networks on which a message costs as much as some tens of kilobytes.
#pragma once

#include <cstdint>

#include "optimizer/model/collective.h"

namespace stripline::plan {

struct CollectiveRequest {
  model::CollectiveOperation operation = model::CollectiveOperation::broadcast;
  uint32_t ranks = 1;  ///< at least 1
  /// Bytes of the data (broadcast), of a rank's vector (reductions, scan) or of one rank's block
  /// (gather, allgather, all_to_all). 0 for all_to_allv, whose blocks only their two ranks know.
  uint64_t bytes = 0;
};

/// The choice where no model tells.
struct CollectiveDefaults {
  /// Larger messages are cut into blocks by broadcast, reduce and allreduce of 3 ranks and more.
  uint64_t whole_bytes = uint64_t{64} << 10;
  /// Up to here, vectors of at most `in_order_ranks` ranks are allreduced by everybody.
  uint64_t in_order_bytes = 4096;
  uint32_t in_order_ranks = 4;
  /// Larger blocks are gathered directly.
  uint64_t gather_tree_bytes = 2048;
  /// Bruck's allgather up to so many bytes of result.
  uint64_t allgather_bruck_bytes = uint64_t{64} << 10;
  /// Bruck's all-to-all for blocks up to so many bytes, of at least `bruck_ranks` ranks.
  uint64_t all_to_all_bruck_bytes = 256;
  uint32_t bruck_ranks = 8;
  /// Larger blocks are exchanged with one partner at a time.
  uint64_t all_to_all_direct_bytes = uint64_t{64} << 10;
};

/// The algorithm for a request, one of model::algorithms_of(). Every rank that asks the same gets
/// the same. Pure, allocates nothing.
model::CollectiveAlgorithm default_collective(const CollectiveRequest& request,
                                              const CollectiveDefaults& defaults = {}) noexcept;

}  // namespace stripline::plan
