// The nodes that are at the same switches, derived from the latencies between them. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stripline::suites {

/// Seconds from every node to every other one, each direction measured by the node where it begins.
class Latencies {
 public:
  explicit Latencies(size_t nodes) : nodes_(nodes), seconds_(nodes * nodes) {}

  size_t nodes() const { return nodes_; }
  double& operator()(size_t from, size_t to) { return seconds_[from * nodes_ + to]; }
  /// The faster one of both directions: what disturbs a measurement makes it longer.
  double between(size_t a, size_t b) const;
  /// The median of the difference of both directions, as a part of the faster one: about as much is
  /// chance.
  double noise() const;
  /// By the node that they begin at.
  std::span<double> all() { return seconds_; }

 private:
  size_t nodes_;
  std::vector<double> seconds_;
};

struct SwitchTree {
  /// The switches above each node, from the uppermost down, joined by dots, as STRIPLINE_SWITCHES
  /// has them. As many for every node. Numbered: "0.2.1".
  std::vector<std::string> switches;
  /// By distance (fabric::distance()): the smallest and the largest latency at it, in seconds.
  struct Level {
    double least_s = 0;
    double most_s = 0;
    size_t pairs = 0;
  };
  std::vector<Level> levels;
  double noise = 0;  ///< Latencies::noise()
};

/// The tree of switches that latencies follow from: nodes of one switch are as far from each other
/// as from any other node at that switch, and nearer than all those beyond it. Groups of nodes are
/// joined in the order of their mean latencies (average linkage), so that a few long ones change
/// nothing; levels are distinguished where these rise by more than chance does, and by at least
/// `kLeastStep`. failed_precondition if there is no such tree, or none to be seen: latencies differ
/// by chance more than switches tell them apart, or too many pairs of a level have other latencies
/// than it.
Result<SwitchTree> switch_tree(const Latencies& latencies);

/// A hop over one more switch takes so much of a latency, at least.
inline constexpr double kLeastStep = 0.02;

/// Where both directions differ by more than this, switches are not distinguished.
inline constexpr double kMostNoise = 0.04;

/// The latencies of a level are so near their median.
inline constexpr double kLevelWidth = 0.1;

/// The partner of a node in one of `rounds_of_pairs(nodes)` rounds, in which every node meets
/// every other one once; `nodes`: it has none. `node` is below `nodes`, the round below the rounds.
size_t partner_in_round(size_t nodes, size_t round, size_t node);
size_t rounds_of_pairs(size_t nodes);

}  // namespace stripline::suites
