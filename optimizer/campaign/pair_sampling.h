// The pairs of nodes that the runs of a campaign take. A cluster has too many to measure all: a few
// are sampled, as many from near ones as from far ones, so that what is learnt of the network holds
// for all distances at the cost of a few runs, however many nodes there are (stratified sampling:
// Cochran, Sampling Techniques, chapter 5). Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stripline::campaign {

/// Where a node is in the network.
struct NodePlace {
  std::string node;
  /// The switches above it, from the uppermost down, joined by dots; empty: no one knows.
  std::string switches;
};

using NodePair = std::pair<std::string, std::string>;

class NetworkPlaces {
 public:
  /// Nodes in an order that neighbours have in common, such as that of their names: where the
  /// switches of one are not known, distances are those of a tree of switches of 2, 4, 8 ... nodes
  /// in this order.
  explicit NetworkPlaces(const std::vector<NodePlace>& nodes);

  /// Levels of the network between two of them: 0 below the same switch. Nullopt for one that it
  /// does not know.
  std::optional<uint32_t> distance(const std::string& one, const std::string& other) const;

  /// How many pairs there are of each distance.
  std::map<uint32_t, uint64_t> pairs() const;

  /// Distances are those of switches.
  bool by_switches() const { return by_switches_; }

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;  // by node, equally long
  size_t depth_ = 0;
  bool by_switches_ = false;
};

/// The next pair: the first of the candidates with that one behind it whose distance the fewest of
/// the earlier pairs have. `candidates` are in the order in which a run prefers them, two or more
/// of those in `places`.
NodePair next_pair(const NetworkPlaces& places, const std::vector<std::string>& candidates,
                   const std::vector<NodePair>& earlier);

/// How many of `runs` runs take a pair of each distance.
std::map<uint32_t, uint32_t> runs_by_distance(const NetworkPlaces& places, uint32_t runs);

}  // namespace stripline::campaign
