#include "optimizer/model/collective.h"

#include <algorithm>

namespace stripline::model {
namespace {

using Algorithm = CollectiveAlgorithm;

constexpr std::array kBroadcast = {Algorithm::binomial, Algorithm::scatter_allgather,
                                   Algorithm::direct};
constexpr std::array kReduce = {Algorithm::binomial, Algorithm::reduce_scatter_gather,
                                Algorithm::direct};
constexpr std::array kAllreduce = {Algorithm::in_order, Algorithm::recursive_doubling,
                                   Algorithm::reduce_scatter_allgather, Algorithm::direct,
                                   Algorithm::linear};
constexpr std::array kGather = {Algorithm::direct, Algorithm::binomial};
constexpr std::array kAllgather = {Algorithm::ring, Algorithm::bruck, Algorithm::direct,
                                   Algorithm::linear};
constexpr std::array kAllToAll = {Algorithm::pairwise, Algorithm::direct, Algorithm::bruck};
constexpr std::array kAllToAllV = {Algorithm::pairwise, Algorithm::direct};
constexpr std::array kDirectOrRing = {Algorithm::direct, Algorithm::ring};
constexpr std::array kScan = {Algorithm::linear, Algorithm::recursive_doubling, Algorithm::direct};

// Up to here, vectors of at most kInOrderRanks ranks are allreduced by everybody.
constexpr uint64_t kInOrderBytes = 4096;
constexpr uint32_t kInOrderRanks = 4;
// Larger blocks are gathered directly.
constexpr uint64_t kGatherTreeBytes = 2048;
// Bruck's allgather up to this many bytes of result.
constexpr uint64_t kAllgatherBruckBytes = uint64_t{64} << 10;
// Bruck's all-to-all for blocks up to this many bytes, of at least kBruckRanks ranks.
constexpr uint64_t kAllToAllBruckBytes = 256;
constexpr uint32_t kBruckRanks = 8;
// Larger blocks are exchanged with one partner at a time.
constexpr uint64_t kAllToAllDirectBytes = uint64_t{64} << 10;
// Up to this many ranks of one node, or of which some share cores, send each message straight to
// where it is needed. For more, one rank's n - 1 messages outweigh the rounds of a tree.
constexpr uint32_t kFewRanks = 8;

template <typename Enum, size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::span<const Algorithm> algorithms_of(CollectiveOperation operation) {
  switch (operation) {
    case CollectiveOperation::broadcast:
      return kBroadcast;
    case CollectiveOperation::reduce:
      return kReduce;
    case CollectiveOperation::allreduce:
      return kAllreduce;
    case CollectiveOperation::gather:
      return kGather;
    case CollectiveOperation::allgather:
      return kAllgather;
    case CollectiveOperation::all_to_all:
      return kAllToAll;
    case CollectiveOperation::all_to_allv:
      return kAllToAllV;
    case CollectiveOperation::scan:
      return kScan;
    case CollectiveOperation::allgatherv:
    case CollectiveOperation::reduce_scatter:
      return kDirectOrRing;
  }
  return {};
}

bool has_algorithm(CollectiveOperation operation, Algorithm algorithm) {
  const auto all = algorithms_of(operation);
  return std::find(all.begin(), all.end(), algorithm) != all.end();
}

namespace {

// For few ranks in the memory of one node: a message is cheap there, and a round is not, because it
// waits for the slowest rank, or for the scheduler. Nothing: as between nodes.
std::optional<Algorithm> in_node(const CollectiveRequest& request) noexcept {
  if (request.ranks == 2 && request.operation != CollectiveOperation::allgather) {
    return std::nullopt;
  }
  const bool small = request.bytes <= kInOrderBytes;
  switch (request.operation) {
    case CollectiveOperation::broadcast:
    case CollectiveOperation::gather:
    case CollectiveOperation::allgather:
    case CollectiveOperation::all_to_all:
      return Algorithm::direct;
    case CollectiveOperation::reduce:
    case CollectiveOperation::allreduce:
    case CollectiveOperation::scan:
      // A rank that combines many long vectors keeps the others waiting.
      return small ? std::optional(Algorithm::direct) : std::nullopt;
    case CollectiveOperation::all_to_allv:
    case CollectiveOperation::allgatherv:
    case CollectiveOperation::reduce_scatter:
      return std::nullopt;
  }
  return std::nullopt;
}

// For few ranks that share cores: what counts is the sum of all messages, and how often a rank
// waits for one that does not run.
std::optional<Algorithm> crowded(const CollectiveRequest& request) noexcept {
  const bool whole = request.bytes <= kWholeCollectiveBytes;
  switch (request.operation) {
    case CollectiveOperation::broadcast:
    case CollectiveOperation::reduce:
      return whole ? std::optional(Algorithm::direct) : std::nullopt;
    case CollectiveOperation::allreduce:
      return whole ? std::optional(Algorithm::linear) : std::nullopt;
    case CollectiveOperation::gather:
      return Algorithm::direct;
    case CollectiveOperation::allgather:
      return request.bytes <= kInOrderBytes ? Algorithm::linear : Algorithm::direct;
    case CollectiveOperation::scan:
      return Algorithm::linear;
    case CollectiveOperation::all_to_all:
      return request.bytes <= kGatherTreeBytes ? std::optional(Algorithm::bruck) : std::nullopt;
    case CollectiveOperation::all_to_allv:
    case CollectiveOperation::allgatherv:
    case CollectiveOperation::reduce_scatter:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Algorithm default_collective(const CollectiveRequest& request) noexcept {
  if (request.ranks > 1 && request.ranks <= kFewRanks) {
    if (request.in_node) {
      if (const auto chosen = in_node(request)) return *chosen;
    }
    if (request.crowded && request.ranks > 2) {
      if (const auto chosen = crowded(request)) return *chosen;
    }
  }
  const bool whole = request.bytes <= kWholeCollectiveBytes || request.ranks <= 2;
  switch (request.operation) {
    case CollectiveOperation::broadcast:
      return whole ? Algorithm::binomial : Algorithm::scatter_allgather;
    case CollectiveOperation::reduce:
      return whole ? Algorithm::binomial : Algorithm::reduce_scatter_gather;
    case CollectiveOperation::allreduce:
      if (request.bytes > kWholeCollectiveBytes) return Algorithm::reduce_scatter_allgather;
      return request.bytes <= kInOrderBytes && request.ranks <= kInOrderRanks
                 ? Algorithm::in_order
                 : Algorithm::recursive_doubling;
    case CollectiveOperation::gather:
      return request.bytes <= kGatherTreeBytes ? Algorithm::binomial : Algorithm::direct;
    case CollectiveOperation::allgather:
      return request.bytes <= kAllgatherBruckBytes / request.ranks ? Algorithm::bruck
                                                                   : Algorithm::ring;
    case CollectiveOperation::all_to_all:
      if (request.bytes <= kAllToAllBruckBytes && request.ranks >= kBruckRanks) {
        return Algorithm::bruck;
      }
      return request.bytes <= kAllToAllDirectBytes ? Algorithm::direct : Algorithm::pairwise;
    case CollectiveOperation::all_to_allv:
      return Algorithm::direct;
    case CollectiveOperation::scan:
      return request.ranks <= 2 ? Algorithm::linear : Algorithm::recursive_doubling;
    case CollectiveOperation::allgatherv:
    case CollectiveOperation::reduce_scatter:
      // All messages at once, until they are long enough for the fewer waits of the ring to
      // outweigh its rounds.
      return request.bytes <= kWholeCollectiveBytes / request.ranks ? Algorithm::direct
                                                                    : Algorithm::ring;
  }
  return Algorithm::binomial;
}

std::string_view to_string(CollectiveOperation operation) {
  return kCollectiveOperationNames[static_cast<size_t>(operation)];
}

std::string_view to_string(Algorithm algorithm) {
  return kCollectiveAlgorithmNames[static_cast<size_t>(algorithm)];
}

std::optional<CollectiveOperation> collective_operation_from(std::string_view name) {
  return find_name<CollectiveOperation>(kCollectiveOperationNames, name);
}

std::optional<Algorithm> collective_algorithm_from(std::string_view name) {
  return find_name<Algorithm>(kCollectiveAlgorithmNames, name);
}

}  // namespace stripline::model
