#include "runtime/fabric/network_place.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/host_name.h"
#include "runtime/bootstrap/testing/scoped_environment.h"

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
                                                    {"STRIPLINE_SWITCHES_FILE", {}},
                                                    {"SLURM_TOPOLOGY_ADDR", {}},
                                                    {"SLURM_TOPOLOGY_ADDR_PATTERN", {}}});
  EXPECT_EQ(*switches_of_environment(), "");
  const bootstrap::ScopedEnvironment slurm(Variables{{"SLURM_TOPOLOGY_ADDR", "core.leaf2.node17"}});
  EXPECT_EQ(*switches_of_environment(), "core.leaf2");
  {
    const bootstrap::ScopedEnvironment flat(Variables{{"SLURM_TOPOLOGY_ADDR", "node17"}});
    EXPECT_EQ(*switches_of_environment(), "");
  }
  const auto of_slurm = [](const char* address, const char* pattern) {
    const bootstrap::ScopedEnvironment both(
        Variables{{"SLURM_TOPOLOGY_ADDR", address}, {"SLURM_TOPOLOGY_ADDR_PATTERN", pattern}});
    return *switches_of_environment();
  };
  EXPECT_EQ(of_slurm("core.leaf2.node17", "switch.switch.node"), "core.leaf2");
  EXPECT_EQ(of_slurm("core.leaf2.node17.site.org", "switch.switch.node"), "core.leaf2");
  EXPECT_EQ(of_slurm("node17.site.org", "node"), "");
  EXPECT_EQ(of_slurm("core.leaf2", "switch.switch.switch.node"), "core.leaf2");
  const bootstrap::ScopedEnvironment own(Variables{{"STRIPLINE_SWITCHES", "core.leaf3"}});
  EXPECT_EQ(*switches_of_environment(), "core.leaf3");
  const bootstrap::ScopedEnvironment none_said(Variables{{"STRIPLINE_SWITCHES", "core..leaf3"}});
  EXPECT_EQ(switches_of_environment().error().code(), ErrorCode::invalid_argument);
}

TEST(NetworkPlace, ReadsTheSwitchesOfHosts) {
  const char* const text =
      "# measured\n"
      "\n"
      "node1 core.leaf1\n"
      "  node2\tcore.leaf2 \r\n"
      "  # and farther away\n"
      "node3.site.org core.leaf3 # by hand";
  const auto of = [&](std::string_view host) { return *switches_of_host(text, host, "the text"); };
  EXPECT_EQ(of("node1"), "core.leaf1");
  EXPECT_EQ(of("node2"), "core.leaf2");
  EXPECT_EQ(of("node2.site.org"), "core.leaf2");
  EXPECT_EQ(of("node3"), "core.leaf3");
  EXPECT_EQ(of("node3.site.org"), "core.leaf3");
  EXPECT_EQ(of("node3.other.org"), "");
  EXPECT_EQ(of("node"), "");
  EXPECT_EQ(*switches_of_host("", "node1", "the text"), "");
  EXPECT_EQ(*switches_of_host("\xEF\xBB\xBFnode1 core.leaf1", "node1", "the text"), "core.leaf1")
      << "behind the mark that some editors write";
}

TEST(NetworkPlace, PrefersALineWithTheVeryName) {
  const auto of = [](std::string_view text, std::string_view host) {
    return switches_of_host(text, host, "the text");
  };
  EXPECT_EQ(*of("n 0.1\nn.site.org 0.2", "n.site.org"), "0.2");
  EXPECT_EQ(*of("n.site.org 0.2\nn 0.1", "n.site.org"), "0.2");
  EXPECT_EQ(*of("n.a.org 0.1\nn.b.org 0.2\nn 0.3", "n"), "0.3");
  EXPECT_EQ(*of("n.a.org 0.1\nn.b.org 0.1", "n"), "0.1") << "the same, whichever it is";
  for (const char* text :
       {"n.a.org 0.1\nn.b.org 0.2", "n 0.1\nn 0.2", "n 0.1\nn.a.org 0.3\nn 0.2"}) {
    const auto switches = of(text, "n");
    ASSERT_FALSE(switches.ok()) << text;
    EXPECT_EQ(switches.error().code(), ErrorCode::failed_precondition);
    EXPECT_NE(switches.error().message().find("either may be this host"), std::string::npos);
  }
}

TEST(NetworkPlace, SaysWhichLineIsNone) {
  for (const char* text : {"\nnode1", "\nnode1 a b", "\nnode1 .a", "\nnode1 a.", "\nnode1 a..b"}) {
    const auto switches = switches_of_host(text, "node2", "the text");
    ASSERT_FALSE(switches.ok()) << text;
    EXPECT_EQ(switches.error().code(), ErrorCode::failed_precondition);
    EXPECT_EQ(switches.error().message().find("the text, line 2: expected a host"), 0U)
        << switches.error().message();
  }
}

TEST(NetworkPlace, ReadsTheFileThatTheEnvironmentNames) {
  const std::string path =
      testing::TempDir() + "stripline_switches_" + std::to_string(getpid()) + ".txt";
  std::ofstream(path) << "other 0.1\n" << host_name() << " 0.7\n";
  const bootstrap::ScopedEnvironment file(Variables{{"STRIPLINE_SWITCHES", {}},
                                                    {"STRIPLINE_SWITCHES_FILE", path},
                                                    {"SLURM_TOPOLOGY_ADDR", "core.leaf2.node17"}});
  EXPECT_EQ(*switches_of_environment(), "0.7") << "rather than by Slurm";
  {
    const bootstrap::ScopedEnvironment own(Variables{{"STRIPLINE_SWITCHES", "core.leaf3"}});
    EXPECT_EQ(*switches_of_environment(), "core.leaf3");
  }
  std::ofstream(path).flush();
  EXPECT_EQ(*switches_of_environment(), "") << "a file without lines";
  std::ofstream(path) << "nothing\n";
  EXPECT_EQ(switches_of_environment().error().code(), ErrorCode::failed_precondition);
  std::filesystem::remove(path);
  const auto missing = switches_of_environment();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  EXPECT_NE(missing.error().message().find(path), std::string::npos);
}

}  // namespace
}  // namespace stripline::fabric
