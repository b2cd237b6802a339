#include "server/core/models/model_gate.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

ModelVersionRecord version(int64_t number, double regret = 0.01, double error = 0.02) {
  ModelVersionRecord record;
  record.key = {"tcp", number};
  record.validation = ValidationRecord{record.key, 1, {}, {16, error, error, 40, regret, regret}};
  return record;
}

LabelRecord move(int64_t place, int64_t number, const char* label = "stable") {
  return {{"tcp", number}, label, place, "users/alice", 1};
}

TEST(ModelGate, AStateFollowsFromWhatIsStored) {
  ModelVersionRecord record = version(1);
  record.validation.reset();
  EXPECT_EQ(state_of(record), VersionState::fitted);
  record.validation = version(1, 0.5).validation;  // It failed.
  EXPECT_EQ(state_of(record), VersionState::failed);
  record.validation = version(1).validation;
  EXPECT_EQ(state_of(record), VersionState::validated);
  record.labels = {"canary"};
  EXPECT_EQ(state_of(record), VersionState::published);
  record.stale = "sentinels";
  EXPECT_EQ(state_of(record), VersionState::stale);
  record.withdrawn = "a busy host";
  EXPECT_EQ(state_of(record), VersionState::deprecated);
}

TEST(ModelGate, OnlyWhatDidWellPasses) {
  EXPECT_EQ(gate_refusal(version(1), {.label = "stable"}), std::nullopt);
  ModelVersionRecord unjudged = version(1);
  unjudged.validation.reset();
  EXPECT_NE(gate_refusal(unjudged, {.label = "stable"})->find("not judged"), std::string::npos);
  EXPECT_NE(gate_refusal(version(1, 0.3), {.label = "canary"})->find("30.0 %"), std::string::npos);
  EXPECT_TRUE(gate_refusal(version(1, 0.01, 0.4), {.label = "stable"}));
  ModelVersionRecord empty = version(1);
  empty.validation->judgement = {};
  EXPECT_TRUE(gate_refusal(empty, {.label = "stable"}));
}

TEST(ModelGate, NoWorseThanTheIncumbentByMoreThanTheMargin) {
  const ModelVersionRecord incumbent = version(1, 0.01);
  EXPECT_FALSE(gate_refusal(version(2, 0.025), {.label = "stable", .stable = incumbent}));
  const auto refused = gate_refusal(version(2, 0.05), {.label = "stable", .stable = incumbent});
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->find("5.0 %"), std::string::npos) << *refused;
  EXPECT_NE(refused->find("models/tcp/versions/1"), std::string::npos) << *refused;
  EXPECT_FALSE(gate_refusal(version(2, 0.05), {.label = "stable", .stable = version(2, 0.01)}));
}

TEST(ModelGate, WhatNothingHasJudgedPassesForAReasonAlone) {
  ModelVersionRecord unjudged = version(1);
  unjudged.validation->judgement.choices = 0;
  const auto refused = gate_refusal(unjudged, {.label = "stable"});
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->find("16 times and 0 decisions"), std::string::npos) << *refused;
  EXPECT_FALSE(gate_refusal(unjudged, {.label = "stable", .unjudged_reason = "the lab's own"}));
  EXPECT_TRUE(gate_refusal(version(1, 0.3), {.label = "stable", .unjudged_reason = "I want it"}))
      << "it failed";
}

TEST(ModelGate, NotSurelySlowerThanTheIncumbentOnTheSameProblems) {
  const ModelVersionRecord incumbent = version(1, 0.01);
  GateQuestion question{.label = "stable", .stable = incumbent};
  question.beside_stable = fit::Comparison{20, 1.2, 1.1};
  const auto refused = gate_refusal(version(2, 0.01), question);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->find("20.0 % longer than those of models/tcp/versions/1"), std::string::npos)
      << *refused;
  question.beside_stable = fit::Comparison{20, 1.2, 0.9};  // not surely
  EXPECT_FALSE(gate_refusal(version(2, 0.05), question));
  question.beside_stable = fit::Comparison{};  // no problem in common: as judged apart
  EXPECT_TRUE(gate_refusal(version(2, 0.05), question));
}

TEST(ModelGate, ProvisionalVersionsAreTriedAndNotStable) {
  ModelVersionRecord record = version(1);
  record.provisional = "of 3 runs";
  EXPECT_TRUE(gate_refusal(record, {.label = "stable"}));
  EXPECT_FALSE(gate_refusal(record, {.label = "canary"}));
  record.provisional.clear();
  record.stale = "sentinels";
  EXPECT_TRUE(gate_refusal(record, {.label = "canary"}));
  record.withdrawn = "a busy host";
  EXPECT_NE(gate_refusal(record, {.label = "canary"})->find("a busy host"), std::string::npos);
}

TEST(ModelGate, TwiceOffIsStale) {
  const CheckRecord good{{"tcp", 1}, "campaigns/c5", 1, {20, 3, 1.01}};
  const CheckRecord off{{"tcp", 1}, "campaigns/c6", 2, {20, 15, 1.4}};
  EXPECT_FALSE(staleness({}, false));
  EXPECT_FALSE(staleness({off}, false));
  EXPECT_FALSE(staleness({off, good}, false));
  EXPECT_FALSE(staleness({off, good, off}, false));
  const auto why = staleness({good, off, off}, false);
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("15 of 20 by campaigns/c6"), std::string::npos) << *why;
  EXPECT_FALSE(staleness({off, good}, true));
  const auto not_held = staleness({off, off}, true);
  ASSERT_TRUE(not_held);
  EXPECT_NE(not_held->find("did not hold"), std::string::npos) << *not_held;
  EXPECT_NE(not_held->find("by campaigns/c6"), std::string::npos) << *not_held;
  EXPECT_FALSE(is_off({}));
  // Single operations may be as they were while a depth is another one.
  EXPECT_TRUE(is_off({20, 0, 1.0, 8, 8}));
  EXPECT_TRUE(is_off({20, 0, 1.0, 8, 0, 4, 3}));
  EXPECT_FALSE(is_off({20, 0, 1.0, 8, 4, 4, 2}));
}

TEST(ModelGate, ARollbackSkipsWhatIsUnfit) {
  const std::vector<LabelRecord> moves = {move(1, 9, "canary"), move(1, 1), move(2, 2), move(3, 3)};
  EXPECT_EQ(current_of(moves, "stable")->key.version, 3);
  EXPECT_EQ(current_of(moves, "canary")->key.version, 9);
  EXPECT_EQ(current_of(moves, "other"), nullptr);
  EXPECT_EQ(rolled_back(moves, "stable", {}), std::vector{move(3, 3)});
  EXPECT_EQ(rolled_back(moves, "stable", {{"tcp", 2}}), (std::vector{move(3, 3), move(2, 2)}));
  EXPECT_TRUE(rolled_back(moves, "stable", {{"tcp", 1}, {"tcp", 2}}).empty());
  EXPECT_TRUE(rolled_back(moves, "canary", {}).empty());
  EXPECT_TRUE(rolled_back({}, "stable", {}).empty());
}

}  // namespace
}  // namespace stripline::server
