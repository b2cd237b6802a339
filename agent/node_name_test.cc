#include "agent/node_name.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

TEST(NodeName, IsASegmentOfAResourceName) {
  for (const char* good : {"a", "0", "node-17", "rack_3.node-1", "n."}) {
    EXPECT_TRUE(is_node_name(good)) << good;
  }
  for (const char* bad : {"", "-a", ".a", "_a", "Node", "a b", "a/b", "n\u00f6de"}) {
    EXPECT_FALSE(is_node_name(bad)) << bad;
  }
  EXPECT_TRUE(is_node_name(std::string(63, 'a')));
  EXPECT_FALSE(is_node_name(std::string(64, 'a')));
}

TEST(NodeName, OfThisHostIsOne) { EXPECT_TRUE(is_node_name(default_node_name())); }

}  // namespace
}  // namespace stripline::agent
