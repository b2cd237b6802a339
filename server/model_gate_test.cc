#include "server/model_gate.h"

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
  EXPECT_EQ(state_of(record), VersionState::fitted);
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
  EXPECT_EQ(gate_refusal(version(1), "stable", std::nullopt), std::nullopt);
  ModelVersionRecord unjudged = version(1);
  unjudged.validation.reset();
  EXPECT_NE(gate_refusal(unjudged, "stable", std::nullopt)->find("not validated"),
            std::string::npos);
  EXPECT_NE(gate_refusal(version(1, 0.3), "canary", std::nullopt)->find("mean regret 30.0 %"),
            std::string::npos);
  EXPECT_TRUE(gate_refusal(version(1, 0.01, 0.4), "stable", std::nullopt));
  ModelVersionRecord empty = version(1);
  empty.validation->judgement = {};
  EXPECT_TRUE(gate_refusal(empty, "stable", std::nullopt));
}

TEST(ModelGate, NoWorseThanTheIncumbentByMoreThanTheMargin) {
  const ModelVersionRecord incumbent = version(1, 0.01);
  EXPECT_EQ(gate_refusal(version(2, 0.025), "stable", incumbent), std::nullopt);
  const auto refused = gate_refusal(version(2, 0.05), "stable", incumbent);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->find("5.0 %"), std::string::npos) << *refused;
  EXPECT_NE(refused->find("models/tcp/versions/1"), std::string::npos) << *refused;
  EXPECT_EQ(gate_refusal(version(2, 0.05), "stable", version(2, 0.01)), std::nullopt);
}

TEST(ModelGate, ProvisionalVersionsAreTriedAndNotStable) {
  ModelVersionRecord record = version(1);
  record.provisional = "of 3 runs";
  EXPECT_TRUE(gate_refusal(record, "stable", std::nullopt));
  EXPECT_FALSE(gate_refusal(record, "canary", std::nullopt));
  record.provisional.clear();
  record.stale = "sentinels";
  EXPECT_TRUE(gate_refusal(record, "canary", std::nullopt));
  record.withdrawn = "a busy host";
  EXPECT_NE(gate_refusal(record, "canary", std::nullopt)->find("a busy host"), std::string::npos);
}

TEST(ModelGate, TwiceOffIsStale) {
  const CheckRecord good{{"tcp", 1}, "campaigns/c5", 1, {20, 3, 1.01}};
  const CheckRecord off{{"tcp", 1}, "campaigns/c6", 2, {20, 15, 1.4}};
  EXPECT_FALSE(staleness({}));
  EXPECT_FALSE(staleness({off}));
  EXPECT_FALSE(staleness({off, good}));
  EXPECT_FALSE(staleness({off, good, off}));
  const auto why = staleness({good, off, off});
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("15 of 20 by campaigns/c6"), std::string::npos) << *why;
  EXPECT_FALSE(is_off({}));
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
