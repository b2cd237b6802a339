#include "runtime/loop/network_loads.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "runtime/fabric/fabric.h"

namespace stripline::detail {

NetworkLoads::NetworkLoads(const ContextState& context) {
  if (context.job.model() == nullptr || !context.job.model()->service_levels ||
      !context.job.options().load_estimation) {
    return;
  }
  const model::DistanceScale scale = context.job.model()->service_levels->scale;
  const fabric::NetworkPlace mine = context.job.fabric().place(context.job.rank());
  std::vector<uint8_t> distances(context.job.ranks());
  uint32_t last_node = 0;
  for (rank_t rank = 0; rank < context.job.ranks(); ++rank) {
    const fabric::NetworkPlace place = context.job.fabric().place(rank);
    last_node = std::max(last_node, place.node);
    if (place.node == mine.node) {
      distances[rank] = kSameNode;
      continue;
    }
    const auto distance = fabric::distance(mine, place, scale);
    if (!distance) {
      if (context.job.rank() == 0) {
        std::fprintf(stderr,
                     "stripline: the tuned model counts switches between nodes, and those above "
                     "rank %u are not known (STRIPLINE_SWITCHES, STRIPLINE_SWITCHES_FILE), so "
                     "loops take the network for "
                     "one that no other rank uses\n",
                     mine.switches.empty() ? context.job.rank() : rank);
      }
      return;
    }
    distances[rank] = static_cast<uint8_t>(*distance);
  }
  if (last_node == 0) return;
  nodes_ = last_node + 1;
  distance_ = std::move(distances);
}

}  // namespace stripline::detail
