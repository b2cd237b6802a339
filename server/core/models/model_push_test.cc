// How labelled versions reach nodes, and what becomes of their answers.

#include "server/testing/model_push.h"

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "server/core/models/feedback.h"
#include "server/core/models/model_gate.h"
#include "server/core/reads.h"
#include "server/testing/saboteur.h"

namespace stripline::server {
namespace {

TEST_F(ModelPushTest, CanariesFirstThenTheRest) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b");
  EXPECT_EQ(offered(a), "");
  ASSERT_TRUE(promote(1, "canary"));
  EXPECT_EQ(offered(a), "1");
  EXPECT_EQ(offered(b), "");
  const auto early = promote(1, "stable");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.problem().reason, "GATE");
  EXPECT_NE(early.problem().message.find("nodes/a"), std::string::npos);
  answer(a, 1);
  EXPECT_TRUE(model_of("a").answer->applied);
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(b), "1");
  EXPECT_EQ(offered(a), "");
}

TEST_F(ModelPushTest, ACanaryThatBecomesStableIsCanaryNoMore) {
  const FakeAgent a = connect("a");
  ASSERT_TRUE(promote(2, "canary"));
  answer(a, 2);
  ASSERT_TRUE(promote(1, "canary"));
  answer(a, 1);
  const auto stable = promote(1, "stable");
  ASSERT_TRUE(stable) << stable.problem().message;
  EXPECT_EQ(std::vector<std::string>(stable->labels().begin(), stable->labels().end()),
            std::vector<std::string>{"stable"});
  auto moves = store_->labels("tcp");
  EXPECT_EQ(current_of(*moves, kCanaryLabel), nullptr) << "version 2 is not tried again";
  EXPECT_EQ(model_of("a").label, "stable");
  // What became canary afterwards, too.
  ASSERT_TRUE(promote(1, "canary"));
  ASSERT_TRUE(promote(1, "stable"));
  moves = store_->labels("tcp");
  EXPECT_EQ(current_of(*moves, kCanaryLabel), nullptr);
  EXPECT_EQ(current_of(*moves, kStableLabel)->place, 1);
  // So that a rollback reaches the nodes that tried it, too.
  ASSERT_TRUE(promote(2, "stable"));
  EXPECT_EQ(model_of("a").key.version, 2);
  ASSERT_TRUE(rollback("stable"));
  EXPECT_EQ(model_of("a").key.version, 1);
}

TEST_F(ModelPushTest, ABadCanaryNeverReachesTheRest) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b");
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(a) + offered(b), "11");
  answer(a, 1);
  answer(b, 1);
  ASSERT_TRUE(promote(2, "canary", {"b"}));
  EXPECT_EQ(offered(b), "2");
  answer(b, 2, "cpu.architecture was 'x86_64', here it is 'riscv64'");
  EXPECT_NE(model_of("b").answer->reason.find("riscv64"), std::string::npos);
  const auto refused = promote(2, "stable");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.problem().message.find("riscv64"), std::string::npos);
  // Also once the canary is over, and after a restart of the server.
  ASSERT_TRUE(rollback("canary"));
  EXPECT_EQ(offered(a), "");
  EXPECT_EQ(model_of("b").key.version, 1);
  restart();
  EXPECT_FALSE(promote(2, "stable"));
  ASSERT_TRUE(promote(3, "stable"));
}

TEST_F(ModelPushTest, ANodeThatTakesItAfterAllClearsItsRejection) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "canary", {"a"}));
  EXPECT_EQ(offered(a), "1");
  answer(a, 1, "/var/lib/stripline-models is full");
  EXPECT_FALSE(promote(1, "stable"));
  // Asked for again in the same session, it is offered again.
  ASSERT_TRUE(promote(1, "canary", {"a"}));
  EXPECT_EQ(a.link->take().size(), 1U);
  answer(a, 1);
  restart();
  ASSERT_TRUE(promote(1, "stable"));
}

TEST_F(ModelPushTest, ARejectionGoesWithItsNode) {
  const FakeAgent a = connect("a");
  const FakeAgent b = connect("b");
  ASSERT_TRUE(promote(1, "canary", {"a"}));
  answer(a, 1, "another processor");
  ASSERT_TRUE(promote(1, "canary", {"b"}));
  answer(b, 1);
  EXPECT_FALSE(promote(1, "stable"));
  coordinator_->sessions().close_session(a.session);
  ASSERT_TRUE(coordinator_->fleet().remove_node("a", kPublisher));
  restart();
  ASSERT_TRUE(promote(1, "stable"));
}

TEST_F(ModelPushTest, ARollbackReachesEveryNode) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  ASSERT_TRUE(promote(2, "stable"));
  answer(a, 2);
  a.link->take();
  ASSERT_TRUE(rollback("stable"));
  EXPECT_EQ(offered(a), "1");
}

TEST_F(ModelPushTest, WhatIsWithdrawnGoesWhereThereIsNothingInItsPlace) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b", true, {{"tcp", "999999999999"}});  // somebody else's
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  coordinator_->sessions().close_session(b.session);
  b = connect("b", true, {{"tcp", "999999999999"}});
  withdraw(1);
  EXPECT_EQ(a.link->take_withdrawn(),
            "tcp 111111111111: models/tcp/versions/1 is withdrawn: a wrong network");
  EXPECT_EQ(b.link->take_withdrawn(), "");
  // An agent that was not there hears of it when it comes.
  FakeAgent late = connect("late", true, {{"tcp", "111111111111"}});
  EXPECT_NE(late.link->wait_for_withdrawn(), "");
  // What comes in its place is offered, which replaces it.
  ASSERT_TRUE(promote(2, "stable"));
  answer(late, 2);
  FakeAgent later = connect("later", true, {{"tcp", "111111111111"}});
  EXPECT_EQ(offered(later), "2");
  EXPECT_EQ(later.link->take_withdrawn(), "");
}

TEST_F(ModelPushTest, WhatIsWithdrawnGoesWhereWhatIsInItsPlaceIsRejected) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(a), "1");
  answer(a, 1);
  ASSERT_TRUE(promote(2, "stable"));
  EXPECT_EQ(offered(a), "2");
  withdraw(1);
  EXPECT_EQ(a.link->take_withdrawn(), "") << "it may take the other one";
  answer(a, 2, "another processor");
  EXPECT_EQ(a.link->take_withdrawn(),
            "tcp 111111111111: models/tcp/versions/1 is withdrawn: a wrong network");
  EXPECT_EQ(a.link->take().size(), 0U);
  // An agent that was not there then hears of it when it comes, and is asked once more.
  coordinator_->sessions().close_session(a.session);
  a = connect("a", true, {{"tcp", "111111111111"}});
  EXPECT_NE(a.link->wait_for_withdrawn(), "");
  coordinator_->offer_models();
  EXPECT_FALSE(a.link->take().empty());
}

TEST_F(ModelPushTest, AFileThatWasPublishedAgainIsNotTheOneThatWasWithdrawn) {
  withdraw(1);
  NewModelVersion again;
  again.record.key = {"again", 1};
  again.record.sha256 = std::string(64, '1');
  again.fabric = "tcp";
  again.content = "{1}";
  apply({.versions = {again}, .labels = {{{"again", 1}, "stable", 1, kPublisher, 5}}});
  coordinator_->offer_models();
  const FakeAgent a = connect("a", true, {{"tcp", "111111111111"}});
  coordinator_->offer_models();
  EXPECT_EQ(a.link->take_withdrawn(), "");
  EXPECT_EQ(model_of("a").key.model, "again");
  EXPECT_EQ(model_of("a").unfit, "");
  // It is not fit either once it does not hold.
  apply({.staled = {{{"again", 1}, "sentinels are off", 9}}});
  coordinator_->offer_models();
  EXPECT_NE(model_of("a").unfit, "");
}

TEST_F(ModelPushTest, AModelThatCannotBeReadKeepsNoOtherBack) {
  NewModelVersion other;
  other.record.key = {"shm", 1};
  other.record.sha256 = std::string(64, '4');
  other.fabric = "shm";
  other.content = "{4}";
  apply({.versions = {other},
         .labels = {{{"shm", 1}, "stable", 1, kPublisher, 5, {}},
                    {{"tcp", 1}, "stable", 1, kPublisher, 5, {}}}});
  Saboteur saboteur(folder_.path());
  saboteur.run("UPDATE model_labels SET nodes = '[' WHERE model = 'tcp'");
  restart();
  const FakeAgent a = connect("a", true, {}, {"tcp", "shm"});
  coordinator_->offer_models();
  const auto offers = a.link->take();
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_EQ(offers.front().version, "models/shm/versions/1");
  // Users and those who watch the server see it.
  const auto models = list_models(*coordinator_, *store_, {});
  ASSERT_TRUE(models) << models.problem().message;
  ASSERT_EQ(models->models_size(), 2);
  EXPECT_EQ(models->models(0).unreadable(), "");
  EXPECT_TRUE(models->models(1).unreadable().starts_with("move 1 of the label stable: "))
      << models->models(1).unreadable();
  coordinator_->measure();
  EXPECT_NE(meters_.text().find("\nstripline_models_unreadable 1\n"), std::string::npos);

  saboteur.run("UPDATE model_labels SET nodes = '[]'");
  coordinator_->offer_models();
  const auto later = a.link->take();
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later.front().version, "models/tcp/versions/1");
  EXPECT_TRUE(coordinator_->models().unreadable().empty());
}

// Another model of the same fabric may have been labelled before: it would take the place of what
// is right.
TEST_F(ModelPushTest, NothingIsOfferedInPlaceOfAModelThatCannotBeRead) {
  NewModelVersion older;
  older.record.key = {"older", 1};
  older.record.sha256 = std::string(64, '5');
  older.fabric = "tcp";
  older.content = "{5}";
  apply({.versions = {older},
         .labels = {{{"older", 1}, "stable", 1, kPublisher, 4, {}},
                    {{"tcp", 1}, "stable", 1, kPublisher, 5, {}}}});
  Saboteur(folder_.path()).run("UPDATE model_labels SET nodes = '[' WHERE model = 'tcp'");
  restart();
  const FakeAgent a = connect("a", true, {{"tcp", "111111111111"}});
  coordinator_->offer_models();
  EXPECT_TRUE(a.link->take().empty());
  EXPECT_EQ(a.link->take_withdrawn(), "");
}

TEST_F(ModelPushTest, ACanaryThatNobodyTriesDoesNotBecomeStable) {
  ASSERT_TRUE(promote(1, "canary"));
  const auto refused = promote(1, "stable");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.problem().message.find("no node tries it"), std::string::npos);
  // Without agents there is no trial, and none is asked for.
  ASSERT_TRUE(promote(2, "stable"));
  ASSERT_TRUE(rollback("canary"));
  ASSERT_TRUE(promote(1, "stable"));
}

TEST_F(ModelPushTest, ThatAVersionDoesNotHoldIsSaidOfTheNodesThatHaveIt) {
  const FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  EXPECT_EQ(model_of("a").unfit, "");
  Changes changes;
  changes.staled.push_back({{"tcp", 1}, "sentinels are off", 9});
  apply(changes);
  coordinator_->offer_models();
  EXPECT_EQ(model_of("a").unfit, "models/tcp/versions/1 is stale: sentinels are off");
  EXPECT_TRUE(model_of("a").answer->applied);
}

TEST_F(ModelPushTest, ReportsOfRunsAreKeptWithTheVersion) {
  const FakeAgent a = connect("a");
  model::Feedback report;
  report.model_sha256 = std::string(64, '2');
  report.program = "transpose";
  report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1}};
  const FeedbackReport message{model::report_text(report)};
  coordinator_->sessions().receive(a.session, message);
  coordinator_->sessions().receive(a.session, message);
  coordinator_->sessions().receive(a.session, FeedbackReport{"nonsense"});
  report.model_sha256 = std::string(64, '9');
  coordinator_->sessions().receive(a.session, FeedbackReport{model::report_text(report)});
  v1::ListFeedbackRequest request;
  request.set_parent("models/tcp");
  const auto list = list_feedback(*store_, request);
  ASSERT_TRUE(list) << list.problem().message;
  ASSERT_EQ(list->feedback_size(), 1);
  EXPECT_EQ(list->feedback(0).version(), "models/tcp/versions/2");
  EXPECT_EQ(list->feedback(0).sender(), "nodes/a");
  EXPECT_EQ(list->feedback(0).places(0).demoted_ranks(), 1U);
  EXPECT_EQ(take_feedback(*store_, "{}", kPublisher).problem().reason, "INVALID_FIELD");
  EXPECT_EQ(take_feedback(*store_, model::report_text(report), kPublisher).problem().reason,
            "MODEL_VERSION_NOT_FOUND");
  request.set_parent("models/none");
  EXPECT_EQ(list_feedback(*store_, request).problem().reason, "MODEL_NOT_FOUND");
  request.set_parent("nonsense");
  EXPECT_EQ(list_feedback(*store_, request).problem().reason, "INVALID_FIELD");
}

// What is read must have been accepted: a report grows when its numbers are written as usual.
TEST_F(ModelPushTest, AReportThatCouldNotBeReadAgainIsRefused) {
  model::Feedback report;
  report.model_sha256 = std::string(64, '2');
  report.places.resize(model::kMaxFeedbackPlaces);
  while (model::feedback_text(report).size() <= model::kMaxFeedbackBytes) {
    for (model::FeedbackPlace& place : report.places) {
      std::string& text = place.what.size() < model::kMaxFeedbackTextBytes     ? place.what
                          : place.choice.size() < model::kMaxFeedbackTextBytes ? place.choice
                                                                               : place.place;
      text += 'x';
    }
  }
  std::string text = model::feedback_text(report);
  for (size_t at = 0; (at = text.find(":0.0", at)) != std::string::npos;) text.erase(at + 2, 2);
  ASSERT_LE(text.size(), model::kMaxFeedbackBytes);
  ASSERT_TRUE(model::parse_feedback(text, "it").ok());
  const auto taken = take_feedback(*store_, text, kPublisher);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.problem().reason, "INVALID_FIELD");
  v1::ListFeedbackRequest request;
  request.set_parent("models/tcp");
  EXPECT_TRUE(list_feedback(*store_, request));
}

TEST_F(ModelPushTest, ReportsOfRunsComeInPagesThatAreNotTooLarge) {
  Changes changes;
  for (int i = 0; i < 60; ++i) {
    model::Feedback report;
    report.run = std::to_string(i);
    changes.feedback.push_back({0, {"tcp", 1}, 5, kPublisher, report});
    changes.feedback.back().report.model_sha256 = std::string(64, '1');
  }
  apply(changes);
  v1::ListFeedbackRequest request;
  request.set_parent("models/tcp");
  request.set_page_size(1000);
  const auto first = list_feedback(*store_, request);
  ASSERT_TRUE(first) << first.problem().message;
  EXPECT_EQ(first->feedback_size(), 50);
  request.set_page_token(first->next_page_token());
  const auto second = list_feedback(*store_, request);
  ASSERT_TRUE(second) << second.problem().message;
  EXPECT_EQ(second->feedback_size(), 10);
  EXPECT_EQ(second->next_page_token(), "");
}

// A run that took 2.34 times as long by version 1's decisions at one place.
FeedbackReport lost_in(const std::string& run, double simple_s = 1) {
  model::Feedback report;
  report.model_sha256 = std::string(64, '1');
  report.run = run;
  report.program = "transpose";
  report.fabric = "tcp";
  report.ranks = 2;
  report.elapsed_s = 5;
  model::FeedbackPlace place{.place = "transpose.cc:17", .what = "get 1 MiB", .choice = "packed"};
  place.ranks = 2;
  place.executions = 40;
  place.as_chosen = place.simple = 20;
  place.predicted_s = 0.5;
  place.measured_s = 2.34;
  place.simple_s = simple_s;
  report.places = {place};
  return {model::report_text(report)};
}

TEST_F(ModelPushTest, WhatTwoRunsLostTakesTheLabelBack) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(2, "stable"));
  EXPECT_EQ(offered(a), "2");
  answer(a, 2);
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(a), "1");
  answer(a, 1);
  coordinator_->sessions().receive(a.session, lost_in("r1"));
  coordinator_->sessions().receive(a.session, lost_in("r1"));  // the same again
  EXPECT_EQ(current_of(*store_->labels("tcp"), kStableLabel)->key.version, 1);
  coordinator_->sessions().receive(a.session, lost_in("r2"));
  EXPECT_EQ(current_of(*store_->labels("tcp"), kStableLabel)->key.version, 2);
  const auto lost = *store_->model_version({"tcp", 1});
  EXPECT_NE(lost->lost.find("transpose.cc:17, get 1 MiB, took 134.0 % longer"), std::string::npos)
      << lost->lost;
  EXPECT_EQ(state_of(*lost), VersionState::stale);
  EXPECT_TRUE(lost->stale_in_use) << "it is to be replaced";
  EXPECT_EQ(offered(a), "2");
  EXPECT_EQ(promote(1, "stable").problem().reason, "GATE");
  // Reports of what is not in use any more change nothing.
  coordinator_->sessions().receive(a.session, lost_in("r3"));
  EXPECT_EQ(current_of(*store_->labels("tcp"), kStableLabel)->key.version, 2);
}

TEST_F(ModelPushTest, WhatRunsGainedTakesNothingBack) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  for (const char* run : {"r1", "r2", "r3"})
    coordinator_->sessions().receive(a.session, lost_in(run, 5));
  EXPECT_EQ(current_of(*store_->labels("tcp"), kStableLabel)->key.version, 1);
  EXPECT_EQ((*store_->model_version({"tcp", 1}))->lost, "");
}

TEST_F(ModelPushTest, WhatOneGroupOfNodesLostTakesTheLabelFromIt) {
  FakeAgent a = connect("a", true, {}, {"tcp"}, "small");
  FakeAgent b = connect("b", true, {}, {"tcp"}, "big");
  const auto is_stored = [&](const char* node) { return store_->node(node)->has_value(); };
  for (int i = 0; i < 2000 && !(is_stored("a") && is_stored("b")); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(a), "1");
  EXPECT_EQ(offered(b), "1");
  answer(a, 1);
  answer(b, 1);
  for (const char* run : {"r1", "r2"}) coordinator_->sessions().receive(a.session, lost_in(run));
  const auto moves = *store_->labels("tcp");
  EXPECT_EQ(current_of(moves, kStableLabel)->nodes, std::vector<std::string>{"b"});
  EXPECT_EQ(current_of(moves, kStableLabel)->actor, "server");
  EXPECT_NE(a.link->take_withdrawn().find("lost time with it"), std::string::npos);
  EXPECT_EQ(b.link->take_withdrawn(), "");
  EXPECT_EQ(model_of("b").key.version, 1);
  EXPECT_EQ(model_of("a").key.version, 0);
  EXPECT_TRUE((*store_->model_version({"tcp", 1}))->stale_in_use);
  EXPECT_EQ((*store_->model_version({"tcp", 1}))->stale, "");
  // The rest may lose, too.
  for (const char* run : {"r3", "r4"}) coordinator_->sessions().receive(b.session, lost_in(run));
  EXPECT_EQ(current_of(*store_->labels("tcp"), kStableLabel), nullptr);
}

TEST_F(ModelPushTest, WhatANodeHasIsNotSentAgain) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(2, "stable"));
  EXPECT_EQ(offered(a), "2");
  answer(a, 2);
  coordinator_->sessions().close_session(a.session);
  a = connect("a", true, {{"tcp", "222222222222"}});
  EXPECT_EQ(offered(a), "");
  coordinator_->sessions().close_session(a.session);
  a = connect("a");  // somebody has removed the file
  EXPECT_EQ(offered(a), "2");
  // A node that the server knows nothing of, and that has the file.
  FakeAgent b = connect("b", true, {{"tcp", "222222222222"}});
  coordinator_->offer_models();
  const auto offers = b.link->take();
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_TRUE(offers.front().content->empty());
}

TEST_F(ModelPushTest, AgentsThatTakeNoModelsGetNone) {
  FakeAgent old = connect("old", false);
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(old), "");
  // An answer to what was never offered is not kept.
  coordinator_->sessions().receive(old.session, ModelAck{"models/tcp/versions/9", true, ""});
  coordinator_->sessions().receive(old.session, ModelAck{"nonsense", true, ""});
  EXPECT_TRUE(store_->node_models()->empty());
}

TEST_F(ModelPushTest, CanariesMustBeNodes) {
  connect("a");
  EXPECT_EQ(promote(1, "canary", {"unknown"}).problem().reason, "NODE_NOT_FOUND");
  EXPECT_EQ(promote(1, "stable", {"a"}).problem().reason, "INVALID_FIELD");
}

}  // namespace
}  // namespace stripline::server
