#include "optimizer/plan/collective.h"

namespace stripline::plan {

using Algorithm = model::CollectiveAlgorithm;
using Operation = model::CollectiveOperation;

Algorithm default_collective(const CollectiveRequest& request,
                             const CollectiveDefaults& defaults) noexcept {
  const bool whole = request.bytes <= defaults.whole_bytes || request.ranks <= 2;
  switch (request.operation) {
    case Operation::broadcast:
      return whole ? Algorithm::binomial : Algorithm::scatter_allgather;
    case Operation::reduce:
      return whole ? Algorithm::binomial : Algorithm::reduce_scatter_gather;
    case Operation::allreduce:
      if (request.bytes > defaults.whole_bytes) return Algorithm::reduce_scatter_allgather;
      return request.bytes <= defaults.in_order_bytes && request.ranks <= defaults.in_order_ranks
                 ? Algorithm::in_order
                 : Algorithm::recursive_doubling;
    case Operation::gather:
      return request.bytes <= defaults.gather_tree_bytes ? Algorithm::binomial : Algorithm::direct;
    case Operation::allgather:
      return request.bytes <= defaults.allgather_bruck_bytes / request.ranks ? Algorithm::bruck
                                                                             : Algorithm::ring;
    case Operation::all_to_all:
      if (request.bytes <= defaults.all_to_all_bruck_bytes &&
          request.ranks >= defaults.bruck_ranks) {
        return Algorithm::bruck;
      }
      return request.bytes <= defaults.all_to_all_direct_bytes ? Algorithm::direct
                                                               : Algorithm::pairwise;
    case Operation::all_to_allv:
      return Algorithm::direct;
    case Operation::scan:
      return request.ranks <= 2 ? Algorithm::linear : Algorithm::recursive_doubling;
  }
  return Algorithm::binomial;
}

}  // namespace stripline::plan
