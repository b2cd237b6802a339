#include "runtime/loop/network_loads.h"

#include <algorithm>
#include <utility>

#include "runtime/fabric/fabric.h"

namespace stripline::detail {

NetworkLoads::NetworkLoads(const ContextState& context) {
  if (context.model == nullptr || !context.model->service_levels ||
      !context.options.load_estimation) {
    return;
  }
  const model::DistanceScale scale = context.model->service_levels->scale;
  const fabric::NetworkPlace mine = context.fabric->place(context.rank);
  std::vector<uint8_t> distances(context.ranks);
  uint32_t last_node = 0;
  for (rank_t rank = 0; rank < context.ranks; ++rank) {
    const fabric::NetworkPlace place = context.fabric->place(rank);
    last_node = std::max(last_node, place.node);
    const auto distance = fabric::distance(mine, place, scale);
    if (!distance) return;
    distances[rank] = place.node == mine.node ? kSameNode : static_cast<uint8_t>(*distance);
  }
  if (last_node == 0) return;
  nodes_ = last_node + 1;
  distance_ = std::move(distances);
}

}  // namespace stripline::detail
