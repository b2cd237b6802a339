#include "runtime/machine/placement.h"

#include <algorithm>
#include <hwloc.h>
#include <map>
#include <sched.h>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

using Placement = std::vector<std::vector<uint32_t>>;

/// The processors of a machine that hwloc makes up.
std::vector<Processor> machine(const std::string& description) {
  hwloc_topology_t topology = nullptr;
  hwloc_topology_init(&topology);
  EXPECT_EQ(hwloc_topology_set_synthetic(topology, description.c_str()), 0) << description;
  EXPECT_EQ(hwloc_topology_load(topology), 0);
  auto processors = processors_of(topology);
  hwloc_topology_destroy(topology);
  return processors;
}

/// The processors of `all` whose number is in `allowed`.
std::vector<Processor> restricted(std::vector<Processor> all, const std::set<uint32_t>& allowed) {
  std::erase_if(all, [&](const Processor& one) { return !allowed.contains(one.number); });
  return all;
}

/// Ranks per NUMA node.
std::map<uint32_t, size_t> per_node(const std::vector<Processor>& processors,
                                    const Placement& placement) {
  std::map<uint32_t, size_t> counts;
  for (const auto& own : placement) {
    const auto found = std::ranges::find(processors, own.at(0), &Processor::number);
    ++counts[found->numa_node];
  }
  return counts;
}

// Two packages of a NUMA node, four cores and eight threads each, numbered 0 to 15 in that order.
const std::string kTwoPackages = "package:2 numa:1 l3:1 core:4 pu:2";

TEST(Placement, SyntheticMachineIsRead) {
  const auto processors = machine(kTwoPackages);
  ASSERT_EQ(processors.size(), 16U);
  EXPECT_EQ(processors[0].core, processors[1].core);
  EXPECT_NE(processors[1].core, processors[2].core);
  EXPECT_NE(processors[0].numa_node, processors[8].numa_node);
  EXPECT_NE(processors[0].package, processors[8].package);
  EXPECT_EQ(processors[15].number, 15U);
}

TEST(Placement, RanksGetWholeCoresOnAllNodes) {
  const auto processors = machine(kTwoPackages);
  EXPECT_EQ(place_ranks(processors, 1), (Placement{{0, 1}}));
  EXPECT_EQ(place_ranks(processors, 2), (Placement{{0, 1}, {8, 9}}));
  EXPECT_EQ(place_ranks(processors, 3), (Placement{{0, 1}, {2, 3}, {8, 9}}));
  EXPECT_EQ(place_ranks(processors, 4), (Placement{{0, 1}, {2, 3}, {8, 9}, {10, 11}}));
}

TEST(Placement, ThreadsOfACoreAreSharedOnlyWhenCoresRunOut) {
  const auto processors = machine(kTwoPackages);
  const Placement nine = place_ranks(processors, 9);
  ASSERT_EQ(nine.size(), 9U);
  EXPECT_EQ(nine[0], (std::vector<uint32_t>{0}));
  EXPECT_EQ(nine[1], (std::vector<uint32_t>{1}));
  EXPECT_EQ(nine[2], (std::vector<uint32_t>{2, 3}));
  EXPECT_EQ(place_ranks(processors, 16).size(), 16U);
  EXPECT_EQ(per_node(processors, place_ranks(processors, 12)),
            (std::map<uint32_t, size_t>{{0, 6}, {1, 6}}));
}

TEST(Placement, OtherJobsKeepTheirCores) {
  const auto processors = machine(kTwoPackages);
  const std::vector<uint32_t> taken = {0, 1, 8};
  EXPECT_EQ(place_ranks_beside(processors, {}, 2), place_ranks(processors, 2));
  // Processor 9 shares a core with another job's 8.
  EXPECT_EQ(place_ranks_beside(processors, taken, 2), (Placement{{2, 3}, {10, 11}}));
  EXPECT_EQ(place_ranks_beside(processors, taken, 12).size(), 12U);
  const Placement all_left = place_ranks_beside(processors, taken, 13);
  ASSERT_EQ(all_left.size(), 13U);
  EXPECT_EQ(all_left[6], (std::vector<uint32_t>{9}));
  EXPECT_TRUE(place_ranks_beside(processors, taken, 14).empty());
}

TEST(Placement, NoProcessorHasTwoRanks) {
  for (const char* description :
       {"package:2 numa:1 l3:1 core:4 pu:2", "package:1 numa:4 core:3 pu:1", "core:2 pu:4",
        "package:2 numa:2 l3:2 core:2 pu:2"}) {
    const auto processors = machine(description);
    for (uint32_t ranks = 1; ranks <= processors.size(); ++ranks) {
      std::set<uint32_t> used;
      size_t bound = 0;
      for (const auto& own : place_ranks(processors, ranks)) {
        EXPECT_FALSE(own.empty()) << description << ", " << ranks << " ranks";
        used.insert(own.begin(), own.end());
        bound += own.size();
      }
      EXPECT_EQ(used.size(), bound) << description << ", " << ranks << " ranks";
      size_t least = ranks;
      size_t most = 0;
      const auto counts = per_node(processors, place_ranks(processors, ranks));
      for (const auto& [node, count] : counts) {
        least = std::min(least, count);
        most = std::max(most, count);
      }
      EXPECT_LE(most - least, 1U) << description << ", " << ranks << " ranks";
    }
    EXPECT_TRUE(place_ranks(processors, static_cast<uint32_t>(processors.size()) + 1).empty());
  }
}

TEST(Placement, PackagesAndCachesAreSpreadToo) {
  // Two nodes per package: the second rank goes to the other package.
  const auto nodes = machine("package:2 numa:2 core:2 pu:1");
  EXPECT_EQ(place_ranks(nodes, 2), (Placement{{0}, {4}}));
  const auto caches = machine("package:1 numa:1 l3:2 core:2 pu:1");
  EXPECT_EQ(place_ranks(caches, 2), (Placement{{0}, {2}}));
}

TEST(Placement, OnlyAllowedProcessorsAreUsed) {
  // One thread of a core of the first node, three whole cores of the second.
  const auto processors = restricted(machine(kTwoPackages), {3, 8, 9, 10, 11, 12, 13});
  EXPECT_EQ(place_ranks(processors, 2), (Placement{{3}, {8, 9}}));
  EXPECT_EQ(place_ranks(processors, 4), (Placement{{3}, {8, 9}, {10, 11}, {12, 13}}));
  EXPECT_EQ(place_ranks(processors, 7).size(), 7U);
  EXPECT_TRUE(place_ranks(processors, 8).empty());
  EXPECT_TRUE(place_ranks({}, 1).empty());
}

TEST(Placement, AffinityMaskOfThisProcessCounts) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  const auto all = allowed_processors();
  EXPECT_EQ(all.size(), static_cast<size_t>(CPU_COUNT(&before)));
  for (const Processor& one : all) EXPECT_TRUE(CPU_ISSET(one.number, &before));
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(all.at(0).number, &only);
  ASSERT_EQ(sched_setaffinity(0, sizeof(only), &only), 0);
  const auto restricted_to = allowed_processors();
  sched_setaffinity(0, sizeof(before), &before);
  ASSERT_EQ(restricted_to.size(), 1U);
  EXPECT_EQ(restricted_to[0].number, all[0].number);
}

}  // namespace
}  // namespace stripline::machine
