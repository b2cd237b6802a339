// What the server does with agents and runs when streams break, nothing can be stored, or another
// server takes up what the last one left.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "server/store/backup.h"
#include "server/store/sqlite_store.h"
#include "server/testing/agents_service_test.h"
#include "server/testing/saboteur.h"

namespace stripline::server {
namespace {

TEST_F(AgentsServiceTest, AReconnectWithinTheLeaseContinues) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  a_->vanish();
  v1::Hello hello = test_hello("a");
  hello.set_assignment(order_a_.name());
  hello.set_fence(order_a_.fence());
  a_ = std::make_unique<AgentClient>(address_, hello);
  // It may have missed this one.
  const auto ready = a_->receive(Message::kGroupReady);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->group_ready().addresses(1), "address-1");
  batch(2, 2e-6);
  EXPECT_EQ(acknowledged(), 2U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  for (const Json& series : exported(campaign_)) EXPECT_EQ(series.at("fence"), 1);
}

TEST_F(AgentsServiceTest, AnOrderLostWithItsStreamIsSentAgain) {
  give_out();
  b_->vanish();
  b_ = std::make_unique<AgentClient>(address_, test_hello("b"));
  const auto again = b_->receive(Message::kAssignment);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->assignment().fence(), 1U);
  join_both();
}

// Runs follow each other in a moment: the agent still names the one before.
TEST_F(AgentsServiceTest, AnOrderOfALaterRunLostWithItsStreamIsSentAgain) {
  give_out(2);
  join_both();
  batch(1, 1e-6);
  finish_both();
  const v1::Assignment before = order_b_;
  receive_orders();
  ASSERT_EQ(order_b_.name(), campaign_ + "/runs/2");
  b_->vanish();
  v1::Hello hello = test_hello("b");
  hello.set_assignment(before.name());
  hello.set_fence(before.fence());
  b_ = std::make_unique<AgentClient>(address_, hello);
  const auto again = b_->receive(Message::kAssignment);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->assignment().name(), order_b_.name());
  EXPECT_EQ(again->assignment().fence(), 1U);
  join_both();
}

// Whatever is due when the server can act again has had no chance to be heard.
TEST_F(AgentsServiceTest, AServerThatWasHeldUpGivesNobodyUp) {
  give_out(2);
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, data_of(1, 1e-6, 0, kPoints));
  EXPECT_EQ(acknowledged(), 1U);
  b_->update(order_b_, Update::FINISHED);
  Saboteur saboteur(options_.data_dir);
  saboteur.run("BEGIN IMMEDIATE");  // the server waits for it
  a_->update(order_a_, Update::FINISHED);
  std::this_thread::sleep_for(std::chrono::milliseconds(1600));
  saboteur.run("COMMIT");
  receive_orders();
  EXPECT_EQ(order_a_.name(), campaign_ + "/runs/2");
  join_both();
}

// While samples wait for it, everything else goes on.
TEST_F(AgentsServiceTest, NobodyWaitsForTheDiskBecauseOfSamples) {
  give_out();
  join_both();
  Saboteur saboteur(options_.data_dir);
  saboteur.run("BEGIN IMMEDIATE");
  batch(1, 1e-6);
  batch(2, 1e-6);
  EXPECT_EQ(node_state("nodes/a"), v1::Node::BUSY);
  EXPECT_EQ(get(campaign_).points_done(), 0U);
  EXPECT_FALSE(a_->receive(Message::kSampleAck, 0.1));
  saboteur.run("COMMIT");
  while (acknowledged() != 2) ASSERT_FALSE(HasFailure());
  EXPECT_EQ(get(campaign_).points_done(), 2U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
}

// What cannot be stored now is sent again later, and agents are not given up meanwhile.
TEST_F(AgentsServiceTest, AnOutageOfTheDiskCostsNoRun) {
  server_.reset();
  options_.coordinator.storage_retry_s = 0.1;
  start();
  a_ = std::make_unique<AgentClient>(address_, test_hello("a"));
  b_ = std::make_unique<AgentClient>(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  give_out();
  join_both();
  {
    Saboteur saboteur(options_.data_dir);
    saboteur.run("ALTER TABLE nodes RENAME TO away; ALTER TABLE payloads RENAME TO away2");
    batch(1, 1e-6);
    EXPECT_EQ(reason_of(a_->finish()), "STORAGE");
    v1::Hello hello = test_hello("a");
    hello.set_assignment(order_a_.name());
    hello.set_fence(order_a_.fence());
    a_ = std::make_unique<AgentClient>(address_, hello);
    EXPECT_TRUE(a_->receive(Message::kGroupReady));
    saboteur.run("ALTER TABLE away RENAME TO nodes; ALTER TABLE away2 RENAME TO payloads");
  }
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  for (const Json& series : exported(campaign_)) EXPECT_EQ(series.at("fence"), 1);
}

// Agents measure on without a server.
TEST_F(AgentsServiceTest, ARunSurvivesARestartOfTheServer) {
  give_out(2);
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  restart({order_a_, order_b_});
  const auto ready = a_->receive(Message::kGroupReady);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->group_ready().addresses(1), "address-1");
  EXPECT_TRUE(b_->receive(Message::kGroupReady));
  EXPECT_EQ(get(campaign_).points_done(), 1U);
  batch(2, 2e-6);
  EXPECT_EQ(acknowledged(), 2U);
  a_->batch(order_a_.name(), order_a_.fence(), 3, data_of(1, 1e-6, 0));
  // What was stored before counts: that point has been measured.
  const auto cancel = a_->receive(Message::kCancelAssignment);
  ASSERT_TRUE(cancel);
  EXPECT_NE(cancel->cancel_assignment().message().find("a point twice"), std::string::npos)
      << cancel->cancel_assignment().message();
}

TEST_F(AgentsServiceTest, ARunEndsWellAfterARestartOfTheServer) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  restart({order_a_, order_b_});
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  EXPECT_EQ(exported(campaign_).size(), kPoints);
  for (const Json& series : exported(campaign_)) EXPECT_EQ(series.at("fence"), 1);
}

// A node whose part has ended may have begun with another run: the server does not wait for it.
TEST_F(AgentsServiceTest, AnEndedPartOfARunSurvivesARestartOfTheServer) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  v1::AgentMessage finished;
  finished.mutable_assignment_update()->set_assignment(order_b_.name());
  finished.mutable_assignment_update()->set_fence(order_b_.fence());
  finished.mutable_assignment_update()->set_state(Update::FINISHED);
  (*finished.mutable_assignment_update()->mutable_facts())["fabric.provider"] = "known at the end";
  b_->send(finished);
  v1::CampaignSpec other = small_spec();
  other.set_nodes(1);
  other.set_ranks(2);
  other.add_only_nodes("nodes/b");
  created(other);
  const auto order = b_->receive(Message::kAssignment);
  ASSERT_TRUE(order);
  restart({order_a_, order->assignment()});
  ASSERT_TRUE(a_->receive(Message::kGroupReady));
  send_rest();
  a_->update(order_a_, Update::FINISHED);
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  for (const Json& series : exported(campaign_)) EXPECT_EQ(series.at("fence"), 1);
  server_.reset();
  const auto store = open_sqlite_store(options_.data_dir / "stripline.db");
  ASSERT_TRUE(store.ok()) << store.error().message();
  const auto facts = (*store)->attempt_facts(*parse_run_name(order_a_.name()), 1);
  ASSERT_TRUE(facts.ok() && facts->size() == 2);
  EXPECT_EQ(facts->back().facts.at("host"), "b");
  EXPECT_EQ(facts->back().facts.at("fabric.provider"), "known at the end");
}

// The agent of such a node says how its part ended in each new session, for a while.
TEST_F(AgentsServiceTest, AnEndedPartOfARunMayBeSaidAgain) {
  give_out();
  join_both();
  b_->update(order_b_, Update::FINISHED);
  ASSERT_TRUE(eventually([&] { return node_state("nodes/b") == v1::Node::IDLE; }));
  restart({order_a_, order_b_});
  ASSERT_TRUE(a_->receive(Message::kGroupReady));
  b_->update(order_b_, Update::FINISHED);
  b_->update(order_b_, Update::CANCELLED);
  send_rest();
  EXPECT_FALSE(b_->receive(Message::kCancelAssignment, 0));
  EXPECT_EQ(node_state("nodes/b"), v1::Node::IDLE);
  a_->update(order_a_, Update::FINISHED);
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  for (const Json& series : exported(campaign_)) EXPECT_EQ(series.at("fence"), 1);
}

TEST_F(AgentsServiceTest, AnOrderLostWithTheServerIsSentAgain) {
  give_out();
  restart({});
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 1U);
  join_both();
}

// A backup knows nothing of the orders given out after it. What it holds of runs counts.
TEST_F(AgentsServiceTest, ARunIsMeasuredAgainWhenABackupIsPutInPlace) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  const auto database = options_.data_dir / "stripline.db";
  const auto copy = options_.data_dir / "copy";
  const Status saved = back_up(database, copy);
  ASSERT_TRUE(saved.ok()) << saved.error().message();
  server_.reset();
  for (const char* end : {"-wal", "-shm"}) std::filesystem::remove(database.string() + end);
  std::filesystem::rename(copy, database);
  restart({order_a_, order_b_});
  EXPECT_EQ(get(campaign_).samples(), 1U);
  EXPECT_TRUE(a_->receive(Message::kCancelAssignment));
  EXPECT_TRUE(b_->receive(Message::kCancelAssignment));
  a_->update(order_a_, Update::CANCELLED);
  b_->update(order_b_, Update::CANCELLED);
  receive_orders();
  EXPECT_GT(order_a_.fence(), uint64_t{1} << 32);
  join_both();
  send_rest();
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  EXPECT_EQ(end().samples(), 1 + kPoints);
}

TEST_F(AgentsServiceTest, ARunThatOneNodeDoesNotComeBackToIsMeasuredAgain) {
  options_.coordinator.reconnect_s = 0.1;
  give_out();
  join_both();
  restart({order_a_});
  const auto beat = [&] {
    a_->heartbeat(order_a_.name(), order_a_.fence());
    return a_->receive(Message::kCancelAssignment, 0.1).has_value();
  };
  ASSERT_TRUE(eventually(beat));
  EXPECT_TRUE(std::ranges::any_of(events_so_far(), [](const auto& event) {
    return event.message().find("nodes/b was not heard of") != std::string::npos;
  }));
}

TEST_F(AgentsServiceTest, ARestartedAgentHasLostItsRun) {
  give_out();
  join_both();
  b_->vanish();
  ASSERT_TRUE(eventually([&] { return node_state("nodes/b") == v1::Node::OFFLINE; }));
  b_ = std::make_unique<AgentClient>(address_, test_hello("b", "i2"));
  ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
  a_->update(order_a_, Update::CANCELLED);
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 2U);
}

TEST_F(AgentsServiceTest, AnAssignmentThatIsNotValidAnyMoreIsCancelled) {
  v1::Hello hello = test_hello("c");
  hello.set_assignment("campaigns/c9/runs/1");
  hello.set_fence(3);
  AgentClient c(address_, hello);
  const auto message = c.receive(Message::kCancelAssignment);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->cancel_assignment().fence(), 3U);
  EXPECT_EQ(node_state("nodes/c"), v1::Node::BUSY);
}

}  // namespace
}  // namespace stripline::server
