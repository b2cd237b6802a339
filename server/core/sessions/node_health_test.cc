#include "server/core/sessions/node_health.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(NodeHealth, RemembersWhereACampaignFailed) {
  NodeHealth health;
  health.failed(1, "a", false, "x", 0);
  health.failed(1, "b", true, "x", 0);
  EXPECT_EQ(health.suspects(1), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(health.unfit(1), std::set<std::string>{"b"});
  EXPECT_TRUE(health.suspects(2).empty());
  health.forget(1);
  EXPECT_TRUE(health.suspects(1).empty());
  EXPECT_EQ(health.failures("a", 0), 1);
}

TEST(NodeHealth, FailuresFade) {
  NodeHealth health;
  health.failed(1, "a", false, "x", 0);
  health.failed(2, "a", false, "x", 600);
  EXPECT_DOUBLE_EQ(health.failures("a", 600), 1.5);
  EXPECT_DOUBLE_EQ(health.failures("a", 1200), 0.75);
  EXPECT_EQ(health.failures("a", 6000), 0);
  EXPECT_EQ(health.failures("b", 0), 0);
}

TEST(NodeHealth, LeavesANodeOutThatFailsAgainAndAgain) {
  NodeHealth health;
  health.connected("a", "i1");
  health.failed(1, "a", false, "x", 0);
  health.failed(1, "a", false, "x", 10);
  EXPECT_EQ(health.quarantine("a", 10), "");
  EXPECT_EQ(health.next_release_s(10), std::nullopt);
  health.failed(2, "a", false, "no such interface", 20);
  EXPECT_EQ(health.quarantine("a", 20),
            "left out for 60 s after several failed runs, the last one: no such interface");
  EXPECT_EQ(health.next_release_s(20), 80);
  EXPECT_EQ(health.quarantine("a", 80), "");
  health.failed(3, "a", false, "x", 100);  // the first one after that
  EXPECT_EQ(health.next_release_s(100), 220);
  EXPECT_EQ(health.quarantine("b", 20), "");
}

TEST(NodeHealth, ARunThatEndsWellOrANewAgentEndsIt) {
  NodeHealth health;
  const auto fail_often = [&] {
    for (int i = 0; i < 3; ++i) health.failed(1, "a", false, "x", 0);
    EXPECT_NE(health.quarantine("a", 1), "");
  };
  health.connected("a", "i1");
  fail_often();
  health.connected("a", "i1");
  EXPECT_NE(health.quarantine("a", 1), "");
  health.connected("a", "i2");
  EXPECT_EQ(health.quarantine("a", 1), "");
  fail_often();
  health.succeeded("a");
  EXPECT_EQ(health.quarantine("a", 1), "");
  EXPECT_EQ(health.failures("a", 1), 0);
}

}  // namespace
}  // namespace stripline::server
