// The collective operations and the algorithms that the runtime has for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace stripline::model {

enum class CollectiveOperation : uint8_t {
  broadcast,
  reduce,
  allreduce,
  gather,
  allgather,
  all_to_all,
  all_to_allv,
  scan,  ///< inclusive and exclusive
};
inline constexpr size_t kCollectiveOperations = 8;

/// How an operation is carried out. Not every operation has every algorithm: algorithms_of().
enum class CollectiveAlgorithm : uint8_t {
  automatic,                 ///< the planner chooses
  binomial,                  ///< a tree of whole messages
  scatter_allgather,         ///< blocks down a tree, then around a ring
  reduce_scatter_gather,     ///< blocks reduced around a ring, then collected at the root
  recursive_doubling,        ///< distances 1, 2, 4, ...
  reduce_scatter_allgather,  ///< blocks reduced around a ring, then passed around it
  in_order,                  ///< everybody gets every contribution and combines them by rank
  ring,                      ///< to the next rank, n - 1 times
  bruck,                     ///< distances 1, 2, 4, ... with messages that hold several blocks
  pairwise,                  ///< one partner at a time
  direct,                    ///< every message at once, as far as a bound allows
  linear,                    ///< from rank to rank
};
inline constexpr size_t kCollectiveAlgorithms = 12;

/// The algorithms of an operation; the first one is what a simple implementation would do.
std::span<const CollectiveAlgorithm> algorithms_of(CollectiveOperation operation);
bool has_algorithm(CollectiveOperation operation, CollectiveAlgorithm algorithm);

/// Names as they stand in model files.
std::string_view to_string(CollectiveOperation operation);
std::string_view to_string(CollectiveAlgorithm algorithm);
std::optional<CollectiveOperation> collective_operation_from(std::string_view name);
std::optional<CollectiveAlgorithm> collective_algorithm_from(std::string_view name);

}  // namespace stripline::model
