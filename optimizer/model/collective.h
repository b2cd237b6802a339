// The collective operations, the algorithms that the runtime has for each, and which one it takes
// where no model tells.
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

struct CollectiveRequest {
  CollectiveOperation operation = CollectiveOperation::broadcast;
  uint32_t ranks = 1;  ///< at least 1
  /// Bytes of the data (broadcast), of a rank's vector (reductions, scan) or of one rank's block
  /// (the others). Of an all_to_allv, the mean block that this rank sends: its algorithms differ in
  /// the order of the same messages, so that each rank may choose for itself.
  uint64_t bytes = 0;
  /// All ranks reach one another through the memory of one node.
  bool in_node = false;
  /// Some ranks share their cores with others.
  bool crowded = false;
};

/// The choice without a model follows the sizes at which the literature changes from few messages
/// to few bytes (Thakur, Rabenseifner and Gropp 2005, sections 4 and 5; Bruck et al. 1997), for
/// networks on which a message costs as much as some tens of kilobytes.
struct CollectiveDefaults {
  /// Larger messages are cut into blocks by broadcast and reduce of 3 ranks and more, and by
  /// allreduce.
  uint64_t whole_bytes = uint64_t{64} << 10;
  /// Up to here, vectors of at most `in_order_ranks` ranks are allreduced by everybody.
  uint64_t in_order_bytes = 4096;
  uint32_t in_order_ranks = 4;
  /// Larger blocks are gathered directly.
  uint64_t gather_tree_bytes = 2048;
  /// Bruck's allgather up to this many bytes of result.
  uint64_t allgather_bruck_bytes = uint64_t{64} << 10;
  /// Bruck's all-to-all for blocks up to this many bytes, of at least `bruck_ranks` ranks.
  uint64_t all_to_all_bruck_bytes = 256;
  uint32_t bruck_ranks = 8;
  /// Larger blocks are exchanged with one partner at a time.
  uint64_t all_to_all_direct_bytes = uint64_t{64} << 10;
  /// Up to this many ranks of one node, or of which some share cores, send each message straight to
  /// where it is needed. For more, one rank's n - 1 messages outweigh the rounds of a tree.
  uint32_t few_ranks = 8;
};

/// The algorithm for a request, one of algorithms_of(). Pure, allocates nothing.
CollectiveAlgorithm default_collective(const CollectiveRequest& request,
                                       const CollectiveDefaults& defaults = {}) noexcept;

/// Names as they stand in model files.
std::string_view to_string(CollectiveOperation operation);
std::string_view to_string(CollectiveAlgorithm algorithm);
std::optional<CollectiveOperation> collective_operation_from(std::string_view name);
std::optional<CollectiveAlgorithm> collective_algorithm_from(std::string_view name);

}  // namespace stripline::model
