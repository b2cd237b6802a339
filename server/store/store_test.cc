// What any store must do. Every step is checked in the store that made it and again after it was
// closed and opened, because that is what a crash between two steps amounts to.
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/testing/any_store_test.h"

namespace stripline::server {
namespace {

// For the tests of store_points_test.cc, too.
INSTANTIATE_TEST_SUITE_P(Stores, AnyStoreTest,
                         testing::Values(StoreKind::sqlite, StoreKind::postgresql),
                         testing::PrintToStringParamName());

TEST_P(AnyStoreTest, NewStoreIsEmptyAndKeepsItsInstallation) {
  const std::string id = store_->installation_id();
  EXPECT_EQ(id.size(), 8U);
  check([&] {
    EXPECT_EQ(store_->installation_id(), id);
    EXPECT_EQ(*store_->next_campaign_number(), 1);
    EXPECT_TRUE(store_->nodes("", 10)->empty());
    EXPECT_TRUE(store_->models("", 10)->empty());
    EXPECT_FALSE(*store_->campaign(1));
    EXPECT_FALSE(*store_->node("a"));
    EXPECT_FALSE(*store_->model("m"));
    EXPECT_FALSE(*store_->model_version({"m", 0}));
    EXPECT_EQ(store_->model_content({"m", 0}).error().code(), ErrorCode::not_found);
    EXPECT_EQ(store_->run_plan({1, 1}).error().code(), ErrorCode::not_found);
  });
}

TEST_P(AnyStoreTest, NodesAreReplacedByNameAndListedInOrder) {
  NodeRecord a{"a", "0.1.0", {{"cpu", "x"}}, {"tcp"}, {R"({"name":"e","future":1})"}, 10, "big"};
  NodeRecord b{"b", "0.1.0", {}, {}, {}, 11};
  apply({.nodes = {b, a}});
  check([&] {
    EXPECT_EQ(*store_->nodes("", 10), (std::vector{a, b}));
    EXPECT_EQ(*store_->nodes("a", 10), std::vector{b});
    EXPECT_EQ(*store_->nodes("", 1), std::vector{a});
  });
  a.agent_version = "0.2.0";
  apply({.nodes = {a}});
  check([&] { EXPECT_EQ(**store_->node("a"), a); });
}

TEST_P(AnyStoreTest, TextThatIsNotUtf8IsKeptReadable) {
  apply({.nodes = {{"a", "0.1.0", {{"cpu", "bad\xff"}}, {}, {}, 1}}});
  check([&] { EXPECT_EQ((*store_->node("a"))->fingerprint.at("cpu"), "bad\xef\xbf\xbd"); });
}

TEST_P(AnyStoreTest, CampaignsRoundTripAndFilterByState) {
  apply({.campaigns = {campaign(1, "r1"), campaign(2)},
         .runs = {run(1, 1), run(1, 2), run(2, 1)},
         .plans = {{{1, 1}, "{\"plan\":1}"}}});
  check([&] {
    EXPECT_EQ(*store_->next_campaign_number(), 3);
    const CampaignRecord read = **store_->campaign(1);
    EXPECT_EQ(to_json(read.spec), to_json(campaign(1).spec));
    EXPECT_EQ(read.spec.seed, 1ULL << 63);
    EXPECT_EQ(read.message, "queued");
    EXPECT_DOUBLE_EQ(read.created_unix_s, 100.25);
    EXPECT_EQ(read.requirements, campaign(1).requirements);
    EXPECT_DOUBLE_EQ(read.planned_run_s, 1.5);
    EXPECT_EQ((*store_->campaign_of_request("users/a", "r1"))->number, 1);
    EXPECT_FALSE(*store_->campaign_of_request("users/a", ""));
    EXPECT_EQ(store_->runs(1)->size(), 2U);
    EXPECT_EQ(*store_->run_plan({1, 1}), "{\"plan\":1}");
    EXPECT_EQ(store_->unfinished_campaigns()->size(), 2U);
  });

  CampaignRecord done = campaign(1, "r1");
  done.state = CampaignState::succeeded;
  done.model_version = "models/tcp/versions/1";
  done.samples = 77;
  done.measured_s = 4.5;
  RunRecord finished = run(1, 2);
  finished.state = RunState::finished;
  finished.fence = 3;
  finished.failures = 2;
  finished.rank_nodes = {"a", "b"};
  finished.points_done = 10;
  finished.duration_s = 2.5;
  finished.message = "m";
  apply({.campaigns = {done}, .runs = {finished}});
  check([&] {
    ASSERT_EQ(store_->unfinished_campaigns()->size(), 1U);
    EXPECT_EQ(store_->unfinished_campaigns()->front().number, 2);
    const CampaignRecord read = **store_->campaign(1);
    EXPECT_EQ(read.state, CampaignState::succeeded);
    EXPECT_EQ(read.model_version, done.model_version);
    EXPECT_EQ(read.samples, 77U);
    EXPECT_DOUBLE_EQ(read.measured_s, 4.5);
    const RunRecord second = store_->runs(1)->at(1);
    EXPECT_EQ(second.state, RunState::finished);
    EXPECT_EQ(second.fence, 3U);
    EXPECT_EQ(second.failures, 2U);
    EXPECT_EQ(second.rank_nodes, finished.rank_nodes);
    EXPECT_EQ(second.points_done, 10U);
    EXPECT_EQ(second.points_core, 4U);
    EXPECT_EQ(second.points_all, 20U);
    EXPECT_DOUBLE_EQ(second.duration_s, 2.5);
    EXPECT_EQ(second.message, "m");
    // Newest first, in pages.
    ASSERT_EQ(store_->campaigns(0, 1)->size(), 1U);
    EXPECT_EQ(store_->campaigns(0, 1)->front().number, 2);
    EXPECT_EQ(store_->campaigns(2, 5)->front().number, 1);
  });
}

TEST_P(AnyStoreTest, CampaignsThatArePausedOrDrainedHaveNotEnded) {
  CampaignRecord paused = campaign(1);
  CampaignRecord drained = campaign(2);
  apply({.campaigns = {paused, drained}});
  paused.state = CampaignState::paused;
  paused.retries = 2;
  paused.labels = {"nightly", "switch-7"};
  paused.spec.time_budget_s = 90;
  drained.state = CampaignState::draining;
  apply({.campaigns = {paused, drained}});
  check([&] {
    const auto open = *store_->unfinished_campaigns();
    ASSERT_EQ(open.size(), 2U);
    EXPECT_EQ(open[0].state, CampaignState::paused);
    EXPECT_EQ(open[0].retries, 2U);
    EXPECT_EQ(open[0].labels, paused.labels);
    EXPECT_DOUBLE_EQ(open[0].spec.time_budget_s, 90);
    EXPECT_EQ(open[1].state, CampaignState::draining);
  });
}

TEST_P(AnyStoreTest, ARequestIdNamesOneCampaign) {
  apply({.campaigns = {campaign(1, "same")}});
  const Status status = store_->apply({.campaigns = {campaign(2, "same")}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::already_exists);
  check([&] { EXPECT_EQ(*store_->next_campaign_number(), 2); });
}

TEST_P(AnyStoreTest, BatchesAreStoredOncePerFenceAndSequence) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1), run(1, 2)}});
  apply({.batches = {batch({1, 1}, 1, 1)}});
  const Status again = store_->apply({.batches = {batch({1, 1}, 1, 1)}});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), ErrorCode::already_exists);
  apply({.batches = {batch({1, 1}, 2, 1), batch({1, 2}, 1, 1)}});
  check([&] {
    EXPECT_EQ(store_->batches(1, 0, 10)->size(), 3U);
    const std::string data = "[{\"seq\":1}]";
    EXPECT_EQ(*store_->has_batch({1, 1}, 1, 1, data), true);
    EXPECT_EQ(*store_->has_batch({1, 1}, 1, 1, data + " "), false);
    EXPECT_EQ(*store_->has_batch({1, 1}, 1, 2, data), std::nullopt);
    EXPECT_EQ(*store_->has_batch({1, 1}, 3, 1, data), std::nullopt);
    const BatchRecord first = store_->batches(1, 0, 1)->front();
    EXPECT_EQ(first.data, "[{\"seq\":1}]");
    EXPECT_EQ(first.samples, 3U);
    EXPECT_FALSE(first.orphan);
    EXPECT_EQ(store_->batches(1, first.id, 10)->size(), 2U);
  });
}

TEST_P(AnyStoreTest, ACampaignsNumberDoesNotComeBack) {
  apply({.campaigns = {campaign(1), campaign(2)}});
  apply({.campaigns = {campaign(1)}});
  sabotage("DELETE FROM campaigns WHERE number = 2");
  check([&] { EXPECT_EQ(*store_->next_campaign_number(), 3); });
}

TEST_P(AnyStoreTest, EveryAttemptRemembersWhoseSamplesItTakes) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}});
  apply({.attempts = {{{1, 1}, 1, "a"}}});
  apply({.attempts = {{{1, 1}, 2, "b"}}});
  check([&] {
    EXPECT_EQ(*store_->sampling_node({1, 1}, 1), "a");
    EXPECT_EQ(*store_->sampling_node({1, 1}, 2), "b");
    EXPECT_EQ(*store_->sampling_node({1, 1}, 3), std::nullopt);
  });
}

TEST_P(AnyStoreTest, AnAttemptRemembersItsAgentsAndThenWhereItsRanksAre) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}});
  RunAttempt attempt{{1, 1}, 1, "a", {{"a", "i1"}, {"b", "i2"}}, {}};
  apply({.attempts = {attempt}});
  check([&] {
    EXPECT_TRUE((*store_->attempt({1, 1}, 1))->addresses.empty());
    EXPECT_FALSE(store_->attempt({1, 1}, 2)->has_value());
  });
  attempt.addresses = {"x", "y"};
  apply({.attempts = {attempt}, .batches = {batch({1, 1}, 1, 2), batch({1, 1}, 1, 1)}});
  check([&] {
    const RunAttempt stored = **store_->attempt({1, 1}, 1);
    EXPECT_EQ(stored.sampling_node, "a");
    EXPECT_EQ(stored.instances, attempt.instances);
    EXPECT_EQ(stored.addresses, attempt.addresses);
    EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 2U);
    ASSERT_EQ(store_->attempt_batches({1, 1}, 1)->size(), 2U);
    EXPECT_EQ(store_->attempt_batches({1, 1}, 1)->front().seq, 1U);
    EXPECT_TRUE(store_->attempt_batches({1, 1}, 2)->empty());
  });
}

RunAttempt attempt_at(const RunKey& key, uint64_t fence, std::optional<double> started_unix_s,
                      std::vector<std::string> addresses = {}) {
  return {key, fence, "b", {{"b", "i2"}, {"a", "i1"}}, std::move(addresses), started_unix_s};
}

TEST_P(AnyStoreTest, AttemptsAreFoundByTime) {
  apply({.campaigns = {campaign(1), campaign(2)},
         .runs = {run(1, 1), run(2, 1)},
         .attempts = {attempt_at({1, 1}, 1, 10), attempt_at({1, 1}, 2, 30),
                      attempt_at({2, 1}, 1, 20), attempt_at({2, 1}, 2, std::nullopt)}});
  apply({.attempts = {attempt_at({1, 1}, 2, std::nullopt, {"x", "y"})},
         .attempt_ends = {{{1, 1}, 1, 20, AttemptOutcome::lost, "a rank died"},
                          {{2, 1}, 1, 25, AttemptOutcome::finished, ""}}});
  const std::vector<std::string> nodes = {"a", "b"};
  const AttemptRecord lost{{1, 1}, 1, nodes, 10, 20, AttemptOutcome::lost, "a rank died"};
  const AttemptRecord finished{{2, 1}, 1, nodes, 20, 25, AttemptOutcome::finished, ""};
  const AttemptRecord active{{1, 1}, 2, nodes, 30, std::nullopt, AttemptOutcome::finished, ""};
  using Records = std::vector<AttemptRecord>;
  check([&] {
    EXPECT_EQ(*store_->attempts_between(0, 100, 9), (Records{active, finished, lost}));
    EXPECT_EQ(*store_->attempts_between(0, 100, 1), Records{active});
    EXPECT_EQ(*store_->attempts_between(10, 10, 9), Records{lost});
    EXPECT_EQ(*store_->attempts_between(21, 29, 9), Records{finished});
    EXPECT_EQ(*store_->attempts_between(26, 40, 9), Records{active});
    EXPECT_TRUE(store_->attempts_between(0, 9, 9)->empty());
    EXPECT_EQ((*store_->attempt({1, 1}, 2))->started_unix_s, 30);
  });
  // Attempts are gone with their campaign, from the first moment on.
  apply({.deleted_campaigns = {1}});
  check([&] { EXPECT_EQ(*store_->attempts_between(0, 100, 9), Records{finished}); });
  while (*store_->sweep()) {
  }
  EXPECT_FALSE(*store_->attempt({1, 1}, 1));
}

TEST_P(AnyStoreTest, FactsOfAnAttemptStay) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}, .attempts = {{{1, 1}, 1, "a"}}});
  const std::map<std::string, std::string> facts = {{"fabric.provider", "tcp"}};
  apply({.facts = {{{1, 1}, 1, "b", facts}, {{1, 1}, 1, "a", facts}}});
  apply({.facts = {{{1, 1}, 1, "a", {{"fabric.provider", "shm"}}}}});
  check([&] {
    const auto stored = *store_->attempt_facts({1, 1}, 1);
    ASSERT_EQ(stored.size(), 2U);
    EXPECT_EQ(stored[0].node, "a");
    EXPECT_EQ(stored[0].facts, facts);
    EXPECT_TRUE(store_->attempt_facts({1, 1}, 2)->empty());
  });
}

TEST_P(AnyStoreTest, ContiguousBatchesStopAtTheFirstGap) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 0U);
  apply({.attempts = {{{1, 1}, 1, "a"}, {{1, 1}, 2, "b"}}});
  apply({.batches = {batch({1, 1}, 1, 2)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 0U);
  apply({.batches = {batch({1, 1}, 1, 1), batch({1, 1}, 1, 4), batch({1, 1}, 2, 3)}});
  check([&] {
    EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 2U);
    EXPECT_EQ(*store_->contiguous_batches({1, 1}, 2), 0U);
  });
  apply({.batches = {batch({1, 1}, 1, 3)}});
  check([&] { EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 4U); });
}

// A run may send ten thousands of batches: each must not count those before it.
TEST_P(AnyStoreTest, WhatIsStoredIsNotCountedAgain) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}, .attempts = {{{1, 1}, 1, "a"}}});
  apply({.batches = {batch({1, 1}, 1, 1), batch({1, 1}, 1, 2)}});
  sabotage("DELETE FROM payloads; DELETE FROM batches");
  apply({.batches = {batch({1, 1}, 1, 3)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 3U);
}

TEST_P(AnyStoreTest, OrphaningARunLeavesLaterBatchesAlone) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1), run(1, 2)}});
  apply({.batches = {batch({1, 1}, 1, 1), batch({1, 2}, 1, 1)}});
  apply({.orphaned = {{1, 1}}, .batches = {batch({1, 1}, 2, 1)}});
  check([&] {
    const auto batches = *store_->batches(1, 0, 10);
    ASSERT_EQ(batches.size(), 3U);
    EXPECT_TRUE(batches[0].orphan);
    EXPECT_FALSE(batches[1].orphan);
    EXPECT_FALSE(batches[2].orphan);
  });
}

TEST_P(AnyStoreTest, EventsHaveAscendingCursors) {
  apply({.campaigns = {campaign(1), campaign(2)}});
  apply({.events = {{0, 1, 1.5, "one", "{}"}, {0, 2, 2, "other", "{}"}, {0, 1, 3, "two", "{}"}}});
  check([&] {
    const auto events = *store_->events(1, 0, 10);
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0].message, "one");
    EXPECT_DOUBLE_EQ(events[0].time_unix_s, 1.5);
    EXPECT_LT(events[0].cursor, events[1].cursor);
    EXPECT_EQ(store_->events(1, events[0].cursor, 10)->front().message, "two");
    EXPECT_TRUE(store_->events(1, events[1].cursor, 10)->empty());
  });
}

TEST_P(AnyStoreTest, ModelVersionsAreImmutable) {
  NewModelVersion first;
  first.record.key = {"tcp", 1};
  first.record.sha256 = "hash1";
  first.record.campaigns = {"campaigns/c1"};
  first.record.created_unix_s = 7;
  first.record.summary = "eight runs";
  first.fabric = "tcp";
  first.content = "{1}";
  apply({.versions = {first}});
  ASSERT_EQ(store_->versions_of(1)->size(), 1U);
  EXPECT_EQ(store_->versions_of(1)->front().version, 1);
  EXPECT_TRUE(store_->versions_of(11)->empty());
  NewModelVersion second = first;
  second.record.key.version = 2;
  second.content = "{2222}";
  apply({.versions = {second}});
  EXPECT_EQ(store_->apply({.versions = {first}}).error().code(), ErrorCode::already_exists);
  check([&] {
    EXPECT_EQ((*store_->model("tcp"))->latest_version, 2);
    EXPECT_EQ((*store_->model("tcp"))->fabric, "tcp");
    EXPECT_EQ(store_->models("", 5)->size(), 1U);
    EXPECT_EQ(*store_->model_content({"tcp", 1}), "{1}");
    EXPECT_EQ(*store_->model_content({"tcp", 0}), "{2222}");
    EXPECT_EQ((*store_->model_version({"tcp", 0}))->size_bytes, 6U);
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->summary, "eight runs");
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->campaigns.front(), "campaigns/c1");
    ASSERT_EQ(store_->model_versions("tcp", 0, 5)->size(), 2U);
    EXPECT_EQ(store_->model_versions("tcp", 0, 5)->front().key.version, 2);
    EXPECT_EQ(store_->model_versions("tcp", 2, 5)->front().key.version, 1);
  });
}

TEST_P(AnyStoreTest, WithdrawnVersionsStayAndAreNotTheLatest) {
  std::vector<NewModelVersion> versions(2);
  for (size_t i = 0; i < 2; ++i) {
    versions[i].record.key = {"tcp", static_cast<int64_t>(i) + 1};
    versions[i].record.provisional = i == 1 ? "of 3 runs" : "";
    versions[i].fabric = "tcp";
    versions[i].content = "{" + std::to_string(i + 1) + "}";
  }
  apply({.versions = versions});
  const auto withdraw = [&](int64_t version, const std::string& reason) {
    Changes changes;
    changes.withdrawals.push_back({{"tcp", version}, reason, 9});
    apply(changes);
  };
  withdraw(2, "measured on a busy host");
  withdraw(2, "again");
  check([&] {
    EXPECT_EQ((*store_->model("tcp"))->latest_version, 1);
    EXPECT_EQ((*store_->model("tcp"))->last_number, 2);
    EXPECT_EQ(*store_->model_content({"tcp", 0}), "{1}");
    EXPECT_EQ((*store_->model_version({"tcp", 0}))->key.version, 1);
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->withdrawn, "");
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->provisional, "");
    const ModelVersionRecord second = **store_->model_version({"tcp", 2});
    EXPECT_EQ(second.withdrawn, "measured on a busy host");
    EXPECT_EQ(second.provisional, "of 3 runs");
    EXPECT_EQ(*store_->model_content({"tcp", 2}), "{2}");
  });
  withdraw(1, "x");
  EXPECT_EQ((*store_->model("tcp"))->latest_version, 0);
  EXPECT_FALSE(store_->model_version({"tcp", 0})->has_value());
}

TEST_P(AnyStoreTest, VersionsKeepWhatIsKnownOfThem) {
  std::vector<NewModelVersion> versions(2);
  for (size_t i = 0; i < 2; ++i) {
    versions[i].record.key = {"tcp", static_cast<int64_t>(i) + 1};
    versions[i].record.findings = {{"DRIFT", "", 0.03, "times drifted by +3 %"},
                                   {"NOT_FITTED", "put", 0, "put: \"no\" bursts"}};
    versions[i].fabric = "tcp";
    versions[i].content = "{}";
  }
  const ValidationRecord first{{"tcp", 2}, 7.5, {}, {16, 0.1, 0.2, 0, 0, 0}};
  apply({.versions = versions, .validations = {first}});
  const ValidationRecord second{{"tcp", 2}, 8.5, {"campaigns/c2"}, {4, 0.01, 0.02, 30, 0.1, 0.5}};
  apply({.validations = {second}});
  check([&] {
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->findings, versions[0].record.findings);
    EXPECT_EQ((*store_->model_version({"tcp", 1}))->validation, std::nullopt);
    EXPECT_EQ((*store_->model_version({"tcp", 2}))->validation, second);
    EXPECT_EQ(store_->model_versions("tcp", 0, 5)->front().validation, second);
  });
  const CheckRecord later{{"tcp", 2}, "campaigns/c7", 12, {20, 15, 1.5}};
  const CheckRecord earlier{{"tcp", 2}, "campaigns/c8", 11, {20, 1, 1}};
  apply({.checks = {later, earlier}});
  check([&] {
    EXPECT_EQ((*store_->model_version({"tcp", 2}))->checks, (std::vector{earlier, later}));
    EXPECT_TRUE(store_->model_versions("tcp", 0, 5)->back().checks.empty());
  });
  Changes stale;
  stale.staled.push_back({{"tcp", 2}, "sentinels are off", 9});
  apply(stale);
  check([&] {
    EXPECT_EQ((*store_->model_version({"tcp", 2}))->stale, "sentinels are off");
    EXPECT_EQ((*store_->model_version({"tcp", 0}))->key.version, 1);
    EXPECT_EQ((*store_->model("tcp"))->latest_version, 1);
  });
}

TEST_P(AnyStoreTest, LabelsRememberTheirMoves) {
  std::vector<NewModelVersion> versions(2);
  for (size_t i = 0; i < 2; ++i) {
    versions[i].record.key = {"tcp", static_cast<int64_t>(i) + 1};
    versions[i].fabric = "tcp";
    versions[i].content = "{}";
  }
  apply({.versions = versions});
  const LabelRecord first{{"tcp", 1}, "stable", 1, "users/alice", 5.5};
  const LabelRecord second{{"tcp", 2}, "stable", 2, "users/bob", 6.5};
  const LabelRecord canary{{"tcp", 2}, "canary", 1, "users/bob", 7};
  apply({.labels = {first, second, canary}});
  EXPECT_FALSE(store_->apply({.labels = {second}}).ok());
  check([&] {
    EXPECT_EQ(*store_->labels("tcp"), (std::vector{canary, first, second}));
    EXPECT_TRUE(store_->labels("other")->empty());
    EXPECT_EQ((*store_->model_version({"tcp", 2}))->labels,
              (std::vector<std::string>{"canary", "stable"}));
    EXPECT_TRUE((*store_->model_version({"tcp", 1}))->labels.empty());
  });
  const NodeModelRecord good{"a", {"tcp", 1}, true, "", 5};
  const NodeModelRecord bad{"b", {"tcp", 1}, false, "another machine", 6.5};
  const LabelRecord tried{{"tcp", 1}, "canary", 2, "users/bob", 8, {"a", "b"}};
  apply({.nodes = {{"a", "0.1.0", {}, {}, {}, 1}}, .labels = {tried}, .node_models = {bad, good}});
  check([&] {
    EXPECT_EQ(*store_->node_models(), (std::vector{good, bad}));
    EXPECT_EQ(store_->labels("tcp")->at(1), tried);
  });
  apply({.removed_nodes = {"a"}, .unlabelled = {tried}, .node_models = {good}});
  EXPECT_EQ(store_->node_models()->size(), 2U);
  apply({.unlabelled = {second}});
  check([&] {
    EXPECT_EQ(*store_->labels("tcp"), (std::vector{canary, first}));
    EXPECT_EQ(store_->model_versions("tcp", 0, 5)->back().labels,
              std::vector<std::string>{"stable"});
  });
  // What a version was is remembered when its moves are gone.
  apply({.staled = {{{"tcp", 2}, "off", 9}}, .staled_in_use = {{{"tcp", 2}, "off", 9}}});
  apply({.staled_in_use = {{{"tcp", 2}, "again", 10}}, .unlabelled = {canary, first}});
  check([&] {
    const auto versions = *store_->model_versions("tcp", 0, 5);
    ASSERT_EQ(versions.size(), 2U);
    EXPECT_TRUE(versions[0].labels.empty());
    EXPECT_TRUE(versions[0].was_canary && versions[0].was_stable && versions[0].stale_in_use);
    EXPECT_TRUE(versions[1].was_canary && versions[1].was_stable);
    EXPECT_FALSE(versions[1].stale_in_use);
  });
}

TEST_P(AnyStoreTest, ReportsOfRunsAreKeptOnceAndTheLastOnes) {
  std::vector<NewModelVersion> versions(2);
  for (size_t i = 0; i < 2; ++i) {
    versions[i].record.key = {"tcp", static_cast<int64_t>(i) + 1};
    versions[i].record.sha256 = std::string(64, i == 0 ? 'a' : 'b');
    versions[i].fabric = "tcp";
    versions[i].content = "{}";
  }
  apply({.versions = versions});
  const auto report = [](int64_t version, const std::string& run) {
    FeedbackRecord record{0, {"tcp", version}, 5.5, "nodes/a", {}};
    record.report.model_sha256 = std::string(64, version == 1 ? 'a' : 'b');
    record.report.run = run;
    record.report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1}};
    return record;
  };
  apply({.feedback = {report(1, "x"), report(2, "y"), report(1, "x")}});
  apply({.feedback = {report(1, "x"), report(1, "z")}});
  check([&] {
    EXPECT_EQ(*store_->version_of_content(std::string(64, 'b')), (VersionKey{"tcp", 2}));
    EXPECT_EQ(*store_->version_of_content(std::string(64, 'c')), std::nullopt);
    const auto all = *store_->feedback({"tcp", 0}, 0, 9);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0].report, report(1, "z").report);
    EXPECT_EQ(all[1].key.version, 2);
    EXPECT_EQ(all[2].sender, "nodes/a");
    EXPECT_EQ(store_->feedback({"tcp", 1}, all[0].id, 9)->size(), 1U);
    EXPECT_TRUE(store_->feedback({"other", 0}, 0, 9)->empty());
  });
  Changes many;
  for (size_t i = 0; i < kMaxFeedbackReports; ++i) {
    many.feedback.push_back(report(1, std::to_string(i)));
  }
  apply(many);
  EXPECT_EQ(store_->feedback({"tcp", 1}, 0, 2 * kMaxFeedbackReports)->size(), kMaxFeedbackReports);
  EXPECT_EQ(store_->feedback({"tcp", 2}, 0, 9)->size(), 1U);
}

// Whoever asks for the model alone gets one that is not provisional, if there is one.
TEST_P(AnyStoreTest, AProvisionalVersionIsTheLatestOnlyWhereThereIsNoOther) {
  const auto publish = [&](int64_t number, const std::string& provisional) {
    NewModelVersion version;
    version.record.key = {"tcp", number};
    version.record.provisional = provisional;
    version.fabric = "tcp";
    version.content = "{" + std::to_string(number) + "}";
    apply({.versions = {version}});
  };
  const auto expect_latest = [&](int64_t number) {
    check([&] {
      EXPECT_EQ((*store_->model("tcp"))->latest_version, number);
      EXPECT_EQ((*store_->model_version({"tcp", 0}))->key.version, number);
      EXPECT_EQ(*store_->model_content({"tcp", 0}), "{" + std::to_string(number) + "}");
    });
  };
  publish(1, "of 3 runs");
  publish(2, "times drifted by +30 %");
  expect_latest(2);
  publish(3, "");
  expect_latest(3);
  publish(4, "of 3 runs");
  expect_latest(3);
  EXPECT_EQ(*store_->model_content({"tcp", 4}), "{4}");
}

TEST_P(AnyStoreTest, AStepIsAppliedCompletelyOrNotAtAll) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}});
  apply({.batches = {batch({1, 1}, 1, 1)}});
  CampaignRecord changed = campaign(1);
  changed.message = "changed";
  // The last batch exists already, so nothing of this may stay.
  ASSERT_FALSE(store_
                   ->apply({.campaigns = {changed, campaign(2)},
                            .orphaned = {{1, 1}},
                            .batches = {batch({1, 1}, 1, 2), batch({1, 1}, 1, 1)},
                            .events = {{0, 1, 1, "event", "{}"}}})
                   .ok());
  check([&] {
    EXPECT_EQ((*store_->campaign(1))->message, "queued");
    EXPECT_FALSE(*store_->campaign(2));
    EXPECT_EQ(store_->batches(1, 0, 10)->size(), 1U);
    EXPECT_FALSE(store_->batches(1, 0, 10)->front().orphan);
    EXPECT_TRUE(store_->events(1, 0, 10)->empty());
  });
}

TEST_P(AnyStoreTest, LiveBatchesOfAnAttemptThatIsOverAreOrphans) {
  RunRecord active = run(1, 1);
  active.state = RunState::active;
  active.fence = 2;
  apply({.campaigns = {campaign(1)}, .runs = {active}});
  const BatchRecord current = batch({1, 1}, 2, 1);
  const BatchRecord old = batch({1, 1}, 1, 7);
  apply({.live_batches = {&current, &old}});
  check([&] {
    const auto batches = *store_->batches(1, 0, 10);
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_FALSE(batches[0].orphan);
    EXPECT_TRUE(batches[1].orphan);
  });
}

TEST_P(AnyStoreTest, BatchesNeedTheirRun) {
  EXPECT_FALSE(store_->apply({.batches = {batch({9, 1}, 1, 1)}}).ok());
}

experiment::Point point(const std::string& variant, int64_t bytes) {
  return {"micro.latency", variant, {{"bytes", bytes}, {"way", std::string("cma")}}};
}

TEST_P(AnyStoreTest, PointsAreChosenByWhatTheyAre) {
  apply({.campaigns = {campaign(1), campaign(2)},
         .points = {{1, {point("put", 8), point("get", 8), point("get", 16)}},
                    {2, {point("put", 8)}}}});
  check([&] {
    const auto all = *store_->points(1, {}, 0, 10);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all.front(), (PointRecord{.place = 0, .point = point("put", 8), .estimate = {}}));
    EXPECT_EQ(store_->points(1, {.variant = "get"}, 0, 10)->size(), 2U);
    EXPECT_EQ(store_->points(1, {.variant = "get"}, 2, 10)->size(), 1U);
    EXPECT_EQ(store_->points(1, {.experiment = "micro.latency"}, 0, 2)->size(), 2U);
    EXPECT_TRUE(store_->points(1, {.experiment = "micro"}, 0, 10)->empty());
    const auto eight = *store_->points(1, {.params = {{"bytes", "8"}, {"way", "cma"}}}, 0, 10);
    ASSERT_EQ(eight.size(), 2U);
    EXPECT_EQ(eight.back().place, 1U);
  });
}

TEST_P(AnyStoreTest, ManyPointsAreLookedThroughQuickly) {
  CampaignPoints many{1, {}};
  for (int64_t i = 0; i < 100'000; ++i) many.points.push_back(point("put", i));
  apply({.campaigns = {campaign(1)}, .points = {many}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(store_->points(1, {.params = {{"bytes", "99999"}}}, 0, 10)->size(), 1U);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(took.count()));
  std::cout << "the last of 100000 points: " << took.count() << " s\n";
}

// As ingestion stores them: many batches in a step.
TEST_P(AnyStoreTest, GroupsOfBatchesAreStoredQuickly) {
  constexpr uint64_t kGroups = 20;
  constexpr uint64_t kBatches = 64;
  RunRecord active = run(1, 1);
  active.state = RunState::active;
  active.fence = 1;
  apply({.campaigns = {campaign(1)}, .runs = {active}, .attempts = {{{1, 1}, 1, "a"}}});
  const std::string data(4096, ' ');
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t group = 0; group < kGroups; ++group) {
    std::vector<BatchRecord> batches;
    for (uint64_t i = 1; i <= kBatches; ++i) {
      batches.push_back(batch({1, 1}, 1, group * kBatches + i));
      batches.back().data += data;
    }
    Changes step;
    for (const BatchRecord& one : batches) step.live_batches.push_back(&one);
    apply(step);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::cout << kGroups << " steps of " << kBatches
            << " batches: " << static_cast<double>(kGroups * kBatches) / took.count()
            << " batches/s, " << took.count() / kGroups * 1e3 << " ms a step\n";
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), kGroups * kBatches);
}

TEST_P(AnyStoreTest, HoldsAreOfNodes) {
  const NodeRecord a{"a", "0.1.0", {}, {}, {}, 10};
  const NodeHold hold{"a", "fan \x1b broken", "users/x", 5, 60};
  apply({.nodes = {a}, .holds = {hold, {"b", "", "users/y", 6, 0}}});
  check([&] { EXPECT_EQ(store_->node_holds()->size(), 2U); });
  EXPECT_EQ(store_->node_holds()->front(), hold);
  apply({.holds = {{"a", "later", "users/z", 7, 0}}, .released_nodes = {"b"}});
  check([&] {
    ASSERT_EQ(store_->node_holds()->size(), 1U);
    EXPECT_EQ(store_->node_holds()->front().reason, "later");
  });
  apply({.removed_nodes = {"a"}});
  check([&] {
    EXPECT_TRUE(store_->node_holds()->empty());
    EXPECT_FALSE(*store_->node("a"));
  });
}

// Names of requests are their owner's: what another has chosen is not his.
TEST_P(AnyStoreTest, RequestsOfOthersAreOthers) {
  CampaignRecord theirs = campaign(2, "r1");
  theirs.owner = "server";
  apply({.campaigns = {campaign(1, "r1"), theirs}});
  check([&] {
    EXPECT_EQ((*store_->campaign_of_request("users/a", "r1"))->number, 1);
    EXPECT_EQ((*store_->campaign_of_request("server", "r1"))->number, 2);
    EXPECT_EQ((*store_->campaign_of_request("server", "r1"))->owner, "server");
    EXPECT_FALSE(*store_->campaign_of_request("users/b", "r1"));
  });
  const Status again = store_->apply({.campaigns = {campaign(3, "r1")}});
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), ErrorCode::already_exists);
}

TEST_P(AnyStoreTest, TokensAndCertificatesAreKept) {
  TokenRecord token{std::string(64, 'a'), Role::agent, "gpu*", 1, 2, 0, "gpu7", 200, 3, 1.5};
  apply({.tokens = {token}, .node_bounds = {{"gpu7", 1, 30}}});
  check([&] {
    const TokenRecord read = store_->tokens()->front();
    EXPECT_EQ(read.subject, "gpu*");
    EXPECT_EQ(read.count, 200U);
    EXPECT_EQ(read.uses, 3U);
    EXPECT_EQ(read.last_used_unix_s, 1.5);
    EXPECT_EQ(store_->node_bounds()->front().until_unix_s, 30);
  });
  token.uses = 4;
  apply({.tokens = {token}, .node_bounds = {{"gpu7", 2, 60}}});
  check([&] {
    EXPECT_EQ(store_->tokens()->front().uses, 4U);
    EXPECT_EQ(store_->node_bounds()->front().not_before_unix_s, 2);
    EXPECT_EQ(store_->node_bounds()->front().until_unix_s, 60);
  });
}

TEST_P(AnyStoreTest, WhatWasDoneToNodesIsFoundByTime) {
  apply({.audit = {{0, 10, "users/a", "cordon node", "nodes/a"},
                   {0, 20, "users/a", "cancel campaign", "campaigns/c1"},
                   {0, 30, "users/a", "uncordon node", "nodes/a"}}});
  check([&] {
    const auto both = *store_->audit_of_nodes(10, 30, 9);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both.front().action, "uncordon node");
    EXPECT_EQ(store_->audit_of_nodes(10, 30, 1)->size(), 1U);
    EXPECT_TRUE(store_->audit_of_nodes(11, 29, 9)->empty());
  });
}

TEST_P(AnyStoreTest, OperationsAreKept) {
  OperationRecord first;
  first.number = 1;
  first.kind = kFitModel;
  first.subject = "models/tcp";
  first.order = "{}";
  first.actor = "users/alice";
  first.request_id = "r1";
  first.request_sha256 = "abc";
  first.created_unix_s = first.updated_unix_s = 5;
  EXPECT_EQ(*store_->next_operation_number(), 1);
  OperationRecord second = first;
  second.number = 2;
  second.request_id = "";
  apply({.operations = {first, second}});
  second.state = OperationState::succeeded;
  second.result = "models/tcp/versions/1";
  second.message = "published";
  second.updated_unix_s = 6;
  second.failures = 1;
  apply({.operations = {second}});
  check([&] {
    EXPECT_EQ(*store_->operations(0, 9), (std::vector{second, first}));
    EXPECT_EQ(*store_->operations(2, 9), (std::vector{first}));
    EXPECT_EQ(*store_->unfinished_operations(), (std::vector{first}));
    EXPECT_EQ(*store_->operation(2), second);
    EXPECT_EQ(*store_->operation(3), std::nullopt);
    EXPECT_EQ(*store_->operation_of_request("users/alice", "r1"), first);
    EXPECT_EQ(*store_->operation_of_request("users/alice", ""), std::nullopt);
    EXPECT_EQ(*store_->operation_of_request("users/bob", "r1"), std::nullopt);
    EXPECT_EQ(*store_->next_operation_number(), 3);
  });
  // One that has not ended is not forgotten, however old.
  OperationRecord late = second;
  late.number = kMaxOperations + 5;
  apply({.operations = {late}});
  EXPECT_EQ(*store_->operations(0, 9), (std::vector{late, first}));
}

}  // namespace
}  // namespace stripline::server
