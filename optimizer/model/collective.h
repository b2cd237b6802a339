// The collective operations, the algorithms that the runtime has for each, and which one it takes
// where no model tells.
#pragma once

#include <array>
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
  allgatherv,
  reduce_scatter,
};
inline constexpr size_t kCollectiveOperations = 10;
/// Names as they stand in model files.
inline constexpr std::array<std::string_view, kCollectiveOperations> kCollectiveOperationNames = {
    "broadcast",  "reduce",      "allreduce", "gather",     "allgather",
    "all_to_all", "all_to_allv", "scan",      "allgatherv", "reduce_scatter"};
constexpr std::span<const std::string_view> names_of(CollectiveOperation) {
  return kCollectiveOperationNames;
}

/// How an operation is carried out. Not every operation has every algorithm: algorithms_of().
enum class CollectiveAlgorithm : uint8_t {
  automatic,                 ///< the planner chooses
  binomial,                  ///< a tree of whole messages: broadcast, reduce, gather, scatter
  scatter_allgather,         ///< blocks down a tree, then around a ring: broadcast
  reduce_scatter_gather,     ///< blocks reduced around a ring, then collected at the root: reduce
  recursive_doubling,        ///< distances 1, 2, 4, ...: allreduce, scans
  reduce_scatter_allgather,  ///< blocks reduced around a ring, then passed around it: allreduce
  in_order,                  ///< all get every contribution and combine them by rank: allreduce
  ring,      ///< to the next rank, n - 1 times: allgather, allgatherv, reduce_scatter
  bruck,     ///< distances 1, 2, 4, ... with messages of several blocks: allgather, all_to_all
  pairwise,  ///< one partner at a time: all_to_all
  direct,    ///< every message straight to where it is needed: all of them
  linear,    ///< from rank to rank, or through rank 0: scans, allreduce, allgather
};
inline constexpr size_t kCollectiveAlgorithms = 12;
inline constexpr std::array<std::string_view, kCollectiveAlgorithms> kCollectiveAlgorithmNames = {
    "automatic",
    "binomial",
    "scatter_allgather",
    "reduce_scatter_gather",
    "recursive_doubling",
    "reduce_scatter_allgather",
    "in_order",
    "ring",
    "bruck",
    "pairwise",
    "direct",
    "linear"};

/// The algorithms of an operation; the first one is what a simple implementation would do.
std::span<const CollectiveAlgorithm> algorithms_of(CollectiveOperation operation);
bool has_algorithm(CollectiveOperation operation, CollectiveAlgorithm algorithm);

struct CollectiveRequest {
  CollectiveOperation operation = CollectiveOperation::broadcast;
  uint32_t ranks = 1;  ///< at least 1
  /// Bytes of the data (broadcast), of a rank's vector (reductions, scan) or of one rank's block
  /// (the others). Of an all_to_allv, the mean block that this rank sends: its algorithms differ in
  /// the order of the same messages, so that each rank may choose for itself; of an allgatherv, the
  /// mean block of all ranks.
  uint64_t bytes = 0;
  /// All ranks reach one another through the memory of one node.
  bool in_node = false;
  /// Some ranks share their cores with others.
  bool crowded = false;
};

/// The algorithm for a request, one of algorithms_of(). Pure, allocates nothing.
/// It follows the sizes at which the literature changes from few messages to few bytes (Thakur,
/// Rabenseifner and Gropp 2005, sections 4 and 5; Bruck et al. 1997), for networks on which a
/// message costs as much as some tens of kilobytes.
CollectiveAlgorithm default_collective(const CollectiveRequest& request) noexcept;
/// Larger messages are cut into blocks by that, of broadcast and reduce of 3 ranks and more, and of
/// allreduce.
inline constexpr uint64_t kWholeCollectiveBytes = uint64_t{64} << 10;

std::string_view to_string(CollectiveOperation operation);
std::string_view to_string(CollectiveAlgorithm algorithm);
std::optional<CollectiveOperation> collective_operation_from(std::string_view name);
std::optional<CollectiveAlgorithm> collective_algorithm_from(std::string_view name);

}  // namespace stripline::model
