#include "optimizer/model/collective.h"

#include <algorithm>
#include <array>

namespace stripline::model {
namespace {

using Algorithm = CollectiveAlgorithm;

constexpr std::array kBroadcast = {Algorithm::binomial, Algorithm::scatter_allgather};
constexpr std::array kReduce = {Algorithm::binomial, Algorithm::reduce_scatter_gather};
constexpr std::array kAllreduce = {Algorithm::in_order, Algorithm::recursive_doubling,
                                   Algorithm::reduce_scatter_allgather};
constexpr std::array kGather = {Algorithm::direct, Algorithm::binomial};
constexpr std::array kAllgather = {Algorithm::ring, Algorithm::bruck};
constexpr std::array kAllToAll = {Algorithm::pairwise, Algorithm::direct, Algorithm::bruck};
constexpr std::array kAllToAllV = {Algorithm::pairwise, Algorithm::direct};
constexpr std::array kScan = {Algorithm::linear, Algorithm::recursive_doubling};

constexpr std::array<std::string_view, kCollectiveOperations> kOperationNames = {
    "broadcast", "reduce", "allreduce", "gather", "allgather", "all_to_all", "all_to_allv", "scan"};
constexpr std::array<std::string_view, kCollectiveAlgorithms> kAlgorithmNames = {
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
  }
  return {};
}

bool has_algorithm(CollectiveOperation operation, Algorithm algorithm) {
  const auto all = algorithms_of(operation);
  return std::find(all.begin(), all.end(), algorithm) != all.end();
}

Algorithm default_collective(const CollectiveRequest& request,
                             const CollectiveDefaults& defaults) noexcept {
  const bool whole = request.bytes <= defaults.whole_bytes || request.ranks <= 2;
  switch (request.operation) {
    case CollectiveOperation::broadcast:
      return whole ? Algorithm::binomial : Algorithm::scatter_allgather;
    case CollectiveOperation::reduce:
      return whole ? Algorithm::binomial : Algorithm::reduce_scatter_gather;
    case CollectiveOperation::allreduce:
      if (request.bytes > defaults.whole_bytes) return Algorithm::reduce_scatter_allgather;
      return request.bytes <= defaults.in_order_bytes && request.ranks <= defaults.in_order_ranks
                 ? Algorithm::in_order
                 : Algorithm::recursive_doubling;
    case CollectiveOperation::gather:
      return request.bytes <= defaults.gather_tree_bytes ? Algorithm::binomial : Algorithm::direct;
    case CollectiveOperation::allgather:
      return request.bytes <= defaults.allgather_bruck_bytes / request.ranks ? Algorithm::bruck
                                                                             : Algorithm::ring;
    case CollectiveOperation::all_to_all:
      if (request.bytes <= defaults.all_to_all_bruck_bytes &&
          request.ranks >= defaults.bruck_ranks) {
        return Algorithm::bruck;
      }
      return request.bytes <= defaults.all_to_all_direct_bytes ? Algorithm::direct
                                                               : Algorithm::pairwise;
    case CollectiveOperation::all_to_allv:
      return Algorithm::direct;
    case CollectiveOperation::scan:
      return request.ranks <= 2 ? Algorithm::linear : Algorithm::recursive_doubling;
  }
  return Algorithm::binomial;
}

std::string_view to_string(CollectiveOperation operation) {
  return kOperationNames[static_cast<size_t>(operation)];
}

std::string_view to_string(Algorithm algorithm) {
  return kAlgorithmNames[static_cast<size_t>(algorithm)];
}

std::optional<CollectiveOperation> collective_operation_from(std::string_view name) {
  return find_name<CollectiveOperation>(kOperationNames, name);
}

std::optional<Algorithm> collective_algorithm_from(std::string_view name) {
  return find_name<Algorithm>(kAlgorithmNames, name);
}

}  // namespace stripline::model
