// How many times as long as alone a byte takes in a network that many nodes use at once: the load
// estimation of Iancu et al. (section 6.2), compiled from measured service levels.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "optimizer/cost/octave_table.h"
#include "optimizer/model/sections/service_levels.h"

namespace stripline::cost {

/// The nodes that communicate while an operation is in flight: all nodes, each as this one does.
struct NetworkLoad {
  uint32_t nodes = 1;  ///< 1: nothing is known, or no one else communicates
  /// How many of the operations go so far: in any unit, since only the shares count.
  std::array<uint16_t, model::kDistances> at_distance{};

  /// Counts one more operation. The count of a distance stops at 65535.
  void add(uint32_t distance) {
    uint16_t& count = at_distance[distance < model::kDistances ? distance : model::kDistances - 1];
    if (count < std::numeric_limits<uint16_t>::max()) ++count;
  }
  bool operator==(const NetworkLoad&) const = default;
};

/// Immutable; safe to share between threads.
class LoadCosts {
 public:
  /// Every load counts as none.
  LoadCosts() = default;
  /// `levels` of one operation, valid (model/validate.h).
  explicit LoadCosts(const std::vector<model::ServiceLevel>& levels);

  bool empty() const { return sets_.empty(); }

  /// The mean over the distances of what a node is served there, 1 at least. The shortest distance
  /// counts with the best service, others with the worst: as in the paper, where those who share
  /// links wait for the last of them. Of the numbers of nodes that were measured the next larger
  /// one holds, or the largest. A distance that was not measured counts as the next shorter one.
  double slowdown(const NetworkLoad& load, uint64_t bytes) const {
    if (sets_.empty() || load.nodes < 2) return 1;
    const Set& set = set_for(load.nodes);
    double sum = 0;
    uint32_t weight = 0;
    for (size_t distance = 0; distance < model::kDistances; ++distance) {
      const uint32_t share = load.at_distance[distance];
      if (share == 0) continue;
      sum += share * set.at_distance[distance].at(bytes);
      weight += share;
    }
    return weight == 0 ? 1 : sum / weight;
  }

 private:
  struct Set {
    uint32_t nodes = 0;
    std::array<OctaveTable, model::kDistances> at_distance;
  };
  const Set& set_for(uint32_t nodes) const {
    size_t i = 0;
    while (i + 1 < sets_.size() && sets_[i].nodes < nodes) ++i;
    return sets_[i];
  }

  std::vector<Set> sets_;  // by nodes, ascending
};

}  // namespace stripline::cost
