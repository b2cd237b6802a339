#include "optimizer/targets/collectives.h"

namespace stripline::targets {

std::string_view to_string(Collective collective) {
  switch (collective) {
    case Collective::allgather:
      return "allgather";
    case Collective::allgatherv:
      return "allgatherv";
    case Collective::allreduce:
      return "allreduce";
    case Collective::alltoall:
      return "alltoall";
    case Collective::alltoallv:
      return "alltoallv";
    case Collective::barrier:
      return "barrier";
    case Collective::bcast:
      return "bcast";
    case Collective::exscan:
      return "exscan";
    case Collective::gather:
      return "gather";
    case Collective::reduce:
      return "reduce";
    case Collective::reduce_scatter:
      return "reduce_scatter";
    case Collective::reduce_scatter_block:
      return "reduce_scatter_block";
    case Collective::scan:
      return "scan";
    case Collective::scatter:
      return "scatter";
  }
  return "allreduce";
}

std::optional<Collective> collective_from_string(std::string_view name) {
  for (const Collective collective : kCollectives) {
    if (to_string(collective) == name) return collective;
  }
  return std::nullopt;
}

bool ranks_may_see_other_sizes(Collective collective) {
  return collective == Collective::gather || collective == Collective::scatter;
}

bool has_operation(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
    case Collective::exscan:
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_block:
    case Collective::scan:
      return true;
    default:
      return false;
  }
}

}  // namespace stripline::targets
