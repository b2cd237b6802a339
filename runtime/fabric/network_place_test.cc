#include "runtime/fabric/network_place.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "runtime/bootstrap/scoped_environment.h"

namespace stripline::fabric {
namespace {

using model::DistanceScale;
using Variables = std::map<std::string, std::string>;

std::optional<uint32_t> by_switches(const char* one, const char* other) {
  return distance({0, one}, {1, other}, DistanceScale::switches);
}
uint32_t by_numbers(uint32_t one, uint32_t other) {
  return *distance({one, {}}, {other, {}}, DistanceScale::numbers);
}

TEST(NetworkPlace, CountsTheLevelsOfSwitchesBetweenNodes) {
  EXPECT_EQ(by_switches("core.row1.leaf1", "core.row1.leaf1"), 0U);
  EXPECT_EQ(by_switches("core.row1.leaf1", "core.row1.leaf2"), 1U);
  EXPECT_EQ(by_switches("core.row1.leaf1", "core.row2.leaf1"), 2U);
  EXPECT_EQ(by_switches("a.row1.leaf1", "b.row1.leaf1"), 3U);
  EXPECT_EQ(by_switches("s1", "s1"), 0U);
  EXPECT_EQ(by_switches("s1", "s10"), 1U);
  EXPECT_EQ(by_switches("core.s1", "core"), 1U);
}

TEST(NetworkPlace, SaysThatItDoesNotKnow) {
  EXPECT_EQ(by_switches("", "core.leaf1"), std::nullopt);
  EXPECT_EQ(by_switches("core.leaf1", ""), std::nullopt);
}

TEST(NetworkPlace, TakesNeighbouringNumbersForNeighbours) {
  EXPECT_EQ(by_numbers(5, 5), 0U);
  EXPECT_EQ(by_numbers(4, 5), 0U);
  EXPECT_EQ(by_numbers(4, 6), 1U);
  EXPECT_EQ(by_numbers(3, 4), 2U);
  EXPECT_EQ(by_numbers(0, 63), 5U);
  EXPECT_EQ(by_numbers(0, 1 << 20), model::kDistances - 1);
}

TEST(NetworkPlace, AsksTheEnvironment) {
  const bootstrap::ScopedEnvironment none(Variables{{"STRIPLINE_SWITCHES", {}},
                                                    {"SLURM_TOPOLOGY_ADDR", {}},
                                                    {"SLURM_TOPOLOGY_ADDR_PATTERN", {}}});
  EXPECT_EQ(switches_of_environment(), "");
  const bootstrap::ScopedEnvironment slurm(Variables{{"SLURM_TOPOLOGY_ADDR", "core.leaf2.node17"}});
  EXPECT_EQ(switches_of_environment(), "core.leaf2");
  {
    const bootstrap::ScopedEnvironment flat(Variables{{"SLURM_TOPOLOGY_ADDR", "node17"}});
    EXPECT_EQ(switches_of_environment(), "");
  }
  const auto of_slurm = [](const char* address, const char* pattern) {
    const bootstrap::ScopedEnvironment both(
        Variables{{"SLURM_TOPOLOGY_ADDR", address}, {"SLURM_TOPOLOGY_ADDR_PATTERN", pattern}});
    return switches_of_environment();
  };
  EXPECT_EQ(of_slurm("core.leaf2.node17", "switch.switch.node"), "core.leaf2");
  EXPECT_EQ(of_slurm("core.leaf2.node17.site.org", "switch.switch.node"), "core.leaf2");
  EXPECT_EQ(of_slurm("node17.site.org", "node"), "");
  EXPECT_EQ(of_slurm("core.leaf2", "switch.switch.switch.node"), "core.leaf2");
  const bootstrap::ScopedEnvironment own(Variables{{"STRIPLINE_SWITCHES", "core.leaf3"}});
  EXPECT_EQ(switches_of_environment(), "core.leaf3");
}

}  // namespace
}  // namespace stripline::fabric
