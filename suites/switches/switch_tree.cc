#include "suites/switches/switch_tree.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "optimizer/model/service_model.h"

namespace stripline::suites {
namespace {

// Steps of latencies are so many times what is chance.
constexpr double kNoises = 2.5;

// Of all pairs, those that may have a latency of another level.
constexpr double kMostStrays = 0.05;

// A link of the shortest tree that joins all nodes: the latency at which two groups of nodes, each
// with nearer links, come together.
struct Link {
  size_t one = 0;
  size_t other = 0;
  double seconds = 0;
};

// In the order of latencies (Prim's algorithm).
std::vector<Link> shortest_links(const Latencies& latencies) {
  const size_t nodes = latencies.nodes();
  std::vector<Link> links;
  std::vector<bool> joined(nodes, false);
  // How near each node is to those that are joined.
  std::vector<Link> nearest(nodes, {0, 0, std::numeric_limits<double>::infinity()});
  size_t last = 0;
  joined[last] = true;
  for (size_t count = 1; count < nodes; ++count) {
    size_t next = nodes;
    for (size_t node = 0; node < nodes; ++node) {
      if (joined[node]) continue;
      const double seconds = latencies.between(last, node);
      if (seconds < nearest[node].seconds) nearest[node] = {last, node, seconds};
      if (next == nodes || nearest[node].seconds < nearest[next].seconds) next = node;
    }
    links.push_back(nearest[next]);
    joined[next] = true;
    last = next;
  }
  std::ranges::sort(links, {}, &Link::seconds);
  return links;
}

// The latencies up to which nodes are at each distance but the largest: where the links' latencies
// rise by a step.
std::vector<double> ends_of_levels(const std::vector<Link>& links, double least_step) {
  struct Rise {
    double factor;
    double end_s;
  };
  std::vector<Rise> rises;
  for (size_t i = 1; i < links.size(); ++i) {
    const double factor = links[i].seconds / links[i - 1].seconds;
    if (factor >= 1 + least_step) {
      rises.push_back({factor, std::sqrt(links[i].seconds * links[i - 1].seconds)});
    }
  }
  // Distances beyond the last one count as that: the largest steps matter most.
  std::ranges::sort(rises, std::greater(), &Rise::factor);
  rises.resize(std::min<size_t>(rises.size(), model::kDistances - 1));
  std::vector<double> ends;
  for (const Rise& rise : rises) ends.push_back(rise.end_s);
  std::ranges::sort(ends);
  return ends;
}

// The groups in which nodes are no farther from each other than links up to `end_s`, by node;
// numbered in the order of their first nodes.
std::vector<size_t> groups_within(const std::vector<Link>& links, double end_s, size_t nodes) {
  std::vector<size_t> first(nodes);
  std::iota(first.begin(), first.end(), size_t{0});
  const auto find = [&](size_t node) {
    while (first[node] != node) node = first[node] = first[first[node]];
    return node;
  };
  for (const Link& link : links) {
    if (link.seconds > end_s) break;
    const auto [least, most] = std::minmax({find(link.one), find(link.other)});
    first[most] = least;
  }
  std::vector<size_t> group(nodes);
  for (size_t node = 0; node < nodes; ++node) group[node] = find(node);
  return group;
}

std::string in_microseconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g us", seconds * 1e6);
  return text.data();
}

}  // namespace

double Latencies::between(size_t a, size_t b) const {
  return std::min(seconds_[a * nodes_ + b], seconds_[b * nodes_ + a]);
}

double Latencies::noise() const {
  std::vector<double> differences;
  for (size_t a = 0; a < nodes_; ++a) {
    for (size_t b = 0; b < a; ++b) {
      differences.push_back(std::abs(seconds_[a * nodes_ + b] - seconds_[b * nodes_ + a]) /
                            between(a, b));
    }
  }
  if (differences.empty()) return 0;
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::ranges::nth_element(differences, middle);
  return *middle;
}

Result<SwitchTree> switch_tree(const Latencies& latencies) {
  const size_t nodes = latencies.nodes();
  SwitchTree tree;
  tree.noise = latencies.noise();
  const std::vector<Link> links = shortest_links(latencies);
  const std::vector<double> ends =
      ends_of_levels(links, std::max(kLeastStep, kNoises * tree.noise));
  // Of each level but the uppermost, which joins all, from below.
  std::vector<std::vector<size_t>> group;
  for (const double end_s : ends) group.push_back(groups_within(links, end_s, nodes));

  tree.levels.resize(ends.size() + 1);
  size_t strays = 0;
  for (size_t a = 0; a < nodes; ++a) {
    for (size_t b = 0; b < a; ++b) {
      const double seconds = latencies.between(a, b);
      size_t distance = 0;
      while (distance < ends.size() && group[distance][a] != group[distance][b]) ++distance;
      const auto by_itself =
          static_cast<size_t>(std::ranges::lower_bound(ends, seconds) - ends.begin());
      if (by_itself != distance) ++strays;
      SwitchTree::Level& level = tree.levels[distance];
      level.least_s = level.pairs == 0 ? seconds : std::min(level.least_s, seconds);
      level.most_s = std::max(level.most_s, seconds);
      ++level.pairs;
    }
  }
  const size_t pairs = nodes * (nodes - 1) / 2;
  if (static_cast<double>(strays) > kMostStrays * static_cast<double>(pairs)) {
    return Error(ErrorCode::failed_precondition,
                 "the latencies between the nodes are not those of a tree of switches: " +
                     std::to_string(strays) + " of " + std::to_string(pairs) +
                     " pairs are nearer or farther than their groups, of " +
                     in_microseconds(links.front().seconds) + " to " +
                     in_microseconds(links.back().seconds) +
                     "; measure again while nobody else uses the network, with more repetitions");
  }

  tree.switches.assign(nodes, "0");
  for (size_t level = ends.size(); level-- > 0;) {
    // Numbers within the switch above.
    std::vector<std::vector<size_t>> below(nodes);
    for (size_t node = 0; node < nodes; ++node) {
      const size_t above = level + 1 < ends.size() ? group[level + 1][node] : 0;
      std::vector<size_t>& numbers = below[above];
      auto place = std::ranges::find(numbers, group[level][node]);
      if (place == numbers.end()) place = numbers.insert(place, group[level][node]);
      tree.switches[node] += "." + std::to_string(place - numbers.begin());
    }
  }
  return tree;
}

// Nodes in a circle around one of them, or around an empty place; each round turns it by one.
size_t rounds_of_pairs(size_t nodes) {
  if (nodes < 2) return 0;
  return nodes % 2 == 0 ? nodes - 1 : nodes;
}

size_t partner_in_round(size_t nodes, size_t round, size_t node) {
  const size_t circle = rounds_of_pairs(nodes);
  if (circle == 0) return nodes;
  const size_t middle = circle;  // the last node, or nobody
  if (node == middle) {
    // Who would be its own partner.
    for (size_t other = 0; other < circle; ++other) {
      if (2 * other % circle == round) return other;
    }
  }
  const size_t partner = (round + circle - node % circle) % circle;
  return partner == node ? middle : partner;
}

}  // namespace stripline::suites
