#include "server/core/models/rollout.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

LabelledVersion labelled(int64_t number, const char* label, double since_s,
                         std::vector<std::string> nodes = {}, const char* fabric = "tcp") {
  return {{fabric, number}, label, fabric, "hash", std::move(nodes), since_s, nullptr};
}

std::vector<int64_t> wanted(const std::string& node, const std::set<std::string>& fabrics,
                            const std::vector<LabelledVersion>& versions) {
  std::vector<int64_t> numbers;
  for (const LabelledVersion* version : wanted_by(node, fabrics, versions)) {
    numbers.push_back(version->key.version);
  }
  return numbers;
}

TEST(Rollout, CanariesTryWhatTheRestGetsLater) {
  const std::vector<LabelledVersion> versions = {labelled(1, "stable", 1),
                                                 labelled(2, "canary", 2, {"a"})};
  EXPECT_EQ(wanted("a", {"tcp"}, versions), std::vector<int64_t>{2});
  EXPECT_EQ(wanted("b", {"tcp"}, versions), std::vector<int64_t>{1});
  EXPECT_TRUE(wanted("a", {"shm"}, versions).empty());
}

TEST(Rollout, WhatWasLabelledLastCounts) {
  EXPECT_EQ(wanted("a", {"tcp"}, {labelled(2, "canary", 2, {"a"}), labelled(3, "stable", 3)}),
            std::vector<int64_t>{3});
  EXPECT_EQ(
      wanted("a", {"shm", "tcp"}, {labelled(2, "stable", 2), labelled(7, "stable", 1, {}, "shm")}),
      (std::vector<int64_t>{7, 2}));
}

TEST(Rollout, OneInTenTries) {
  EXPECT_EQ(usual_canaries({"c", "b", "a"}), std::vector<std::string>{"a"});
  EXPECT_TRUE(usual_canaries({}).empty());
  EXPECT_EQ(usual_canaries(std::vector<std::string>(11, "n")).size(), 2U);
}

TEST(Rollout, ABadCanaryStopsTheRest) {
  const LabelRecord canary{{"tcp", 2}, "canary", 1, "users/alice", 1, {"a", "b"}};
  const NodeModelRecord good{"a", {"tcp", 2}, true, "", 5};
  const NodeModelRecord bad{"b", {"tcp", 2}, false, "another processor", 6};
  EXPECT_EQ(rollout_refusal(std::nullopt, {}), std::nullopt);
  EXPECT_NE(rollout_refusal(canary, {good})->find("nodes/b"), std::string::npos);
  EXPECT_NE(rollout_refusal(canary, {good, bad})->find("another processor"), std::string::npos);
  EXPECT_TRUE(rollout_refusal(std::nullopt, {bad}));
  EXPECT_NE(rollout_refusal(LabelRecord{{"tcp", 2}, "canary", 1, "users/alice", 1, {}}, {})
                ->find("no node tries it"),
            std::string::npos);
  EXPECT_EQ(rollout_refusal(canary, {good, {"b", {"tcp", 2}, true, "", 7}}), std::nullopt);
}

}  // namespace
}  // namespace stripline::server
