#include "server/fingerprint_rules.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

using model::MatchRule;

TEST(FingerprintRules, FollowTheTable) {
  EXPECT_EQ(fingerprint_rule("fabric"), MatchRule::hard);
  EXPECT_EQ(fingerprint_rule("fabric.provider"), MatchRule::hard);
  EXPECT_EQ(fingerprint_rule("cpu.model"), MatchRule::soft);
  EXPECT_EQ(fingerprint_rule("something.new"), MatchRule::soft);
  EXPECT_EQ(fingerprint_rule("kernel"), MatchRule::ignore);
  EXPECT_EQ(fingerprint_rule("kernel.release"), MatchRule::ignore);
  EXPECT_EQ(fingerprint_rule("kernels"), MatchRule::soft);
}

TEST(FingerprintRules, NodesThatAgreeKeepTheirValues) {
  const auto joined = join_fingerprints(
      {{"a", {{"cpu.model", "x"}, {"memory", "8"}}}, {"b", {{"cpu.model", "x"}, {"memory", "8"}}}},
      "tcp", "real");
  EXPECT_TRUE(joined.differing.empty());
  EXPECT_EQ(joined.fingerprint.at("cpu.model").value, "x");
  EXPECT_EQ(joined.fingerprint.at("fabric").value, "tcp");
  EXPECT_EQ(joined.fingerprint.at("fabric").rule, MatchRule::hard);
  EXPECT_EQ(joined.fingerprint.at("clock").value, "real");
}

TEST(FingerprintRules, WhatDiffersMatchesAnything) {
  const auto joined = join_fingerprints(
      {{"a", {{"cpu.model", "x"}, {"gpu", "1"}}}, {"b", {{"cpu.model", "y"}}}}, "tcp", "real");
  EXPECT_EQ(joined.differing, (std::vector<std::string>{"cpu.model", "gpu"}));
  EXPECT_EQ(joined.fingerprint.at("cpu.model").value, "*");
  EXPECT_EQ(joined.fingerprint.at("gpu").value, "*");
}

}  // namespace
}  // namespace stripline::server
