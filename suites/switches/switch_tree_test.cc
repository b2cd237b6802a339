#include "suites/switches/switch_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"
#include "runtime/fabric/network_place.h"

namespace stripline::suites {
namespace {

// Latencies of nodes below switches that join `reach[level]` of them each, in an order that tells
// nothing: those of a level, and up to `chance` more.
struct Cluster {
  Cluster(std::vector<size_t> reach, std::vector<double> level_s, double chance, uint32_t seed)
      : reach_(std::move(reach)), latencies(reach_.back()) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> more(1, 1 + chance);
    const size_t nodes = reach_.back();
    place.resize(nodes);
    for (size_t node = 0; node < nodes; ++node) place[node] = node;
    std::ranges::shuffle(place, random);
    for (size_t a = 0; a < nodes; ++a) {
      for (size_t b = 0; b < nodes; ++b) {
        latencies(a, b) = level_s[distance(a, b)] * more(random);
      }
    }
  }
  uint32_t distance(size_t a, size_t b) const {
    uint32_t level = 0;
    while (place[a] / reach_[level] != place[b] / reach_[level]) ++level;
    return level;
  }

 private:
  std::vector<size_t> reach_;
  std::vector<size_t> place;

 public:
  Latencies latencies;
};

uint32_t distance(const SwitchTree& tree, size_t a, size_t b) {
  return *fabric::distance({0, tree.switches[a]}, {1, tree.switches[b]},
                           model::DistanceScale::switches);
}

TEST(SwitchTree, FindsTheSwitchesThatLatenciesFollowFrom) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Cluster cluster({4, 16, 64}, {2e-6, 2.3e-6, 2.8e-6}, 0.02, seed);
    ASSERT_OK_AND_ASSIGN(const auto tree, switch_tree(cluster.latencies));
    ASSERT_EQ(tree.levels.size(), 3U);
    EXPECT_EQ(tree.levels[0].pairs, 16U * 6);
    EXPECT_GE(tree.levels[1].least_s, 2.3e-6);
    EXPECT_LE(tree.levels[1].most_s, 2.3e-6 * 1.02);
    for (size_t a = 0; a < 64; ++a) {
      for (size_t b = 0; b < a; ++b) {
        ASSERT_EQ(distance(tree, a, b), cluster.distance(a, b)) << a << ' ' << b;
      }
    }
  }
}

TEST(SwitchTree, NumbersSwitchesWithinThoseAbove) {
  Latencies latencies(5);
  for (size_t a = 0; a < 5; ++a) {
    for (size_t b = 0; b < 5; ++b) latencies(a, b) = a / 2 == b / 2 ? 1e-6 : 2e-6;
  }
  ASSERT_OK_AND_ASSIGN(const auto tree, switch_tree(latencies));
  EXPECT_EQ(tree.switches, (std::vector<std::string>{"0.0", "0.0", "0.1", "0.1", "0.2"}));
  EXPECT_EQ(tree.levels[0].pairs, 2U);
  EXPECT_EQ(tree.levels[1].pairs, 8U);
}

TEST(SwitchTree, TakesNodesForNeighboursWhereNothingTellsThemApart) {
  const Cluster cluster({24}, {2e-6}, 0.03, 7);
  ASSERT_OK_AND_ASSIGN(const auto tree, switch_tree(cluster.latencies));
  EXPECT_EQ(tree.levels.size(), 1U);
  EXPECT_EQ(tree.switches, std::vector<std::string>(24, "0"));
  // A step that chance explains, too.
  const Cluster noisy({4, 16}, {2e-6, 2.05e-6}, 0.1, 7);
  ASSERT_OK_AND_ASSIGN(const auto flat, switch_tree(noisy.latencies));
  EXPECT_EQ(flat.levels.size(), 1U);
}

TEST(SwitchTree, SaysThatChanceHidesIt) {
  for (const double chance : {0.2, 0.4, 0.8}) {
    const Cluster cluster({4, 16, 64}, {2e-6, 2.3e-6, 2.8e-6}, chance, 3);
    const auto tree = switch_tree(cluster.latencies);
    ASSERT_FALSE(tree.ok()) << chance;
    EXPECT_EQ(tree.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(tree.error().message().find("tell nothing of switches"), std::string::npos);
  }
}

// What disturbs a measurement makes it longer.
TEST(SwitchTree, IsNotMistakenForAFewLongLatencies) {
  Cluster cluster({16, 512}, {2e-6, 2.3e-6}, 0.02, 5);
  std::mt19937 random(5);
  std::uniform_int_distribution<size_t> any(0, 511);
  const auto set_some = [&](double seconds) {
    for (int i = 0; i < 100; ++i) {
      const size_t a = any(random);
      const size_t b = any(random);
      cluster.latencies(a, b) = cluster.latencies(b, a) = seconds;
    }
  };
  set_some(3e-6);
  ASSERT_OK_AND_ASSIGN(const auto tree, switch_tree(cluster.latencies));
  EXPECT_EQ(tree.levels.size(), 2U);
  for (size_t a = 0; a < 512; ++a) {
    for (size_t b = 0; b < a; ++b) {
      ASSERT_EQ(distance(tree, a, b), cluster.distance(a, b)) << a << ' ' << b;
    }
  }
  // Switches are not taken for one either of which some nodes seem near: less than a hundredth of
  // pairs.
  set_some(1.9e-6);
  EXPECT_FALSE(switch_tree(cluster.latencies).ok());
}

TEST(SwitchTree, HasNoMoreDistancesThanModels) {
  std::vector<size_t> reach;
  std::vector<double> level_s;
  for (size_t level = 0; level < 10; ++level) {
    reach.push_back(size_t{2} << level);
    level_s.push_back(1e-6 * std::pow(1.2 + 0.02 * static_cast<double>(level), level));
  }
  reach.resize(7);
  const Cluster shallow(reach, level_s, 0.01, 1);
  EXPECT_EQ(switch_tree(shallow.latencies)->levels.size(), 7U);
  reach.assign({2, 4, 8, 16, 32, 64, 128, 256, 512});
  const Cluster deep(reach, level_s, 0.01, 1);
  ASSERT_OK_AND_ASSIGN(const auto tree, switch_tree(deep.latencies));
  EXPECT_EQ(tree.levels.size(), size_t{model::kDistances});
}

// Nodes that are reached by hops over others.
Latencies by_hops(size_t nodes, const std::function<size_t(size_t, size_t)>& hops) {
  Latencies latencies(nodes);
  for (size_t a = 0; a < nodes; ++a) {
    for (size_t b = 0; b < nodes; ++b) {
      latencies(a, b) = 1e-6 + 0.2e-6 * static_cast<double>(hops(a, b));
    }
  }
  return latencies;
}

size_t around(size_t a, size_t b, size_t nodes) {
  const size_t apart = a > b ? a - b : b - a;
  return std::min(apart, nodes - apart);
}

TEST(SwitchTree, SaysThatLatenciesAreNotThoseOfATree) {
  const auto ring = [](size_t a, size_t b) { return around(a, b, 32); };
  const auto torus = [](size_t a, size_t b) {
    return around(a / 8, b / 8, 4) + around(a % 8, b % 8, 8);
  };
  const auto line = [](size_t a, size_t b) { return a > b ? a - b : b - a; };
  // A far node, so that there is a step.
  const auto ring_and_one = [&](size_t a, size_t b) {
    return a == 31 || b == 31 ? size_t{50} : around(a, b, 31);
  };
  for (const std::function<size_t(size_t, size_t)>& hops :
       {std::function<size_t(size_t, size_t)>(ring), {torus}, {line}, {ring_and_one}}) {
    const auto tree = switch_tree(by_hops(32, hops));
    ASSERT_FALSE(tree.ok());
    EXPECT_EQ(tree.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(tree.error().message().find("not those of a tree"), std::string::npos);
  }
}

TEST(SwitchTree, HoldsForOneNodeAndForTwo) {
  ASSERT_OK_AND_ASSIGN(const auto one, switch_tree(Latencies(1)));
  EXPECT_EQ(one.switches, std::vector<std::string>{"0"});
  Latencies latencies(2);
  latencies(0, 1) = 2e-6;
  latencies(1, 0) = 2.05e-6;
  EXPECT_EQ(latencies.between(0, 1), 2e-6);
  EXPECT_NEAR(latencies.noise(), 0.025, 1e-12);
  ASSERT_OK_AND_ASSIGN(const auto two, switch_tree(latencies));
  EXPECT_EQ(two.switches, (std::vector<std::string>{"0", "0"}));
}

TEST(Rounds, LetEveryNodeMeetEveryOtherOnce) {
  for (size_t nodes = 1; nodes < 20; ++nodes) {
    std::set<std::pair<size_t, size_t>> met;
    for (size_t round = 0; round < rounds_of_pairs(nodes); ++round) {
      for (size_t node = 0; node < nodes; ++node) {
        const size_t partner = partner_in_round(nodes, round, node);
        ASSERT_LE(partner, nodes);
        ASSERT_NE(partner, node);
        if (partner == nodes) continue;
        EXPECT_EQ(partner_in_round(nodes, round, partner), node) << nodes << ' ' << round;
        if (node > partner) continue;
        EXPECT_TRUE(met.insert({node, partner}).second);
      }
    }
    EXPECT_EQ(met.size(), nodes * (nodes - 1) / 2);
  }
}

}  // namespace
}  // namespace stripline::suites
