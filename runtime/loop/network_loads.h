// How far the other ranks of a job are, where a model knows what that costs.
#pragma once

#include <cstdint>
#include <vector>

#include "optimizer/cost/load_costs.h"
#include "runtime/rma/context_state.h"

namespace stripline::detail {

class NetworkLoads {
 public:
  /// Empty without service levels in the model, in a job of one node, where the program does not
  /// want estimates (Options::load_estimation), and where the model counts switches that are not
  /// known of all ranks.
  explicit NetworkLoads(const ContextState& context);

  bool empty() const { return distance_.empty(); }

  /// The load that a loop begins with, before its ranks are added.
  cost::NetworkLoad begin() const { return {.nodes = nodes_, .at_distance = {}}; }
  /// Counts a rank of another node.
  void add(cost::NetworkLoad& load, rank_t rank) const {
    if (distance_[rank] != kSameNode) load.add(distance_[rank]);
  }

 private:
  static constexpr uint8_t kSameNode = 255;

  uint32_t nodes_ = 1;
  std::vector<uint8_t> distance_;  // by rank
};

}  // namespace stripline::detail
