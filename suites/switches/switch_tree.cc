#include "suites/switches/switch_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "optimizer/model/sections/service_levels.h"
#include "suites/harness/table.h"

namespace stripline::suites {
namespace {

// Steps of latencies are at least this many times the noise.
constexpr double kNoises = 2.5;

// The part of the pairs of a level that may have another latency.
constexpr double kMostStrays = 0.05;

// Two groups of nodes come together, whose mean latency is this; by a node of each.
struct Link {
  size_t one = 0;
  size_t other = 0;
  double seconds = 0;
};

// The groups that come together until all nodes are one, in the order of latencies: average
// linkage by chains of nearest neighbours. A chain goes from a group to the nearest other one until
// two are nearest to each other; joining these leaves the nearest one of every other group as it
// is.
std::vector<Link> links_of_groups(const Latencies& latencies) {
  const size_t nodes = latencies.nodes();
  // Between groups, each by its first node.
  std::vector<double> seconds(nodes * nodes);
  for (size_t a = 0; a < nodes; ++a) {
    for (size_t b = 0; b < nodes; ++b) seconds[a * nodes + b] = latencies.between(a, b);
  }
  std::vector<double> size(nodes, 1);
  std::vector<size_t> groups(nodes);
  std::iota(groups.begin(), groups.end(), size_t{0});
  std::vector<Link> links;
  std::vector<size_t> chain;
  while (groups.size() > 1) {
    if (chain.empty()) chain.push_back(groups.front());
    const size_t last = chain.back();
    const size_t before = chain.size() > 1 ? chain[chain.size() - 2] : nodes;
    // The one before, where others are as near: chains end.
    size_t nearest = before;
    for (const size_t group : groups) {
      if (group == last) continue;
      if (nearest == nodes || seconds[last * nodes + group] < seconds[last * nodes + nearest]) {
        nearest = group;
      }
    }
    if (nearest != before) {
      chain.push_back(nearest);
      continue;
    }
    const auto [one, other] = std::minmax(last, before);
    links.push_back({one, other, seconds[one * nodes + other]});
    for (const size_t group : groups) {
      const double mean = (size[one] * seconds[one * nodes + group] +
                           size[other] * seconds[other * nodes + group]) /
                          (size[one] + size[other]);
      seconds[one * nodes + group] = seconds[group * nodes + one] = mean;
    }
    size[one] += size[other];
    std::erase(groups, other);
    chain.resize(chain.size() - 2);
  }
  std::ranges::sort(links, {}, &Link::seconds);
  return links;
}

struct Levels {
  std::vector<double> ends;  // latencies up to which nodes are at each distance but the largest
  bool all = true;           // no steps were left out for want of distances in models
};

// Where the latencies of links rise by a step.
Levels levels_of(const std::vector<Link>& links, double least_step) {
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
  // Where there are more distances than models have, the largest steps matter most.
  Levels levels;
  levels.all = rises.size() < model::kDistances;
  std::ranges::sort(rises, std::greater(), &Rise::factor);
  rises.resize(std::min<size_t>(rises.size(), model::kDistances - 1));
  for (const Rise& rise : rises) levels.ends.push_back(rise.end_s);
  std::ranges::sort(levels.ends);
  return levels;
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

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

constexpr const char* kAgain =
    "; measure again while no one else uses the network, with more repetitions";

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
  if (tree.noise > kMostNoise) {
    return Error(ErrorCode::failed_precondition,
                 "the latencies between the nodes tell nothing of switches: their two directions "
                 "differ by " +
                     percent(tree.noise) + ", more than " + percent(kMostNoise) + kAgain);
  }
  const std::vector<Link> links = links_of_groups(latencies);
  const double step = std::max(kLeastStep, kNoises * tree.noise);
  const Levels told = levels_of(links, step);
  const std::vector<double>& ends = told.ends;
  // The groups of each level but the uppermost, which joins all, from below.
  std::vector<std::vector<size_t>> group;
  for (const double end_s : ends) group.push_back(groups_within(links, end_s, nodes));

  std::vector<std::vector<double>> of_level(ends.size() + 1);
  for (size_t a = 0; a < nodes; ++a) {
    for (size_t b = 0; b < a; ++b) {
      size_t distance = 0;
      while (distance < ends.size() && group[distance][a] != group[distance][b]) ++distance;
      of_level[distance].push_back(latencies.between(a, b));
    }
  }
  for (size_t distance = 0; distance < of_level.size(); ++distance) {
    std::vector<double>& seconds = of_level[distance];
    std::ranges::sort(seconds);
    if (seconds.empty()) {
      tree.levels.emplace_back();
      continue;
    }
    tree.levels.push_back({seconds.front(), seconds.back(), seconds.size()});
    const double median_s = seconds[seconds.size() / 2];
    // Where there are more levels than distances, some are together.
    const double width = told.all ? 1 + std::max(kLevelWidth, step) : kNoEnd;
    const double begin_s = distance > 0 ? ends[distance - 1] : 0;
    const double end_s = distance < ends.size() ? ends[distance] : kNoEnd;
    const double least_s = std::max(median_s / width, begin_s);
    const double most_s = std::min(median_s * width, end_s);
    const auto strays = std::ranges::count_if(
        seconds, [&](double one_s) { return one_s < least_s || one_s > most_s; });
    if (static_cast<double>(strays) > kMostStrays * static_cast<double>(seconds.size())) {
      return Error(ErrorCode::failed_precondition,
                   "the latencies between the nodes are not those of a tree of switches: " +
                       std::to_string(strays) + " of " + std::to_string(seconds.size()) +
                       " pairs at distance " + std::to_string(distance) +
                       " are nearer or farther than its others, which are " +
                       with_unit(median_s, "s") + " from each other; all pairs at it are " +
                       with_unit(seconds.front(), "s") + " to " + with_unit(seconds.back(), "s") +
                       kAgain);
    }
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
  const size_t middle = circle;  // the last node, or none
  if (node == middle) {
    // The node that would be its own partner.
    for (size_t other = 0; other < circle; ++other) {
      if (2 * other % circle == round) return other;
    }
  }
  const size_t partner = (round + circle - node % circle) % circle;
  return partner == node ? middle : partner;
}

}  // namespace stripline::suites
