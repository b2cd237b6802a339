// What any store must do. Every step is checked in the store that made it and again after it was
// closed and opened, because that is what a crash between two steps amounts to.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <sqlite3.h>

#include "server/testing/saboteur.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

TEST_F(StoreTest, NewStoreIsEmptyAndKeepsItsInstallation) {
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

TEST_F(StoreTest, NodesAreReplacedByNameAndListedInOrder) {
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

TEST_F(StoreTest, TextThatIsNotUtf8IsKeptReadable) {
  apply({.nodes = {{"a", "0.1.0", {{"cpu", "bad\xff"}}, {}, {}, 1}}});
  check([&] { EXPECT_EQ((*store_->node("a"))->fingerprint.at("cpu"), "bad\xef\xbf\xbd"); });
}

TEST_F(StoreTest, CampaignsRoundTripAndFilterByState) {
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
    EXPECT_EQ((*store_->campaign_of_request("r1"))->number, 1);
    EXPECT_FALSE(*store_->campaign_of_request(""));
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

TEST_F(StoreTest, ARequestIdNamesOneCampaign) {
  apply({.campaigns = {campaign(1, "same")}});
  const Status status = store_->apply({.campaigns = {campaign(2, "same")}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code(), ErrorCode::already_exists);
  check([&] { EXPECT_EQ(*store_->next_campaign_number(), 2); });
}

TEST_F(StoreTest, BatchesAreStoredOncePerFenceAndSequence) {
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

TEST_F(StoreTest, ACampaignsNumberDoesNotComeBack) {
  apply({.campaigns = {campaign(1), campaign(2)}});
  apply({.campaigns = {campaign(1)}});
  Saboteur(folder_.path()).run("DELETE FROM campaigns WHERE number = 2");
  check([&] { EXPECT_EQ(*store_->next_campaign_number(), 3); });
}

TEST_F(StoreTest, EveryAttemptRemembersWhoseSamplesItTakes) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}});
  apply({.attempts = {{{1, 1}, 1, "a"}}});
  apply({.attempts = {{{1, 1}, 2, "b"}}});
  check([&] {
    EXPECT_EQ(*store_->sampling_node({1, 1}, 1), "a");
    EXPECT_EQ(*store_->sampling_node({1, 1}, 2), "b");
    EXPECT_EQ(*store_->sampling_node({1, 1}, 3), std::nullopt);
  });
}

TEST_F(StoreTest, AnAttemptRemembersItsAgentsAndThenWhereItsRanksAre) {
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

TEST_F(StoreTest, FactsOfAnAttemptStay) {
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

TEST_F(StoreTest, ContiguousBatchesStopAtTheFirstGap) {
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
TEST_F(StoreTest, WhatIsStoredIsNotCountedAgain) {
  apply({.campaigns = {campaign(1)}, .runs = {run(1, 1)}, .attempts = {{{1, 1}, 1, "a"}}});
  apply({.batches = {batch({1, 1}, 1, 1), batch({1, 1}, 1, 2)}});
  Saboteur(folder_.path()).run("DELETE FROM payloads; DELETE FROM batches");
  apply({.batches = {batch({1, 1}, 1, 3)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 3U);
}

TEST_F(StoreTest, OrphaningARunLeavesLaterBatchesAlone) {
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

TEST_F(StoreTest, EventsHaveAscendingCursors) {
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

TEST_F(StoreTest, ModelVersionsAreImmutable) {
  NewModelVersion first;
  first.record.key = {"tcp", 1};
  first.record.sha256 = "hash1";
  first.record.campaigns = {"campaigns/c1"};
  first.record.created_unix_s = 7;
  first.record.summary = "eight runs";
  first.fabric = "tcp";
  first.content = "{1}";
  apply({.versions = {first}});
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

TEST_F(StoreTest, WithdrawnVersionsStayAndAreNotTheLatest) {
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

// Whoever asks for the model alone gets one that is not provisional, if there is one.
TEST_F(StoreTest, AProvisionalVersionIsTheLatestOnlyWhereThereIsNoOther) {
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

TEST_F(StoreTest, AStepIsAppliedCompletelyOrNotAtAll) {
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

TEST_F(StoreTest, WaitsForAnotherWriter) {
  Saboteur other(path_.parent_path());
  other.run("BEGIN IMMEDIATE");
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    other.run("COMMIT");
  });
  Changes changes;
  changes.nodes.push_back({"a", "0.1.0", {}, {"tcp"}, {}, 1});
  const Status applied = store_->apply(changes);
  ends.join();
  EXPECT_TRUE(applied.ok()) << applied.error().message();
}

TEST_F(StoreTest, ReadersDoNotWaitForWriters) {
  apply({.campaigns = {campaign(1)}});
  Saboteur other(path_.parent_path());
  other.run("BEGIN IMMEDIATE");
  std::atomic<bool> writing = false;
  Status applied;
  std::thread writer([&] {
    writing = true;
    applied = store_->apply({.campaigns = {campaign(2)}});
  });
  while (!writing) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ((*store_->campaign(1))->message, "queued");
  EXPECT_FALSE(*store_->campaign(2));
  other.run("COMMIT");
  writer.join();
  EXPECT_TRUE(applied.ok()) << applied.error().message();
  EXPECT_TRUE(*store_->campaign(2));
}

TEST_F(StoreTest, LiveBatchesOfAnAttemptThatIsOverAreOrphans) {
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

TEST_F(StoreTest, BatchesNeedTheirRun) {
  EXPECT_FALSE(store_->apply({.batches = {batch({9, 1}, 1, 1)}}).ok());
}

TEST_F(StoreTest, ASecondServerIsTurnedAwayWithTheOwnersProcess) {
  const auto second = open_sqlite_store(path_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), ErrorCode::already_exists);
  EXPECT_NE(second.error().message().find("process " + std::to_string(getpid())), std::string::npos)
      << second.error().message();
}

TEST_F(StoreTest, ATruncatedFileIsRefused) {
  for (int64_t i = 1; i <= 200; ++i) apply({.campaigns = {campaign(i)}});
  store_.reset();
  const auto size = std::filesystem::file_size(path_);
  ASSERT_GT(size, 8192U);
  std::filesystem::resize_file(path_, size / 2);
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  EXPECT_NE(opened.error().message().find("damaged or truncated"), std::string::npos)
      << opened.error().message();
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsRefusedAndLeftAlone) {
  store_.reset();
  const auto other = folder_.path() / "notes.txt";
  std::ofstream(other) << "these are my notes, not a database";
  const auto opened = open_sqlite_store(other);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
  std::ifstream file(other);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, "these are my notes, not a database");
}

void execute(const std::filesystem::path& path, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(raw);
}

TEST_F(StoreTest, TheDatabaseIsItsOwnersAlone) {
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

experiment::Point point(const std::string& variant, int64_t bytes) {
  return {"micro.latency", variant, {{"bytes", bytes}, {"way", std::string("cma")}}};
}

TEST_F(StoreTest, PointsAreChosenByWhatTheyAre) {
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

TEST_F(StoreTest, ManyPointsAreLookedThroughQuickly) {
  CampaignPoints many{1, {}};
  for (int64_t i = 0; i < 100'000; ++i) many.points.push_back(point("put", i));
  apply({.campaigns = {campaign(1)}, .points = {many}});
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(store_->points(1, {.params = {{"bytes", "99999"}}}, 0, 10)->size(), 1U);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  RecordProperty("seconds", std::to_string(took.count()));
  std::cout << "the last of 100000 points: " << took.count() << " s\n";
}

TEST_F(StoreTest, HoldsAreOfNodes) {
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

// The databases that servers have left behind since the first one, each without what came later.
struct EarlierDatabase {
  const char* file;      // in server/testing/databases
  const char* change;    // what makes it one of before
  const char* obstacle;  // a table that one of its migrations makes
  bool declares = true;  // rows of nodes hold whole declarations
  const char* cluster = "default";
  size_t holds = 0;
};

class StoreMigrationTest : public StoreTest, public testing::WithParamInterface<EarlierDatabase> {
 protected:
  void SetUp() override {
    const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    if (source == nullptr) GTEST_SKIP() << "STRIPLINE_TEST_SOURCE is not set";
    const auto databases = std::filesystem::path(source) / "server/testing/databases";
    execute(path_, read_file(databases / GetParam().file).c_str());
    if (GetParam().declares) {
      execute(path_,
              R"(UPDATE nodes SET experiments = '["{\"name\":\"micro.latency\",\"version\":1}"]')");
    }
    execute(path_, GetParam().change);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Version1, StoreMigrationTest,
    testing::Values(EarlierDatabase{"version1.sql", "SELECT 1", "payloads"},
                    EarlierDatabase{
                        "version1.sql",
                        "DROP TABLE version_marks; ALTER TABLE runs DROP COLUMN points_least",
                        "payloads"},
                    EarlierDatabase{"version1.sql",
                                    "DROP TABLE version_marks; DROP TABLE attempts;"
                                    "ALTER TABLE runs DROP COLUMN points_least",
                                    "payloads"},
                    EarlierDatabase{"version1.sql",
                                    "DROP TABLE version_marks; DROP TABLE attempts;"
                                    "ALTER TABLE runs DROP COLUMN points_least;"
                                    "ALTER TABLE runs DROP COLUMN points_core;"
                                    "ALTER TABLE runs DROP COLUMN points_all",
                                    "payloads"}));
INSTANTIATE_TEST_SUITE_P(Version3, StoreMigrationTest,
                         testing::Values(EarlierDatabase{"version3.sql", "SELECT 1",
                                                         "node_holds"}));
INSTANTIATE_TEST_SUITE_P(Version7, StoreMigrationTest,
                         testing::Values(EarlierDatabase{"version7.sql", "SELECT 1",
                                                         "compressed_payloads", false, "big", 1}));

TEST_P(StoreMigrationTest, LosesNothing) {
  reopen();
  check([&] {
    EXPECT_EQ(store_->installation_id(), "28ae4a58");
    EXPECT_EQ(store_->nodes("", 10)->size(), 2U);
    EXPECT_EQ((*store_->node("a"))->cluster, GetParam().cluster);
    EXPECT_EQ(store_->node_holds()->size(), GetParam().holds);
    EXPECT_EQ(store_->campaigns(0, 10)->size(), 2U);
    EXPECT_EQ(store_->runs(2)->size(), 8U);
    EXPECT_EQ(store_->runs(2)->front().points_total, 64U);
    EXPECT_GE(store_->runs(2)->front().points_all, 64U);
    const auto points = *store_->points(1, {}, 0, 1000);
    ASSERT_EQ(points.size(), store_->runs(1)->front().points_total);
    const experiment::Point first{"micro.latency", "put", {{"bytes", int64_t{524288}}}};
    EXPECT_EQ(points.front().point, first);
    EXPECT_EQ(store_->runs(2)->front().grid, 64U);
    // What was sampled before there were rows of it is summed up.
    const auto measured = std::ranges::find_if(
        points, [](const PointRecord& one) { return one.estimate.has_value(); });
    ASSERT_NE(measured, points.end());
    EXPECT_EQ(measured->runs, 1U);
    EXPECT_GT(measured->samples, 0U);
    EXPECT_EQ(*store_->sampling_node({2, 8}, 1), "a");
    EXPECT_EQ(*store_->contiguous_batches({1, 1}, 1), 2U);
    const auto batches = *store_->batches(1, 0, 10);
    ASSERT_EQ(batches.size(), 2U);
    EXPECT_EQ(batches[0].data.size(), 26660U);
    EXPECT_EQ(*store_->has_batch({1, 1}, 1, 2, "[]"), true);
    const ModelVersionRecord version = **store_->model_version({"tcp", 0});
    EXPECT_EQ(version.size_bytes, store_->model_content({"tcp", 1})->size());
    EXPECT_EQ(store_->events(2, 0, 10)->size(), 2U);
    EXPECT_EQ(*store_->next_campaign_number(), 3);
    EXPECT_EQ((*store_->node("a"))->experiments, std::vector<std::string>{"micro.latency"});
  });
  // It goes on: what is new is stored beside it.
  apply({.attempts = {{{1, 1}, 2, "b"}}, .batches = {batch({1, 1}, 2, 1)}});
  EXPECT_EQ(*store_->contiguous_batches({1, 1}, 2), 1U);
}

TEST_P(StoreMigrationTest, ADatabaseThatCannotBeMigratedIsLeftAsItIs) {
  const std::string obstacle = GetParam().obstacle;
  execute(path_, ("CREATE TABLE " + obstacle + " (x)").c_str());
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  execute(path_, ("DROP TABLE " + obstacle).c_str());
  reopen();
  EXPECT_EQ(store_->batches(1, 0, 10)->size(), 2U);
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsRefused) {
  store_.reset();
  const auto other = folder_.path() / "other.db";
  execute(other, "CREATE TABLE t (x)");
  const auto opened = open_sqlite_store(other);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
}

TEST_F(StoreTest, ANewerSchemaIsRefused) {
  store_.reset();
  execute(path_, "UPDATE meta SET value = '99' WHERE key = 'schema_version'");
  const auto opened = open_sqlite_store(path_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code(), ErrorCode::failed_precondition);
  EXPECT_NE(opened.error().message().find("99"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server
