#include "base/network_name.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(NetworkName, LeavesOutWhatIsNotTheNetwork) {
  EXPECT_EQ(network_name("emulated:opteron-vapi"), "emulated:opteron-vapi");
  for (const char* option : {"compute=declared", "compute=none", "compute=2.5", "jitter=off",
                             "compute=record:a/b", "lose=1@0.5", "host_delays=7"}) {
    EXPECT_EQ(network_name(std::string("emulated:opteron-vapi,") + option),
              "emulated:opteron-vapi");
    EXPECT_EQ(network_name(std::string("emulated:./my net.json,jitter=on,") + option),
              "emulated:./my net.json");
  }
}

TEST(NetworkName, KeepsWhatIs) {
  EXPECT_EQ(network_name("emulated:power5-lapi,compute=none,ranks_per_node=2,jitter=off"),
            "emulated:power5-lapi,ranks_per_node=2");
  EXPECT_EQ(network_name("emulated:x,unknown"), "emulated:x,unknown");
  EXPECT_EQ(network_name("tcp"), "tcp");
  EXPECT_EQ(network_name("tcp,compute=none"), "tcp,compute=none");
  EXPECT_EQ(network_name(""), "");
  EXPECT_EQ(network_name("emulated:x,"), "emulated:x");
}

TEST(NetworkName, CampaignsTakeOptionsOfMeasuringOnly) {
  EXPECT_TRUE(has_options_of_campaigns_only("tcp"));
  EXPECT_TRUE(has_options_of_campaigns_only("emulated:x"));
  EXPECT_TRUE(has_options_of_campaigns_only("emulated:x,compute=declared,jitter=off"));
  EXPECT_TRUE(has_options_of_campaigns_only("emulated:x,compute=3,ranks_per_node=2"));
  EXPECT_FALSE(has_options_of_campaigns_only("emulated:x,compute=record:/etc/passwd"));
  EXPECT_FALSE(has_options_of_campaigns_only("emulated:x,compute=replay:f"));
  EXPECT_FALSE(has_options_of_campaigns_only("emulated:x,jitter=off,lose=0@1"));
  EXPECT_FALSE(has_options_of_campaigns_only("emulated:x,host_delays=3"));
}

}  // namespace
}  // namespace stripline
