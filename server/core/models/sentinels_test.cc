#include "server/core/models/sentinels.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "server/core/models/model_gate.h"
#include "server/testing/model_push.h"
#include "server/testing/saboteur.h"
#include "server/testing/service_test.h"

namespace stripline::server {
namespace {

TEST(SentinelPolicy, MeasuresAsTheVersionWasMeasured) {
  CampaignRecord campaign;
  campaign.spec.fabric = "emulated:x";
  campaign.spec.clock = "virtual";
  campaign.spec.nodes = 3;
  campaign.spec.ranks = 3;
  campaign.spec.cluster = "big";
  campaign.spec.effort = Effort::full;
  campaign.spec.time_budget_s = 900;
  campaign.spec.model = "models/x";
  const CampaignSpec sentinels = sentinel_spec(campaign, "emulated:x");
  EXPECT_EQ(sentinels.clock, "virtual");
  EXPECT_EQ(sentinels.nodes, 3U);
  EXPECT_EQ(sentinels.cluster, "big");
  EXPECT_EQ(sentinels.experiments, std::vector<std::string>{"micro.latency"});
  EXPECT_EQ(sentinels.model, "");
  // Bursts and shapes, too, where its campaign has measured them.
  campaign.requirements = {{"micro.flood", 1}, {"micro.vis_window", 1}, {"micro.compute", 1}};
  EXPECT_EQ(sentinel_spec(campaign, "emulated:x").experiments,
            (std::vector<std::string>{"micro.latency", "micro.flood", "micro.vis_window"}));
  EXPECT_LT(sentinels.time_budget_s, 900);
  const CampaignSpec replacement = replacement_spec(campaign, "emulated:x", "y");
  EXPECT_EQ(replacement.time_budget_s, 900);
  EXPECT_EQ(replacement.model, "models/y");
  EXPECT_EQ(sentinel_spec(std::nullopt, "tcp").fabric, "tcp");
}

TEST(SentinelPolicy, SettingsAreValidatedAgainWhereTheyWereTuned) {
  CampaignRecord tuned;
  tuned.spec = *complete_spec({.fabric = "tune:openmpi",
                               .cluster = "big",
                               .tune_ranks = "2,4",
                               .tune_path = "tcp",
                               .commutative_only = true});
  const CampaignSpec spec = settings_check_spec(tuned, {"nodes/a"}, {"big-openmpi-tcp", 3});
  EXPECT_EQ(spec.verifies, "models/big-openmpi-tcp/versions/3");
  EXPECT_EQ(spec.only_nodes, std::vector<std::string>{"nodes/a"});
  const auto complete = complete_spec(spec);
  ASSERT_TRUE(complete) << complete.problem().message;
  EXPECT_EQ(complete->model, "");
  EXPECT_EQ(complete->tune_ranks, "2,4");
  EXPECT_EQ(complete->tune_path, "tcp");
  EXPECT_TRUE(complete->commutative_only);
  EXPECT_LT(complete->time_budget_s, tuned.spec.time_budget_s);
}

TEST(SentinelPolicy, ASecondLookComesSoon) {
  ModelVersionRecord version;
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1100);
  version.checks = {{{"tcp", 1}, "campaigns/c2", 1200, {20, 1, 1}}};
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1300);
  EXPECT_EQ(sentinels_due_unix_s(version, 1250, 100), 1350) << "it became stable again";
  version.checks.push_back({{"tcp", 1}, "campaigns/c3", 1300, {20, 19, 2}});
  EXPECT_EQ(sentinels_due_unix_s(version, 1000, 100), 1310);
}

// What becomes of versions that are stale, without measuring.
class StaleVersionsTest : public ModelPushTest {
 protected:
  // As a server that has just started.
  void tend(StalePolicy policy = StalePolicy::replace) {
    const Status tended = Sentinels(*coordinator_, *store_, {0, policy}).tend(100);
    EXPECT_TRUE(tended.ok()) << tended.error().message();
  }

  void make_stale(int64_t number) {
    apply({.staled = {{{"tcp", number}, "sentinels are off", 9}}});
  }

  // The campaign that was to replace a version has made this one.
  void measure_anew(int64_t stale, int64_t number, const std::string& owner = "server") {
    CampaignRecord record = campaign(7, version_name({"tcp", stale}) + "/replacement");
    record.owner = owner;
    record.state = CampaignState::succeeded;
    record.model_version = version_name({"tcp", number});
    apply({.campaigns = {record}});
  }

  // 0: nothing.
  int64_t named(std::string_view label) {
    const auto moves = store_->labels("tcp");
    const LabelRecord* const current = current_of(*moves, label);
    return current == nullptr ? 0 : current->key.version;
  }

  // The first is stable, the second was and is stale, the third is to replace it.
  void make_replacement() {
    ASSERT_TRUE(promote(1, "stable"));
    ASSERT_TRUE(promote(2, "stable"));
    make_stale(2);
    measure_anew(2, 3);
    tend();
    ASSERT_EQ(named(kStableLabel), 1);
  }
};

TEST_F(StaleVersionsTest, OneThatIsStillStableIsRolledBackUnlessItIsKept) {
  ASSERT_TRUE(promote(1, "stable"));
  ASSERT_TRUE(promote(2, "stable"));
  make_stale(2);
  tend(StalePolicy::keep);
  EXPECT_EQ(named(kStableLabel), 2);
  tend(StalePolicy::rollback);
  EXPECT_EQ(named(kStableLabel), 1);
  EXPECT_TRUE((*store_->model_version({"tcp", 2}))->stale_in_use);
  make_stale(1);
  tend(StalePolicy::rollback);
  EXPECT_EQ(named(kStableLabel), 0);
}

TEST_F(StaleVersionsTest, AreCountedWhileALabelNamesThem) {
  const auto figure = [&] {
    coordinator_->offer_models();
    coordinator_->measure();
    const std::string text = meters_.text();
    const std::string name = "\nstripline_models_stale ";
    return text.substr(text.find(name) + name.size(), 2);
  };
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(figure(), "0\n");
  make_stale(2);
  EXPECT_EQ(figure(), "0\n") << "nodes are offered another one";
  make_stale(1);
  EXPECT_EQ(figure(), "1\n");
}

TEST_F(StaleVersionsTest, AReplacementIsTriedAndThenStableOnce) {
  const FakeAgent a = connect("a");
  make_replacement();
  tend();
  EXPECT_EQ(named(kCanaryLabel), 3);
  tend();
  EXPECT_EQ(named(kStableLabel), 1) << "its canary has not answered";
  answer(a, 3);
  tend();
  EXPECT_EQ(named(kStableLabel), 3);
  EXPECT_EQ(named(kCanaryLabel), 0) << "the trial is over";
  // A person takes it back, from all nodes.
  ASSERT_TRUE(rollback("stable"));
  EXPECT_EQ(model_of("a").key.version, 1);
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kStableLabel), 1);
  EXPECT_EQ(named(kCanaryLabel), 0);
}

TEST_F(StaleVersionsTest, ATrialThatAPersonHasEndedIsNotBegunAgain) {
  const FakeAgent a = connect("a");
  make_replacement();
  tend();
  answer(a, 3);
  ASSERT_TRUE(rollback("canary"));
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kCanaryLabel), 0);
  // A trial of his own he ends himself.
  ASSERT_TRUE(promote(3, "canary"));
  tend();
  EXPECT_EQ(named(kStableLabel), 1);
}

TEST_F(StaleVersionsTest, WhatAPersonHasMadeStableHeMayTakeBack) {
  const FakeAgent a = connect("a");
  make_replacement();
  tend();
  answer(a, 3);
  ASSERT_TRUE(promote(3, "stable"));
  ASSERT_TRUE(rollback("stable"));
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kStableLabel), 1);
}

TEST_F(StaleVersionsTest, ATrialWaitsForAnAgent) {
  make_replacement();
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kCanaryLabel), 0);
  EXPECT_EQ(named(kStableLabel), 1);
  const FakeAgent a = connect("a");
  tend();
  EXPECT_EQ(named(kCanaryLabel), 3);
}

TEST_F(StaleVersionsTest, ATrialThatCouldNotBeStoredBeginsLater) {
  const FakeAgent a = connect("a");
  make_replacement();
  Sentinels sentinels(*coordinator_, *store_, {0, StalePolicy::replace});
  Saboteur(path_.parent_path())
      .run(
          "CREATE TRIGGER no_room BEFORE INSERT ON model_labels"
          " BEGIN SELECT RAISE(ABORT, 'no room'); END");
  EXPECT_TRUE(sentinels.tend(100).ok());
  EXPECT_EQ(named(kCanaryLabel), 0);
  Saboteur(path_.parent_path()).run("DROP TRIGGER no_room");
  EXPECT_TRUE(sentinels.tend(100).ok());
  EXPECT_EQ(named(kCanaryLabel), 3);
}

TEST_F(StaleVersionsTest, OneThatWasNeverStableIsNotReplaced) {
  const FakeAgent a = connect("a");
  publish(4);
  ASSERT_TRUE(promote(2, "stable"));
  make_stale(3);
  measure_anew(3, 4);
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kCanaryLabel), 0);
  EXPECT_EQ(named(kStableLabel), 2);
}

// An operator can name his request as the server names its own.
TEST_F(StaleVersionsTest, ACampaignOfSomebodyElseReplacesNothing) {
  const FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  ASSERT_TRUE(promote(2, "stable"));
  make_stale(2);
  measure_anew(2, 3, "users/mallory");
  for (int i = 0; i < 3; ++i) tend();
  EXPECT_EQ(named(kCanaryLabel), 0);
  EXPECT_EQ(named(kStableLabel), 1);
  // The server has made one of its own under that name, or tries to.
  const auto own =
      *store_->campaign_of_request("server", version_name({"tcp", 2}) + "/replacement");
  EXPECT_TRUE(!own || own->number != 7);
}

TEST_F(StaleVersionsTest, AModelThatCannotBeReadKeepsNoOtherFromBeingLookedAfter) {
  NewModelVersion first;
  first.record.key = {"first", 1};
  first.fabric = "tcp";
  first.content = "{}";
  apply({.versions = {first}, .labels = {{{"first", 1}, "stable", 1, kPublisher, 5}}});
  ASSERT_TRUE(promote(1, "stable"));
  make_stale(1);
  Saboteur(path_.parent_path())
      .run("UPDATE model_labels SET nodes = 'nonsense' WHERE model = 'first'");
  tend(StalePolicy::rollback);
  EXPECT_EQ(named(kStableLabel), 0);
}

class SentinelsTest : public ServiceTest {
 protected:
  void SetUp() override {
    options_.sentinels = {0.5, StalePolicy::replace};
    ServiceTest::SetUp();
  }

  void start_agents(double slowness) {
    agents_.clear();
    AutoAgent::Options options;
    options.takes_models = true;
    options.measures_windows = true;
    options.machine.o_base *= slowness;
    options.machine.L *= slowness;
    options.machine.G *= slowness;
    options.machine.r_base *= slowness;
    ServiceTest::start_agents(options);
  }

  v1::ModelVersion version(int number) {
    v1::GetModelVersionRequest request;
    request.set_name("models/tcp/versions/" + std::to_string(number));
    v1::ModelVersion version;
    grpc::ClientContext context;
    return models_->GetModelVersion(&context, request, &version).ok() ? version
                                                                      : v1::ModelVersion();
  }

  bool is_stable(int number) {
    const auto labels = version(number).labels();
    return std::ranges::find(labels, "stable") != labels.end();
  }
};

TEST_F(SentinelsTest, ANetworkThatHasChangedIsNoticedAndItsModelReplaced) {
  start_agents(1);
  ASSERT_EQ(watch(created(model_spec()).name()).back().campaign().state(), v1::Campaign::SUCCEEDED);
  v1::PromoteModelVersionRequest promotion;
  promotion.set_name("models/tcp/versions/1");
  promotion.set_label("stable");
  v1::ModelVersion promoted;
  grpc::ClientContext context;
  const auto status = models_->PromoteModelVersion(&context, promotion, &promoted);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_TRUE(eventually([&] { return version(1).checks_size() >= 2; }));
  EXPECT_TRUE(is_stable(1));
  EXPECT_EQ(version(1).state(), v1::ModelVersion::PUBLISHED);

  start_agents(3);
  ASSERT_TRUE(eventually([&] { return version(1).state() == v1::ModelVersion::STALE; }));
  ASSERT_TRUE(eventually([&] { return is_stable(2); }));
  EXPECT_FALSE(is_stable(1));
  EXPECT_TRUE(eventually([&] { return version(2).checks_size() >= 1; }));
  EXPECT_EQ(version(2).state(), v1::ModelVersion::PUBLISHED);
  // The server that starts again knows what it has done.
  server_.reset();
  start();
  for (const auto& agent : agents_) agent->set_address(address_);
  const int checks = version(2).checks_size();
  ASSERT_TRUE(eventually([&] { return version(2).checks_size() > checks; }));
  EXPECT_EQ(version(3).name(), "");
}

}  // namespace
}  // namespace stripline::server
