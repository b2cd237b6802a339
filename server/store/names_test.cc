#include "server/store/names.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(Names, SegmentsFollowTheContract) {
  EXPECT_TRUE(is_segment("a"));
  EXPECT_TRUE(is_segment("0node-1.example_x"));
  EXPECT_TRUE(is_segment(std::string(63, 'a')));
  EXPECT_FALSE(is_segment(""));
  EXPECT_FALSE(is_segment(std::string(64, 'a')));
  EXPECT_FALSE(is_segment("-a"));
  EXPECT_FALSE(is_segment("A"));
  EXPECT_FALSE(is_segment("a/b"));
  EXPECT_FALSE(is_segment("a b"));
}

TEST(Names, FabricsBecomeSegments) {
  EXPECT_EQ(to_segment("tcp"), "tcp");
  EXPECT_EQ(to_segment("emulated:Opteron-VAPI"), "emulated-opteron-vapi");
  EXPECT_EQ(to_segment("tcp;ofi_rxm"), "tcp-ofi_rxm");
  EXPECT_EQ(to_segment(":::"), "model");
  EXPECT_TRUE(is_segment(to_segment(std::string(100, 'x'))));
}

TEST(Names, RoundTrip) {
  EXPECT_EQ(campaign_name(12), "campaigns/c12");
  EXPECT_EQ(parse_campaign_name("campaigns/c12"), 12);
  EXPECT_EQ(run_name({12, 3}), "campaigns/c12/runs/3");
  EXPECT_EQ(parse_run_name("campaigns/c12/runs/3"), (RunKey{12, 3}));
  EXPECT_EQ(parse_node_name(node_name("a")), "a");
  EXPECT_EQ(parse_model_name(model_name("tcp")), "tcp");
  EXPECT_EQ(parse_version_name(version_name({"tcp", 4})), (VersionKey{"tcp", 4}));
  EXPECT_EQ(parse_version_name("models/tcp"), (VersionKey{"tcp", 0}));
}

TEST(Names, WhatIsNoNameIsRefused) {
  for (const char* name :
       {"", "campaigns/", "campaigns/c", "campaigns/c0", "campaigns/c-1", "campaigns/c01",
        "campaigns/c1x", "campaigns/1", "nodes/c1", "campaigns/c99999999999999999999"}) {
    EXPECT_FALSE(parse_campaign_name(name)) << name;
  }
  for (const char* name : {"campaigns/c1", "campaigns/c1/runs/", "campaigns/c1/runs/0",
                           "campaigns/x/runs/1", "campaigns/c1/runs/4294967296"}) {
    EXPECT_FALSE(parse_run_name(name)) << name;
  }
  EXPECT_FALSE(parse_node_name("nodes/A"));
  EXPECT_FALSE(parse_node_name("a"));
  EXPECT_FALSE(parse_model_name("models/a/versions/1"));
  EXPECT_FALSE(parse_version_name("models/a/versions/x"));
  EXPECT_FALSE(parse_version_name("models/a/versions/"));
}

}  // namespace
}  // namespace stripline::server
