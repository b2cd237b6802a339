// What publishers do with versions of models, over a store without a server.
#include "server/core/models/model_actions.h"

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/json.h"
#include "optimizer/experiment/tuning.h"
#include "server/core/models/fit_job.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/published_model.h"
#include "server/core/models/sentinels.h"
#include "server/core/models/settings_version.h"
#include "server/core/reads.h"
#include "server/testing/packed_settings.h"
#include "server/testing/saboteur.h"
#include "server/testing/tuned_store.h"

namespace stripline::server {
namespace {

constexpr const char* kActor = "users/alice";

class ModelActionsTest : public TunedStoreTest {
 protected:
  Answer<v1::ModelVersion> promote(const std::string& name, const std::string& label) {
    v1::PromoteModelVersionRequest request;
    request.set_name(name);
    request.set_label(label);
    return promote_model(*coordinator(), *store_, request, kActor);
  }

  Answer<v1::ModelVersion> rollback() {
    v1::RollbackModelLabelRequest request;
    request.set_name("models/tcp/labels/stable");
    return rollback_label(*coordinator(), *store_, request, kActor);
  }

  Answer<v1::ModelVersion> validate(const std::string& name, const std::string& campaign) {
    v1::ValidateModelVersionRequest request;
    request.set_name(name);
    request.add_campaigns(campaign);
    return validate_model(*store_, request, kActor);
  }

  Answer<v1::ModelVersion> check_of(const std::string& name, const std::string& campaign) {
    v1::CheckModelVersionRequest request;
    request.set_name(name);
    request.set_campaign(campaign);
    request.set_rollback(true);
    return check_model(*coordinator(), *store_, request, kActor);
  }

  Answer<v1::ModelVersion> import(const std::string& content) {
    v1::ImportModelVersionRequest request;
    request.set_content(content);
    return import_model(*store_, request, kActor);
  }

  void withdraw(const std::string& name) {
    v1::WithdrawModelVersionRequest request;
    request.set_name(name);
    request.set_reason("a busy host");
    ASSERT_TRUE(withdraw_model(*coordinator(), *store_, request, kActor));
  }

  // One that has not been started: it serves no one.
  std::unique_ptr<Coordinator> coordinator() {
    return std::make_unique<Coordinator>(*store_, hub_, meters_, fit_in_process,
                                         CoordinatorOptions());
  }

  std::string labelled(const std::string& label) {
    const auto version = find_version(*store_, "models/tcp/labels/" + label);
    return version ? version_name(version->key) : version.problem().reason;
  }

  WatchHub hub_;
  Meters meters_;
};

TEST_F(ModelActionsTest, AFitIsJudgedOnPointsThatWereHeldOut) {
  const FittedModel model = fitted();
  ASSERT_TRUE(model.judgement);
  EXPECT_GE(model.judgement->points, 3U);
  EXPECT_LT(model.judgement->mean_error, 0.1);
  ASSERT_FALSE(model.findings.empty());
  EXPECT_NE(model.summary.find(model.findings.front().message), std::string::npos);
}

TEST_F(ModelActionsTest, LabelsMoveThroughTheGateAndBack) {
  const std::string first = published(1, 0.01);
  const std::string second = published(2, 0.02);
  const std::string worse = published(3, 0.06);
  EXPECT_EQ(labelled("stable"), "MODEL_VERSION_NOT_FOUND");
  EXPECT_EQ(rollback().problem().reason, "NO_EARLIER_VERSION");
  const auto promoted = promote(first, "stable");
  ASSERT_TRUE(promoted) << promoted.problem().message;
  EXPECT_EQ(promoted->state(), v1::ModelVersion::PUBLISHED);
  EXPECT_EQ(promoted->labels(0), "stable");
  ASSERT_TRUE(promote(second, "stable"));
  const auto refused = promote(worse, "stable");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.problem().reason, "GATE");
  EXPECT_NE(refused.problem().message.find("6.0 %"), std::string::npos)
      << refused.problem().message;
  check([&] { EXPECT_EQ(labelled("stable"), second); });
  const auto back = rollback();
  ASSERT_TRUE(back) << back.problem().message;
  EXPECT_EQ(back->name(), first);
  check([&] {
    EXPECT_EQ(labelled("stable"), first);
    EXPECT_EQ((*store_->model_version({"tcp", 2}))->labels.size(), 0U);
  });
  const auto audit = *store_->audit(0, 1);
  EXPECT_EQ(audit.front().actor, kActor);
  EXPECT_EQ(audit.front().action, "roll back stable");
}

TEST_F(ModelActionsTest, ARollbackSkipsWhatWasWithdrawn) {
  const std::string first = published(1, 0.01);
  const std::string second = published(2, 0.01);
  const std::string third = published(3, 0.01);
  for (const std::string& name : {first, second, third}) ASSERT_TRUE(promote(name, "stable"));
  withdraw(second);
  ASSERT_TRUE(rollback());
  EXPECT_EQ(labelled("stable"), first);
  EXPECT_EQ(promote(second, "stable").problem().reason, "GATE");
}

TEST_F(ModelActionsTest, AnotherCampaignJudges) {
  measure_campaign(1, SyntheticMachine());
  measure_campaign(2, SyntheticMachine());
  SyntheticMachine slower;
  slower.L *= 3;
  slower.o_base *= 3;
  slower.G *= 3;
  measure_campaign(3, slower);
  const std::string name = published(1, 0.01);
  const auto own = validate(name, "campaigns/c1");
  EXPECT_EQ(own.problem().reason, "INVALID_FIELD");
  EXPECT_EQ(validate(name, "campaigns/c9").problem().reason, "CAMPAIGN_NOT_FOUND");
  EXPECT_EQ(validate(name, "nonsense").problem().reason, "INVALID_FIELD");
  const auto good = validate(name, "campaigns/c2");
  ASSERT_TRUE(good) << good.problem().message;
  EXPECT_EQ(good->state(), v1::ModelVersion::VALIDATED) << good->failed() << good->unjudged();
  EXPECT_EQ(good->validation().campaigns(0), "campaigns/c2");
  EXPECT_LT(good->validation().mean_error(), 0.1);
  EXPECT_EQ(good->validation().choices(), 4U);
  const auto bad = validate(name, "campaigns/c3");
  ASSERT_TRUE(bad) << bad.problem().message;
  EXPECT_EQ(bad->state(), v1::ModelVersion::FAILED);
  EXPECT_GT(bad->validation().mean_error(), kMaxError);
  EXPECT_EQ(promote(name, "canary").problem().reason, "GATE");
}

// The network has changed under the agents: it is noticed, marked, withdrawn and replaced.
TEST_F(ModelActionsTest, SentinelsThatAreOffTwiceMakeAVersionStale) {
  SyntheticMachine slower;
  slower.L *= 2;
  slower.G *= 2;
  measure_campaign(1, SyntheticMachine());
  measure_campaign(2, SyntheticMachine());
  measure_campaign(3, slower);
  measure_campaign(4, slower);
  const std::string first = published(1, 0.01);
  const std::string second = published(2, 0.01);
  ASSERT_TRUE(promote(first, "stable"));
  ASSERT_TRUE(promote(second, "stable"));
  const auto check_by = [&](const std::string& campaign) { return check_of(second, campaign); };
  EXPECT_EQ(check_by("campaigns/c1").problem().reason, "INVALID_FIELD");
  EXPECT_EQ(check_by("campaigns/c9").problem().reason, "CAMPAIGN_NOT_FOUND");
  const auto good = check_by("campaigns/c2");
  ASSERT_TRUE(good) << good.problem().message;
  EXPECT_LT(2 * good->checks(0).outside(), good->checks(0).points());
  const auto once = check_by("campaigns/c3");
  ASSERT_TRUE(once) << once.problem().message;
  EXPECT_EQ(once->state(), v1::ModelVersion::PUBLISHED);
  EXPECT_GT(once->checks(1).ratio(), 1.3);
  // The same campaign says nothing new.
  EXPECT_EQ(check_by("campaigns/c3")->state(), v1::ModelVersion::PUBLISHED);
  const auto twice = check_by("campaigns/c4");
  ASSERT_TRUE(twice) << twice.problem().message;
  EXPECT_EQ(twice->state(), v1::ModelVersion::STALE);
  EXPECT_NE(twice->stale().find("campaigns/c4"), std::string::npos) << twice->stale();
  EXPECT_EQ(labelled("stable"), first);
  check([&] { EXPECT_EQ((*store_->model("tcp"))->latest_version, 1); });
  EXPECT_EQ(promote(second, "canary").problem().reason, "GATE");
}

// Four ranks share what two had to themselves: that says nothing of the version.
TEST_F(ModelActionsTest, SentinelsOfAnotherGroupAreNotCompared) {
  measure_campaign(1, SyntheticMachine());
  measure_campaign(2, SyntheticMachine());
  const std::string name = published(1, 0.01);
  CampaignRecord larger = **store_->campaign(2);
  larger.spec.ranks += 2;
  apply({.campaigns = {larger}});
  const auto refused = check_of(name, "campaigns/c2");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.problem().reason, "INVALID_FIELD");
  EXPECT_NE(refused.problem().message.find("name a campaign of the same size"), std::string::npos)
      << refused.problem().message;
}

TEST_F(ModelActionsTest, AStaleVersionIsRolledBackInTheStepThatMarksIt) {
  SyntheticMachine slower;
  slower.L *= 2;
  slower.G *= 2;
  measure_campaign(1, SyntheticMachine());
  for (int64_t number = 2; number <= 3; ++number) measure_campaign(number, slower);
  const std::string name = published(1, 0.01);
  ASSERT_TRUE(promote(name, "stable"));
  ASSERT_TRUE(check_of(name, "campaigns/c2"));
  Saboteur(path_.parent_path())
      .run(
          "CREATE TRIGGER no_room BEFORE DELETE ON model_labels"
          " BEGIN SELECT RAISE(ABORT, 'no room'); END");
  EXPECT_FALSE(check_of(name, "campaigns/c3"));
  check([&] {
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->stale, "");
    EXPECT_EQ(labelled("stable"), name);
  });
  Saboteur(path_.parent_path()).run("DROP TRIGGER no_room");
  const auto checked = check_of(name, "campaigns/c3");
  ASSERT_TRUE(checked) << checked.problem().message;
  EXPECT_EQ(checked->state(), v1::ModelVersion::STALE);
  check([&] {
    EXPECT_TRUE((*store_->model_version({"tcp", 1}))->stale_in_use);
    EXPECT_TRUE(store_->labels("tcp")->empty());
  });
}

TEST_F(ModelActionsTest, AnImportedModelIsAVersionThatNothingHasValidated) {
  const FittedModel model = fitted();
  const auto imported = import(model.content);
  ASSERT_TRUE(imported) << imported.problem().message;
  EXPECT_EQ(imported->name(), "models/tcp/versions/1");
  EXPECT_EQ(imported->sha256(), model.sha256);
  EXPECT_EQ(imported->state(), v1::ModelVersion::FITTED);
  EXPECT_EQ(import(model.content)->name(), "models/tcp/versions/2");
  EXPECT_EQ(promote(imported->name(), "stable").problem().reason, "GATE");
  EXPECT_EQ(import("{}").problem().reason, "INVALID_FIELD");
  std::string altered = model.content;
  altered[altered.find("\"sha256\": \"") + 11] = 'x';
  EXPECT_EQ(import(altered).problem().reason, "INVALID_FIELD");
  check([&] { EXPECT_EQ(*store_->model_content({"tcp", 1}), model.content); });
}

TEST_F(ModelActionsTest, WhatIsNamedMustBeThere) {
  published(1, 0.01);
  EXPECT_EQ(promote("models/tcp/versions/7", "stable").problem().reason, "MODEL_VERSION_NOT_FOUND");
  EXPECT_EQ(promote("models/tcp", "newest").problem().reason, "INVALID_FIELD");
  EXPECT_EQ(promote("tcp", "stable").problem().reason, "INVALID_FIELD");
  v1::RollbackModelLabelRequest request;
  request.set_name("models/nothing/labels/stable");
  EXPECT_EQ(rollback_label(*coordinator(), *store_, request, kActor).problem().reason,
            "MODEL_NOT_FOUND");
  request.set_name("models/tcp");
  EXPECT_EQ(rollback_label(*coordinator(), *store_, request, kActor).problem().reason,
            "INVALID_FIELD");
}

// Versions of a model of the target, which go by the validation that they bring.
TEST_F(ModelActionsTest, SettingsOfAnotherRuntimeAreImportedPromotedAndMarkedStale) {
  const auto first = import(packed_settings());
  ASSERT_TRUE(first) << first.problem().message;
  EXPECT_EQ(first->name(), "models/openmpi/versions/1");
  EXPECT_EQ(first->state(), v1::ModelVersion::VALIDATED);
  EXPECT_EQ((*store_->model("openmpi"))->fabric, "target:openmpi");
  EXPECT_EQ(validate(first->name(), "campaigns/c1").problem().reason, "INVALID_FIELD");
  EXPECT_EQ(check_of(first->name(), "campaigns/c1").problem().reason, "INVALID_FIELD");

  // One that was not proven gets no label; one that is as good replaces the first.
  const auto unread = import(packed_settings(true, 0));
  ASSERT_TRUE(unread) << unread.problem().message;
  EXPECT_EQ(promote(unread->name(), "stable").problem().reason, "GATE");
  ASSERT_TRUE(promote(first->name(), "stable"));
  const auto next =
      import(packed_settings(true, 3.5, Json::array({compared_settings("NON_INFERIOR", 0.9)})));
  ASSERT_TRUE(next) << next.problem().message;
  const auto promoted = promote(next->name(), "stable");
  ASSERT_TRUE(promoted) << promoted.problem().message;

  // What does not hold any more loses the label to the version of before.
  const auto back = mark_stale(*coordinator(), *store_, {"openmpi", 3}, "the kernel is another one",
                               true, kActor);
  ASSERT_TRUE(back) << back.problem().message;
  EXPECT_EQ(back->name(), first->name());
  EXPECT_EQ((*store_->model_version({"openmpi", 3}))->stale, "the kernel is another one");
  const auto kept = mark_stale(*coordinator(), *store_, {"openmpi", 1}, "the kernel is another one",
                               false, kActor);
  ASSERT_TRUE(kept) << kept.problem().message;
  EXPECT_EQ(current_of(*store_->labels("openmpi"), kStableLabel)->key.version, 1);
}

TEST_F(ModelActionsTest, SettingsAreStaleOnceTheirTargetHasChangedWhereTheyWereTuned) {
  const VersionKey key{"openmpi-shm", 1};
  const std::map<std::string, std::string> then = {{"target.openmpi.version", "4.1.4"}};
  const auto is_now = [](const std::string& node, const std::string& version) {
    return NodeRecord{node, "0.1.0", {{"target.openmpi.version", version}}, {"target:openmpi"},
                      {},   5};
  };
  CampaignRecord tuned = campaign(1);
  tuned.spec = *complete_spec({.fabric = "tune:openmpi"});
  tuned.state = CampaignState::succeeded;
  RunRecord finished = run(1, 1);
  finished.state = RunState::finished;
  finished.fence = 1;
  const auto settings = settings_version(packed_settings(), "it");
  ASSERT_TRUE(settings.ok()) << settings.error().message();
  Changes changes;
  changes.campaigns.push_back(tuned);
  changes.runs.push_back(finished);
  changes.attempts.push_back({finished.key, 1, "a"});
  changes.facts.push_back({finished.key, 1, "a", then});
  changes.nodes.push_back(is_now("a", "4.1.4"));
  // One where nothing was tuned says nothing of them.
  changes.nodes.push_back(is_now("b", "5.0.7"));
  add_version(changes, key, "target:openmpi", settings->version, {"campaigns/c1"}, 5);
  apply(changes);
  ASSERT_TRUE(promote(version_name(key), "stable"));

  // Another campaign has tried them again, and one of nothing of theirs.
  const auto tried_again = [&](int64_t number, const std::string& sent) {
    CampaignRecord verified = campaign(number);
    verified.spec = settings_check_spec(tuned, {"nodes/a"}, key);
    verified.state = CampaignState::succeeded;
    RunRecord of_it = run(number, 1);
    of_it.state = RunState::finished;
    of_it.fence = 1;
    experiment::SampleSeries series{{experiment::kTuneExperiment, "settings", {}}, 1, {1.5}};
    series.verified = true;
    series.result = sent;
    BatchRecord sent_batch = batch(of_it.key, 1, 1);
    sent_batch.data = Json::array({experiment::to_json(series)}).dump();
    Changes again;
    again.campaigns.push_back(verified);
    again.runs.push_back(of_it);
    again.attempts.push_back({of_it.key, 1, "a"});
    again.batches.push_back(sent_batch);
    apply(again);
    return check_of(version_name(key), campaign_name(number));
  };
  EXPECT_EQ(check_of(version_name(key), "campaigns/c1").problem().reason, "INVALID_FIELD");
  const auto held = tried_again(2, packed_settings());
  ASSERT_TRUE(held) << held.problem().message;
  EXPECT_EQ(held->checks_size(), 1);
  const auto once = tried_again(3, packed_settings(false));
  ASSERT_TRUE(once) << once.problem().message;
  EXPECT_EQ(once->state(), v1::ModelVersion::PUBLISHED);
  const auto held_again = tried_again(4, packed_settings());
  ASSERT_TRUE(held_again) << held_again.problem().message;
  EXPECT_EQ((*store_->model_version(key))->stale, "");

  const auto served = coordinator();
  Sentinels sentinels(*served, *store_, {0, StalePolicy::rollback});
  ASSERT_TRUE(sentinels.tend(100).ok());
  EXPECT_EQ((*store_->model_version(key))->stale, "");
  Changes changed;
  changed.nodes.push_back(is_now("a", "4.1.7"));
  apply(changed);
  ASSERT_TRUE(sentinels.tend(101).ok());
  EXPECT_EQ((*store_->model_version(key))->stale,
            "on nodes/a the version of openmpi was 4.1.4 and is 4.1.7");
  EXPECT_EQ(current_of(*store_->labels(key.model), kStableLabel), nullptr);
}

}  // namespace
}  // namespace stripline::server
