// What a server says of the fleet's past, which its store holds.
#include "server/core/fleet_history.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/clock.h"
#include "server/testing/agents_service_test.h"
#include "server/testing/saboteur.h"
#include "server/testing/service_test.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

grpc::Status ask(v1::Fleet::Stub& fleet, const std::string& from, const std::string& to,
                 v1::FleetHistory& history) {
  v1::GetHistoryRequest request;
  request.set_from(from);
  request.set_to(to);
  grpc::ClientContext context;
  return fleet.GetHistory(&context, request, &history);
}

v1::FleetHistory history_of(v1::Fleet::Stub& fleet, const std::string& from,
                            const std::string& to) {
  v1::FleetHistory history;
  const grpc::Status status = ask(fleet, from, to, history);
  EXPECT_TRUE(status.ok()) << status.error_message();
  return history;
}

CampaignRecord ended_campaign() {
  CampaignRecord record = campaign(1);
  record.state = CampaignState::cancelled;
  return record;
}

class FleetHistoryTest : public ServiceTest {
 protected:
  // Another start of the server, to which this has been stored meanwhile.
  void restart_with(const Changes& changes) {
    agents_.clear();
    server_.reset();
    {
      const auto store = open_sqlite_store(folder_.path() / "stripline.db");
      ASSERT_TRUE(store.ok()) << store.error().message();
      const Status stored = (*store)->apply(changes);
      ASSERT_TRUE(stored.ok()) << stored.error().message();
    }
    start();
  }

  v1::FleetHistory history(const std::string& from = "", const std::string& to = "") {
    return history_of(*fleet_, from, to);
  }
  v1::FleetHistory history(double from_unix_s, double to_unix_s) {
    return history(rfc3339(from_unix_s), rfc3339(to_unix_s));
  }

  static std::vector<v1::NodeEvent> of_kind(const v1::FleetHistory& history,
                                            v1::NodeEvent::Kind kind) {
    std::vector<v1::NodeEvent> found;
    for (const v1::NodeEvent& event : history.events()) {
      if (event.kind() == kind) found.push_back(event);
    }
    return found;
  }
};

TEST_F(FleetHistoryTest, WhatRanIsKnownToTheNextServerToo) {
  const double began_unix_s = unix_seconds();
  start_agents();
  v1::CordonNodeRequest cordon;
  cordon.set_name("nodes/a");
  cordon.set_reason("a new NIC: slot 2");
  v1::UncordonNodeRequest uncordon;
  uncordon.set_name("nodes/a");
  {
    v1::Node node;
    grpc::ClientContext first;
    ASSERT_TRUE(fleet_->CordonNode(&first, cordon, &node).ok());
    grpc::ClientContext second;
    ASSERT_TRUE(fleet_->UncordonNode(&second, uncordon, &node).ok());
  }
  const std::string name = created(small_spec()).name();
  watch(name);

  const v1::FleetHistory before = history();
  EXPECT_FALSE(before.truncated());
  ASSERT_EQ(before.runs_size(), 1);
  const v1::PastRun& run = before.runs(0);
  EXPECT_EQ(run.name(), name + "/runs/1");
  EXPECT_EQ(run.outcome(), v1::PastRun::FINISHED);
  EXPECT_EQ(std::vector<std::string>(run.nodes().begin(), run.nodes().end()),
            (std::vector<std::string>{"nodes/a", "nodes/b"}));
  EXPECT_GE(run.start_time(), rfc3339(began_unix_s));
  EXPECT_GE(run.end_time(), run.start_time());
  EXPECT_LE(run.end_time(), before.end_time());
  const auto held = of_kind(before, v1::NodeEvent::CORDONED);
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held.front().node(), "nodes/a");
  EXPECT_EQ(held.front().message(), "a new NIC: slot 2");
  EXPECT_EQ(held.front().actor(), "users/anonymous");
  EXPECT_EQ(of_kind(before, v1::NodeEvent::UNCORDONED).size(), 1U);
  EXPECT_EQ(of_kind(before, v1::NodeEvent::CONNECTED).size(), 2U);
  EXPECT_TRUE(of_kind(before, v1::NodeEvent::LAST_HEARD).empty());

  agents_.clear();
  ASSERT_TRUE(eventually([&] { return node_state("nodes/b") == v1::Node::OFFLINE; }));
  restart_with({});
  const v1::FleetHistory after = history();
  ASSERT_EQ(after.runs_size(), 1);
  EXPECT_EQ(after.runs(0).SerializeAsString(), run.SerializeAsString());
  EXPECT_EQ(of_kind(after, v1::NodeEvent::CORDONED).size(), 1U);
  EXPECT_TRUE(of_kind(after, v1::NodeEvent::CONNECTED).empty());
  EXPECT_EQ(of_kind(after, v1::NodeEvent::LAST_HEARD).size(), 2U);
}

TEST_F(FleetHistoryTest, ARunThatEndsLaterIsInProgress) {
  restart_with({.campaigns = {ended_campaign()},
                .runs = {run(1, 1)},
                .attempts = {{{1, 1}, 1, "a", {{"a", "i"}}, {}, 100}},
                .attempt_ends = {{{1, 1}, 1, 200, AttemptOutcome::lost, "a rank died"}}});
  const v1::FleetHistory end = history(150, 250);
  ASSERT_EQ(end.runs_size(), 1);
  EXPECT_EQ(end.runs(0).start_time(), rfc3339(100)) << "before what was asked for";
  EXPECT_EQ(end.runs(0).end_time(), rfc3339(200));
  EXPECT_EQ(end.runs(0).outcome(), v1::PastRun::LOST);
  EXPECT_EQ(end.runs(0).message(), "a rank died");
  const v1::FleetHistory middle = history(150, 175);
  ASSERT_EQ(middle.runs_size(), 1);
  EXPECT_EQ(middle.runs(0).outcome(), v1::PastRun::IN_PROGRESS);
  EXPECT_EQ(middle.runs(0).end_time() + middle.runs(0).message(), "");
  EXPECT_EQ(history(210, 290).runs_size(), 0);
}

TEST_F(FleetHistoryTest, AnswersToOffersAreEventsOfNodes) {
  NewModelVersion version;
  version.record.key = {"tcp", 1};
  version.fabric = "tcp";
  version.content = "{}";
  restart_with({.versions = {version},
                .node_models = {{"a", {"tcp", 1}, true, "", 120},
                                {"b", {"tcp", 1}, false, "no room", 130}}});
  const v1::FleetHistory past = history(90, 140);
  ASSERT_EQ(of_kind(past, v1::NodeEvent::MODEL_APPLIED).size(), 1U);
  const auto rejected = of_kind(past, v1::NodeEvent::MODEL_REJECTED);
  ASSERT_EQ(rejected.size(), 1U);
  EXPECT_EQ(rejected.front().node(), "nodes/b");
  EXPECT_EQ(rejected.front().message(), "models/tcp/versions/1: no room");
  EXPECT_EQ(history(140, 150).events_size(), 0);
}

TEST_F(FleetHistoryTest, AnAnswerHasTheNewestOfManyRuns) {
  constexpr uint32_t kRuns = 2100;
  Changes changes{.campaigns = {ended_campaign()}};
  for (uint32_t i = 1; i <= kRuns; ++i) {
    changes.runs.push_back(run(1, i));
    changes.attempts.push_back({{1, i}, 1, "a", {{"a", "i"}}, {}, 10.0 * i});
    changes.attempt_ends.push_back({{1, i}, 1, 10.0 * i + 5, AttemptOutcome::finished, ""});
  }
  restart_with(changes);
  const v1::FleetHistory all = history(1, 10 * (kRuns + 1));
  EXPECT_TRUE(all.truncated());
  ASSERT_EQ(all.runs_size(), 2000);
  EXPECT_EQ(all.runs(0).name(), "campaigns/c1/runs/101");
  EXPECT_EQ(all.runs(1999).name(), "campaigns/c1/runs/2100");
  const v1::FleetHistory part = history(1, 10'000);
  EXPECT_FALSE(part.truncated());
  EXPECT_EQ(part.runs(0).name(), "campaigns/c1/runs/1");
}

TEST_F(FleetHistoryTest, AnAnswerIsBoundedInBytes) {
  constexpr uint32_t kRuns = 1000;
  Changes changes{.campaigns = {ended_campaign()}};
  for (uint32_t index = 1; index <= kRuns; ++index) {
    changes.runs.push_back(run(1, index));
    changes.attempts.push_back({{1, index}, 1, "a", {{"a", "i"}}, {}, 10.0 * index});
    changes.attempt_ends.push_back({{1, index},
                                    1,
                                    10.0 * index + 5,
                                    AttemptOutcome::lost,
                                    std::string(size_t{10} << 10, 'x')});
  }
  restart_with(changes);
  const v1::FleetHistory all = history(1, 10 * (kRuns + 1));
  EXPECT_TRUE(all.truncated());
  EXPECT_GT(all.runs_size(), 100);
  EXPECT_LE(all.ByteSizeLong(), size_t{3} << 20);
  EXPECT_EQ(all.runs(all.runs_size() - 1).name(), "campaigns/c1/runs/1000") << "the newest";
  EXPECT_LT(all.runs(0).start_time(), all.runs(1).start_time());
}

TEST_F(FleetHistoryTest, OtherTimesAreRefused) {
  v1::FleetHistory none;
  const double now = unix_seconds();
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"yesterday", ""},
           {"", "2026-06-31T00:00:00Z"},
           {"1700000000", ""},
           {rfc3339(now), rfc3339(now)},
           {rfc3339(now + 3600), ""},
           {rfc3339(now - 15 * 86400), rfc3339(now)}}) {
    EXPECT_EQ(reason_of(ask(*fleet_, from, to, none)), "INVALID_FIELD") << from << " to " << to;
  }
  EXPECT_EQ(history(now - 13 * 86400, now).runs_size(), 0);
  const v1::FleetHistory usual = history("", "2026-06-01T14:00:00+02:00");
  EXPECT_EQ(usual.start_time(), "2026-06-01T06:00:00.000Z");
  EXPECT_EQ(usual.end_time(), "2026-06-01T12:00:00.000Z");
}

// Each change of a run that ends an attempt at it.
class AttemptsTest : public AgentsServiceTest {
 protected:
  v1::FleetHistory history() { return history_of(*fleet_, "", ""); }
};

TEST_F(AttemptsTest, AreLostUntilTheRunFails) {
  give_out();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    b_->update(order_b_, Update::FAILED, "aborted", "rank 1 was killed by signal 11");
    ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
    a_->update(order_a_, Update::CANCELLED);
    if (attempt < 3) receive_orders();
  }
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  const v1::FleetHistory past = history();
  ASSERT_EQ(past.runs_size(), 3);
  for (int i = 0; i < 3; ++i) {
    const v1::PastRun& run = past.runs(i);
    EXPECT_EQ(run.name(), campaign_ + "/runs/1");
    EXPECT_EQ(run.nodes_size(), 2);
    EXPECT_EQ(run.outcome(), i < 2 ? v1::PastRun::LOST : v1::PastRun::FAILED);
    EXPECT_EQ(run.message(), "nodes/b: rank 1 was killed by signal 11");
    EXPECT_GE(run.end_time(), run.start_time());
  }
}

TEST_F(AttemptsTest, AreCancelledWithTheirCampaign) {
  give_out();
  const v1::FleetHistory now = history();
  ASSERT_EQ(now.runs_size(), 1);
  EXPECT_EQ(now.runs(0).outcome(), v1::PastRun::IN_PROGRESS);
  EXPECT_EQ(now.runs(0).end_time(), "");
  v1::Campaign campaign;
  ASSERT_TRUE(cancel(campaign_, campaign).ok());
  const v1::FleetHistory past = history();
  ASSERT_EQ(past.runs_size(), 1);
  EXPECT_EQ(past.runs(0).outcome(), v1::PastRun::CANCELLED);
  EXPECT_EQ(past.runs(0).message(), campaign.message());
  EXPECT_NE(past.runs(0).end_time(), "");
}

TEST_F(AttemptsTest, GoOnAfterARestartOfTheServer) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  const std::string started = history().runs(0).start_time();
  restart({order_a_, order_b_});
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  const v1::FleetHistory past = history();
  ASSERT_EQ(past.runs_size(), 1);
  EXPECT_EQ(past.runs(0).start_time(), started);
  EXPECT_EQ(past.runs(0).outcome(), v1::PastRun::FINISHED);
  EXPECT_EQ(past.runs(0).message(), "");
}

TEST_F(AttemptsTest, AreLostWithTheServerWhereABackupIsPutInPlace) {
  give_out();
  join_both();
  server_.reset();
  Saboteur(options_.data_dir).run("UPDATE meta SET value = '4294967296' WHERE key = 'fence_base'");
  restart({order_a_, order_b_});
  const v1::FleetHistory past = history();
  ASSERT_GE(past.runs_size(), 1);
  EXPECT_EQ(past.runs(0).outcome(), v1::PastRun::LOST);
  EXPECT_EQ(past.runs(0).message(), "the server was restarted");
  EXPECT_NE(past.runs(0).end_time(), "");
}

}  // namespace
}  // namespace stripline::server
