#include "server/node_health.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(NodeHealth, RemembersWhereACampaignFailed) {
  NodeHealth health;
  health.failed(1, "a", false, 0);
  health.failed(1, "b", true, 0);
  EXPECT_EQ(health.suspects(1), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(health.unfit(1), std::set<std::string>{"b"});
  EXPECT_TRUE(health.suspects(2).empty());
  health.forget(1);
  EXPECT_TRUE(health.suspects(1).empty());
  EXPECT_EQ(health.failures("a", 0), 1);
}

TEST(NodeHealth, FailuresFade) {
  NodeHealth health;
  health.failed(1, "a", false, 0);
  health.failed(2, "a", false, 600);
  EXPECT_DOUBLE_EQ(health.failures("a", 600), 1.5);
  EXPECT_DOUBLE_EQ(health.failures("a", 1200), 0.75);
  EXPECT_EQ(health.failures("a", 6000), 0);
  EXPECT_EQ(health.failures("b", 0), 0);
}

}  // namespace
}  // namespace stripline::server
