#include "server/core/sessions/fingerprint_rules.h"

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
  const auto joined = *join_fingerprints(
      {{"a", {{"cpu.model", "x"}, {"memory", "8"}}}, {"b", {{"cpu.model", "x"}, {"memory", "8"}}}},
      "tcp", "real");
  EXPECT_TRUE(joined.differing.empty());
  EXPECT_EQ(joined.fingerprint.at("cpu.model").value, "x");
  EXPECT_EQ(joined.fingerprint.at("fabric").value, "tcp");
  EXPECT_EQ(joined.fingerprint.at("fabric").rule, MatchRule::hard);
  EXPECT_EQ(joined.fingerprint.at("clock").value, "real");
}

// Models say nothing of them.
TEST(FingerprintRules, OtherRuntimesThatAreInstalledAreLeftOut) {
  const auto joined =
      *join_fingerprints({{"a", {{"cpu.model", "x"}, {"target.openmpi.version", "4.1.4"}}},
                          {"b", {{"cpu.model", "x"}}}},
                         "tcp", "real");
  EXPECT_TRUE(joined.differing.empty());
  EXPECT_FALSE(joined.fingerprint.contains("target.openmpi.version"));
  EXPECT_EQ(fingerprint_rule("target.openmpi.version"), MatchRule::ignore);
}

TEST(FingerprintRules, WhatDiffersMatchesAnything) {
  const auto joined = *join_fingerprints(
      {{"a", {{"cpu.model", "x"}, {"gpu", "1"}}}, {"b", {{"cpu.model", "y"}}}}, "tcp", "real");
  EXPECT_EQ(joined.differing, (std::vector<std::string>{"cpu.model", "gpu"}));
  EXPECT_EQ(joined.fingerprint.at("cpu.model").value, "*");
  EXPECT_EQ(joined.fingerprint.at("gpu").value, "*");
}

// "*" would match any network.
TEST(FingerprintRules, AnotherMachineUnderANameIsNoticed) {
  const std::map<std::string, std::string> before{
      {"cpu.model", "A"}, {"host.boot", "1"}, {"os.kernel", "6.1"}};
  auto now = before;
  EXPECT_EQ(machine_change(before, now), "");
  now["os.kernel"] = "6.2";
  EXPECT_EQ(machine_change(before, now), "");
  now["host.boot"] = "2";
  EXPECT_EQ(machine_change(before, now),
            "is on another host than before, or its host was restarted");
  now["cpu.model"] = "B";
  EXPECT_EQ(machine_change(before, now),
            "is another machine than before: cpu.model was 'A' and is 'B'");
  EXPECT_EQ(machine_change({}, now), "");
}

TEST(FingerprintRules, TwoNetworksAreNoModel) {
  const auto joined = join_fingerprints({{"nodes/a in run 1", {{"fabric.provider", "tcp"}}},
                                         {"nodes/b in run 1", {{"fabric.provider", "verbs"}}}},
                                        "tcp", "real");
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code(), ErrorCode::failed_precondition);
  EXPECT_TRUE(joined.error().message().starts_with(
      "fabric.provider was 'tcp' on nodes/a in run 1 and 'verbs' on nodes/b in run 1"))
      << joined.error().message();
}

}  // namespace
}  // namespace stripline::server
