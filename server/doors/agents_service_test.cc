// The session protocol, message by message: what the server does with agents that vanish, repeat
// themselves, come late or come twice.
#include "server/testing/agents_service_test.h"

#include <atomic>
#include <string>
#include <utility>

#include "server/testing/experiments.h"
#include "server/testing/saboteur.h"

namespace stripline::server {
namespace {

TEST_F(AgentsServiceTest, AnOrderSaysWhatToDo) {
  give_out();
  EXPECT_EQ(order_a_.name(), campaign_ + "/runs/1");
  EXPECT_EQ(order_a_.fence(), 1U);
  ASSERT_EQ(order_a_.ranks_size(), 1);
  EXPECT_EQ(order_a_.ranks(0), 0U);
  EXPECT_EQ(order_b_.ranks(0), 1U);
  EXPECT_EQ(order_a_.rank_nodes_size(), 2);
  EXPECT_EQ(order_a_.rank_nodes(1), "b");
  EXPECT_FALSE(order_a_.job_id().empty());
  EXPECT_EQ(order_a_.job_id(), order_b_.job_id());
  const auto assignment = experiment::assignment_from_json(Json::parse(order_a_.assignment_json()));
  ASSERT_TRUE(assignment.ok()) << assignment.error().message();
  EXPECT_EQ(assignment->name, order_a_.name());
  EXPECT_EQ(assignment->fence, 1U);
  EXPECT_EQ(assignment->run, 1U);
  EXPECT_EQ(assignment->points.size(), 8U);
}

TEST_F(AgentsServiceTest, BatchesAreStoredOnceAndAcknowledgedInOrder) {
  give_out();
  join_both();
  batch(2, 2e-6);  // nothing can be acknowledged yet
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 2U);
  batch(1, 1e-6);  // the acknowledgement was lost, say
  EXPECT_EQ(acknowledged(), 2U);
  batch(3, 3e-6);
  EXPECT_EQ(acknowledged(), 3U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  EXPECT_EQ(end().samples(), kPoints);
  EXPECT_EQ(exported(campaign_).size(), kPoints);
}

// Each of them would take the name of a batch that the node of rank 0 is still to send.
TEST_F(AgentsServiceTest, SamplesComeFromTheNodeOfRankZeroAlone) {
  give_out();
  join_both();
  AgentClient stranger(address_, test_hello("x"));
  ASSERT_TRUE(connected({"x"}));
  stranger.batch(order_a_.name(), order_a_.fence(), 1, "[]");
  const auto refused = stranger.receive(Message::kCancelAssignment);
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->cancel_assignment().message().find("only nodes/a may do"), std::string::npos)
      << refused->cancel_assignment().message();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  // Not when it is over, either.
  stranger.update(order_a_, Update::CANCELLED);
  stranger.batch(order_a_.name(), order_a_.fence(), 2, data_of(1, 7.0));
  ASSERT_TRUE(stranger.receive(Message::kCancelAssignment));
  ASSERT_EQ(exported(campaign_).size(), kPoints);
  for (const Json& series : exported(campaign_)) {
    EXPECT_EQ(series.at("values"), Json::array({1e-6}));
    EXPECT_FALSE(series.at("orphan").get<bool>());
  }
}

TEST_F(AgentsServiceTest, AMemberThatSendsSamplesOfAnotherNodeFailsTheRun) {
  give_out();
  join_both();
  b_->batch(order_b_.name(), order_b_.fence(), 1, data_of(1, 7.0));
  const auto cancel = a_->receive(Message::kCancelAssignment);
  ASSERT_TRUE(cancel);
  EXPECT_NE(cancel->cancel_assignment().message().find("only nodes/a may do"), std::string::npos)
      << cancel->cancel_assignment().message();
  ASSERT_TRUE(b_->receive(Message::kCancelAssignment));
  a_->update(order_a_, Update::CANCELLED);
  b_->update(order_b_, Update::CANCELLED);
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 2U);
  EXPECT_TRUE(exported(campaign_).empty());
}

TEST_F(AgentsServiceTest, ABatchThatComesAgainWithOtherSamplesIsNotAcknowledged) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  batch(1, 2e-6);
  const auto cancel = a_->receive(Message::kCancelAssignment);
  ASSERT_TRUE(cancel);
  EXPECT_NE(cancel->cancel_assignment().message().find("with other samples"), std::string::npos)
      << cancel->cancel_assignment().message();
  ASSERT_EQ(exported(campaign_).size(), 1U);
  EXPECT_EQ(exported(campaign_)[0].at("values"), Json::array({1e-6}));
}

// One of two experiments kills a rank whenever it is measured: the campaign goes on without it.
TEST_F(AgentsServiceTest, AnExperimentThatAlwaysFailsIsLeftOutAndNamed) {
  v1::CampaignSpec spec = small_spec();
  spec.add_experiments("micro.latency");
  campaign_ = created(spec).name();
  const std::string death =
      "rank 1 on nodes/b was killed by signal 11 (Segmentation fault) while it measured "
      "micro.latency/get?bytes=8";
  for (int attempt = 1; attempt <= 2; ++attempt) {
    receive_orders();
    EXPECT_FALSE(Json::parse(order_a_.assignment_json()).contains("left_out"));
    join_both();
    b_->update(order_b_, Update::FAILED, "aborted", death, "micro.latency");
    ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
    a_->update(order_a_, Update::CANCELLED);
  }
  receive_orders();
  const Json order = Json::parse(order_a_.assignment_json());
  ASSERT_TRUE(order.contains("left_out")) << order.dump();
  EXPECT_EQ(order.at("left_out").at("micro.latency"), death);
  // As a worker reports what it leaves out.
  join_both();
  const auto assignment = experiment::assignment_from_json(order);
  ASSERT_TRUE(assignment.ok());
  Json data = Json::array();
  for (const experiment::Point& point : assignment->points) {
    experiment::SampleSeries series;
    series.point = point;
    series.run = 1;
    series.note = "not measured: the experiment was left out after " + death;
    if (point.experiment == "kernel.loop") {
      series.values = {1e-6};
      series.timestamps_s = {0.5};
      series.verified = true;
      series.note.clear();
    }
    data.push_back(experiment::to_json(series));
  }
  a_->batch(order_a_.name(), order_a_.fence(), 1, data.dump());
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED) << end().message();
  EXPECT_NE(end().message().find("without micro.latency, which was left out after rank 1"),
            std::string::npos)
      << end().message();
}

TEST_F(AgentsServiceTest, ACampaignOfOneExperimentThatAlwaysFailsNamesThePoint) {
  give_out();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    if (attempt > 1) receive_orders();
    join_both();
    b_->update(order_b_, Update::FAILED, "aborted",
               "rank 1 on nodes/b died while it measured kernel.loop/tuned?bytes=8", "kernel.loop");
    ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
    a_->update(order_a_, Update::CANCELLED);
  }
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("kernel.loop/tuned?bytes=8"), std::string::npos)
      << end().message();
}

TEST_F(AgentsServiceTest, FollowersHearThatAPointTakesLong) {
  give_out();
  join_both();
  a_->update(order_a_, Update::RUNNING, "", "kernel.loop/tuned?bytes=8 has taken 15 s");
  ASSERT_TRUE(eventually([&] {
    return get(campaign_).message() == "run 1: kernel.loop/tuned?bytes=8 has taken 15 s";
  }));
}

TEST_F(AgentsServiceTest, BatchesAreLimited) {
  give_out();
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, "[" + std::string(5 << 20, ' ') + "]");
  const auto cancel = a_->receive(Message::kCancelAssignment);
  ASSERT_TRUE(cancel);
  EXPECT_NE(cancel->cancel_assignment().message().find("at most 4194304"), std::string::npos)
      << cancel->cancel_assignment().message();
}

TEST_F(AgentsServiceTest, ACampaignThatMeasuresNothingFailsAndSaysWhy) {
  give_out(3);
  join_both();
  Json none = Json::array();
  for (size_t place = 0; place < kPoints; ++place) {
    experiment::SampleSeries series = series_of(1, place, 0);
    series.values = {};
    series.timestamps_s = {};
    series.note = "not measured: start a square number of ranks";
    none.push_back(experiment::to_json(series));
  }
  a_->batch(order_a_.name(), order_a_.fence(), 1, none.dump());
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("kernel.loop/tuned?bytes=8 was not measured: start a square"),
            std::string::npos)
      << end().message();
}

TEST_F(AgentsServiceTest, TimesOfZeroAloneSayNothing) {
  give_out(3);
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, data_of(1, 0, 0, kPoints));
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("kernel.loop/tuned?bytes=8 took no time in any repetition"),
            std::string::npos)
      << end().message();
}

TEST_F(AgentsServiceTest, AsManySamplesAreCountedAsAreExportedThoseOfZeroToo) {
  give_out();
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, data_of(1, 0, 0, 1));
  a_->batch(order_a_.name(), order_a_.fence(), 2, data_of(1, 1e-6, 1, kPoints - 1));
  while (acknowledged() != 2) ASSERT_FALSE(HasFailure());
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  size_t values = 0;
  for (const Json& series : exported(campaign_)) values += series.at("values").size();
  EXPECT_EQ(values, kPoints);
  EXPECT_EQ(end().samples(), values);
}

TEST_F(AgentsServiceTest, ARunWithoutAllItsPointsIsNotFinished) {
  give_out();
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, data_of(1, 1e-6, 0, kPoints - 1), kPoints);
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 2U);
  EXPECT_TRUE(std::ranges::any_of(events_so_far(), [](const auto& event) {
    return event.message().find("samples of 7 of its 8 points") != std::string::npos;
  }));
}

TEST_F(AgentsServiceTest, PointsThatWereNotPlannedAreRefused) {
  give_out();
  join_both();
  experiment::SampleSeries foreign = series_of(1, 0, 1e-6);
  foreign.point.params["bytes"] = int64_t{24};
  a_->batch(order_a_.name(), order_a_.fence(), 1,
            Json::array({experiment::to_json(foreign)}).dump());
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("kernel.loop/tuned?bytes=24, which is not in the run's plan"),
            std::string::npos)
      << end().message();
  EXPECT_TRUE(exported(campaign_).empty());
}

TEST_F(AgentsServiceTest, APointThatComesTwiceIsRefused) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  a_->batch(order_a_.name(), order_a_.fence(), 2, data_of(1, 1e-6, 0));
  const auto cancel = a_->receive(Message::kCancelAssignment);
  ASSERT_TRUE(cancel);
  EXPECT_NE(cancel->cancel_assignment().message().find("a point twice"), std::string::npos)
      << cancel->cancel_assignment().message();
  EXPECT_EQ(exported(campaign_).size(), 1U);
}

TEST_F(AgentsServiceTest, SamplesOfAnOldFenceAreKeptAsOrphans) {
  give_out();
  join_both();
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  b_->update(order_b_, Update::FAILED, "aborted", "rank 1 was killed by signal 9");
  ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
  const v1::Assignment old = order_a_;
  a_->update(order_a_, Update::CANCELLED);
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 2U);
  join_both();
  // Late samples of the first attempt, beside those of the second.
  a_->batch(old.name(), old.fence(), 2, data_of(1, 9e-6));
  const auto late = a_->receive(Message::kSampleAck);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->sample_ack().fence(), 1U);
  EXPECT_EQ(late->sample_ack().seq(), 2U);
  batch(1, 2e-6);
  EXPECT_EQ(acknowledged(), 1U);
  finish_both();
  EXPECT_EQ(end().state(), v1::Campaign::SUCCEEDED);
  size_t orphans = 0;
  for (const Json& series : exported(campaign_)) {
    EXPECT_EQ(series.at("orphan").get<bool>(), series.at("fence") == 1);
    if (series.at("orphan").get<bool>()) ++orphans;
  }
  EXPECT_EQ(orphans, 2U);
}

TEST_F(AgentsServiceTest, ASilentAgentLosesItsLease) {
  give_out();
  join_both();
  b_->vanish();
  // The other one goes on until the lease of the first has run out.
  const auto beat = [&] {
    a_->heartbeat(order_a_.name(), order_a_.fence());
    return a_->receive(Message::kCancelAssignment, 0.1).has_value();
  };
  ASSERT_TRUE(eventually(beat));
  a_->update(order_a_, Update::CANCELLED);
  b_ = std::make_unique<AgentClient>(address_, test_hello("b", "i2"));
  receive_orders();
  EXPECT_EQ(order_b_.fence(), 2U);
  join_both();
  batch(1, 1e-6);
  finish_both();
  const auto events = watch(campaign_);
  EXPECT_EQ(events.back().campaign().state(), v1::Campaign::SUCCEEDED);
  EXPECT_TRUE(std::ranges::any_of(events, [](const auto& event) {
    return event.message().find("nodes/b was not heard of") != std::string::npos;
  }));
}

TEST_F(AgentsServiceTest, ASessionThatDoesNotEndACancelledRunIsClosed) {
  give_out();
  v1::Campaign campaign;
  ASSERT_TRUE(cancel(campaign_, campaign).ok());
  for (int i = 0; i < 20; ++i) {
    a_->heartbeat(order_a_.name(), order_a_.fence());
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  EXPECT_EQ(a_->finish().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(AgentsServiceTest, AGroupThatDoesNotJoinIsAborted) {
  give_out();
  a_->join(order_a_, 0);
  std::thread beats([&] {
    for (int i = 0; i < 12; ++i) {
      a_->heartbeat(order_a_.name(), 1);
      b_->heartbeat(order_b_.name(), 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  });
  const auto at_a = a_->receive(Message::kCancelAssignment);
  const auto at_b = b_->receive(Message::kCancelAssignment);
  beats.join();
  ASSERT_TRUE(at_a && at_b);
  EXPECT_NE(at_a->cancel_assignment().message().find("missing 1 on nodes/b"), std::string::npos)
      << at_a->cancel_assignment().message();
}

TEST_F(AgentsServiceTest, ARunThatFailsTooOftenFailsTheCampaign) {
  give_out();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(order_a_.fence(), static_cast<uint64_t>(attempt));
    b_->update(order_b_, Update::FAILED, "aborted", "rank 1 was killed by signal 11");
    ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
    a_->update(order_a_, Update::CANCELLED);
    if (attempt < 3) receive_orders();
  }
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("rank 1 was killed by signal 11"), std::string::npos)
      << end().message();
}

// Whatever campaign it is for.
TEST_F(AgentsServiceTest, ANodeThatFailsAgainAndAgainIsLeftOut) {
  give_out();
  for (int attempt = 1; attempt <= 3; ++attempt) {
    b_->update(order_b_, Update::FAILED, "aborted", "rank 1 was killed by signal 11");
    ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
    a_->update(order_a_, Update::CANCELLED);
    if (attempt < 3) receive_orders();
  }
  ASSERT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(node("nodes/b").quarantine().find("rank 1 was killed by signal 11"), std::string::npos)
      << node("nodes/b").quarantine();
  EXPECT_EQ(node("nodes/a").quarantine(), "");
  const std::string next = created(small_spec()).name();
  EXPECT_NE(get(next).message().find("1 is there; nodes/b is left out"), std::string::npos)
      << get(next).message();
  AgentClient c(address_, test_hello("c"));
  EXPECT_TRUE(a_->receive(Message::kAssignment));
  EXPECT_TRUE(c.receive(Message::kAssignment));
  // A new agent on the node is given a chance.
  b_->vanish();
  ASSERT_TRUE(eventually([&] { return node_state("nodes/b") == v1::Node::OFFLINE; }));
  b_ = std::make_unique<AgentClient>(address_, test_hello("b", "i2"));
  ASSERT_TRUE(connected({"b"}));
  EXPECT_EQ(node("nodes/b").quarantine(), "");
}

TEST_F(AgentsServiceTest, TheNextAttemptIsNotMadeAtOnce) {
  server_.reset();
  options_.coordinator.retry_pause_s = kTestPatienceS;
  start();
  a_ = std::make_unique<AgentClient>(address_, test_hello("a"));
  b_ = std::make_unique<AgentClient>(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  give_out();
  b_->update(order_b_, Update::FAILED, "aborted", "rank 1 was killed by signal 11");
  ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
  a_->update(order_a_, Update::CANCELLED);
  ASSERT_TRUE(eventually([&] { return node_state("nodes/a") == v1::Node::IDLE; }));
  EXPECT_FALSE(a_->receive(Message::kAssignment, 0.2));
  // Other campaigns do not wait for it.
  EXPECT_EQ(get(created(small_spec()).name()).state(), v1::Campaign::RUNNING);
}

TEST_F(AgentsServiceTest, AnErrorThatWouldComeBackFailsTheCampaignAtOnce) {
  give_out();
  b_->update(order_b_, Update::FAILED, "not_found", "no such profile");
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_EQ(end().message(), "run 1 failed: nodes/b: no such profile");
}

TEST_F(AgentsServiceTest, AnErrorOfOneNodeIsNotThatOfTheCampaign) {
  give_out();
  AgentClient c(address_, test_hello("c"));
  ASSERT_TRUE(connected({"c"}));
  b_->update(order_b_, Update::FAILED, "invalid_argument", "no such address");
  ASSERT_TRUE(a_->receive(Message::kCancelAssignment));
  a_->update(order_a_, Update::CANCELLED);
  const auto at_a = a_->receive(Message::kAssignment);
  const auto at_c = c.receive(Message::kAssignment);
  ASSERT_TRUE(at_a && at_c);
  EXPECT_EQ(at_c->assignment().fence(), 2U);
}

TEST_F(AgentsServiceTest, ARunHasNoMoreBatchesThanPoints) {
  give_out();
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1000, "[]");
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("batch 1000 of a run of 8 points"), std::string::npos)
      << end().message();
}

TEST_F(AgentsServiceTest, AFailureNamesItsNodeOnce) {
  give_out();
  b_->update(order_b_, Update::FAILED, "not_found", "rank 1 on nodes/b: no such profile");
  EXPECT_EQ(end().message(), "run 1 failed: rank 1 on nodes/b: no such profile");
}

TEST_F(AgentsServiceTest, MalformedSamplesAreNotAcknowledged) {
  give_out();
  join_both();
  a_->batch(order_a_.name(), order_a_.fence(), 1, "[{\"values\":");
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("malformed samples from nodes/a"), std::string::npos)
      << end().message();
  EXPECT_TRUE(exported(campaign_).empty());
}

// A number that would be negative in the database must not acknowledge what was never sent.
TEST_F(AgentsServiceTest, BatchNumbersHaveALimit) {
  give_out();
  join_both();
  batch(UINT64_MAX, 1);
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("numbered from 1"), std::string::npos) << end().message();
  EXPECT_TRUE(exported(campaign_).empty());
}

TEST_F(AgentsServiceTest, AnAddressHasALimit) {
  give_out();
  v1::AgentMessage message;
  v1::GroupJoin& join = *message.mutable_group_join();
  join.set_assignment(order_a_.name());
  join.set_fence(order_a_.fence());
  join.set_address(std::string(100'000, 'x'));
  a_->send(message);
  EXPECT_EQ(end().state(), v1::Campaign::FAILED);
  EXPECT_NE(end().message().find("100000 bytes"), std::string::npos) << end().message();
}

TEST_F(AgentsServiceTest, AFailuresMessageIsCutBetweenCharacters) {
  give_out();
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "\xc3\xa9";
  a_->update(order_a_, Update::FAILED, "not_found", "x" + text);
  const std::string message = end().message();
  EXPECT_LT(message.size(), 5000U);
  EXPECT_TRUE(message.ends_with("\xc3\xa9 ...")) << message.substr(message.size() - 10);
}

// What cannot be read from the database must not leave an agent waiting for an acknowledgement.
TEST_F(AgentsServiceTest, ABatchThatMeetsABrokenDatabaseIsSentAgain) {
  give_out();
  join_both();
  Saboteur saboteur(options_.data_dir);
  saboteur.run("ALTER TABLE runs RENAME TO away");
  batch(1, 1);
  EXPECT_EQ(reason_of(a_->finish()), "STORAGE");
  saboteur.run("ALTER TABLE away RENAME TO runs");
}

// Each would queue all addresses again.
TEST_F(AgentsServiceTest, JoiningAgainIsAnsweredOnce) {
  give_out();
  join_both();
  for (int i = 0; i < 500; ++i) a_->join(order_a_, 0);
  batch(1, 1e-6);
  const auto next = a_->receive();
  ASSERT_TRUE(next);
  EXPECT_TRUE(next->has_sample_ack()) << next->ShortDebugString();
}

// It is sent something with each message, and reads none of it.
TEST_F(AgentsServiceTest, AnAgentThatDoesNotReadIsDropped) {
  server_.reset();
  options_.coordinator.lease_s = kTestPatienceS;  // what it is asked to end may wait
  options_.coordinator.heartbeat_interval_s = 1;
  start();
  grpc::ClientContext context;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // keeps its window at 64 KiB
  const auto channel =
      grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  const auto stream = v1::Agents::NewStub(channel)->Session(&context);
  v1::AgentMessage message;
  *message.mutable_hello() = test_hello("x");
  ASSERT_TRUE(stream->Write(message));
  std::atomic<uint64_t> written = 0;
  std::thread writer([&] {
    message.mutable_heartbeat()->set_assignment("campaigns/c9/runs/1");
    while (written < 20'000 && stream->Write(message)) {
      message.mutable_heartbeat()->set_fence(++written);
    }
  });
  // The server takes nothing any more once it has given up; the agent falls silent.
  EXPECT_TRUE(
      eventually([&] { return written > 0 && node_state("nodes/x") == v1::Node::OFFLINE; }));
  v1::ServerMessage ignored;
  while (stream->Read(&ignored)) {
  }
  const grpc::Status status = stream->Finish();
  writer.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_NE(status.error_message().find("does not read"), std::string::npos)
      << status.error_message();
}

// It is read as fast as is allowed, and gets to everything in the end.
TEST_F(AgentsServiceTest, AnAgentThatFloodsIsReadMoreSlowly) {
  give_out();
  join_both();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5600; ++i) a_->heartbeat(order_a_.name(), order_a_.fence());
  batch(1, 1e-6);
  EXPECT_EQ(acknowledged(), 1U);
  EXPECT_GT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST_F(AgentsServiceTest, SoManyNamesOfNodesAreTaken) {
  server_.reset();
  options_.coordinator.max_nodes = 3;
  start();
  a_ = std::make_unique<AgentClient>(address_, test_hello("a"));
  const AgentClient c(address_, test_hello("c"));
  ASSERT_TRUE(connected({"a", "c"}));
  AgentClient d(address_, test_hello("d"));
  EXPECT_EQ(reason_of(d.finish()), "TOO_MANY_NODES");
  b_ = std::make_unique<AgentClient>(address_, test_hello("b"));  // which has been here before
  EXPECT_TRUE(b_->receive(Message::kHelloAck));
}

TEST_F(AgentsServiceTest, AConnectionHasALimitOfCallsAtATime) {
  campaign_ = created(small_spec()).name();
  v1::WatchCampaignRequest request;
  request.set_name(campaign_);
  constexpr size_t kLimit = 256;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReader<v1::CampaignEvent>>> calls;
  const auto call = [&](double patience_s) {
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    contexts.back()->set_deadline(std::chrono::system_clock::now() +
                                  std::chrono::milliseconds(static_cast<int>(1000 * patience_s)));
    calls.push_back(campaigns_->WatchCampaign(contexts.back().get(), request));
    v1::CampaignEvent event;
    return calls.back()->Read(&event);
  };
  for (size_t i = 0; i < kLimit; ++i) ASSERT_TRUE(call(kTestPatienceS * 3)) << i;
  EXPECT_FALSE(call(0.3));  // it waits for another to end
  for (const auto& context : contexts) context->TryCancel();
}

TEST_F(AgentsServiceTest, ARunWithoutSamplesIsNotFinished) {
  give_out();
  join_both();
  finish_both();
  receive_orders();
  EXPECT_EQ(order_a_.fence(), 2U);
}

TEST_F(AgentsServiceTest, ANodesNameBelongsToOneAgent) {
  AgentClient other(address_, test_hello("a", "i2"));
  const grpc::Status status = other.finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ALREADY_EXISTS);
  EXPECT_EQ(reason_of(status), "NODE_IN_USE");
  EXPECT_NE(status.error_message().find("another agent of host 'a' is connected as nodes/a"),
            std::string::npos)
      << status.error_message();
  // The same agent may replace its own session.
  AgentClient again(address_, test_hello("a", "i1"));
  EXPECT_TRUE(again.receive(Message::kHelloAck));
  EXPECT_EQ(reason_of(a_->finish()), "SESSION_REPLACED");
}

TEST_F(AgentsServiceTest, HelloIsChecked) {
  v1::Hello future = test_hello("c");
  future.set_protocol_min(2);
  future.set_protocol_max(3);
  AgentClient newer(address_, future);
  const grpc::Status version = newer.finish();
  EXPECT_EQ(version.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_EQ(reason_of(version), "PROTOCOL_VERSION");

  AgentClient misnamed(address_, test_hello("Not a name"));
  EXPECT_EQ(reason_of(misnamed.finish()), "INVALID_FIELD");

  v1::Hello broken = test_hello("c");
  broken.add_experiments_json("{\"name\":");
  AgentClient confused(address_, broken);
  EXPECT_EQ(reason_of(confused.finish()), "INVALID_FIELD");

  v1::Hello verbose = test_hello("c");
  (*verbose.mutable_fingerprint())["cpu.model"] = std::string(5000, 'x');
  AgentClient talker(address_, verbose);
  EXPECT_EQ(reason_of(talker.finish()), "INVALID_FIELD");

  v1::Hello long_winded = test_hello("c");
  for (int i = 0; i < 1500; ++i) {
    (*long_winded.mutable_fingerprint())["field" + std::to_string(i)] = std::string(4000, 'x');
  }
  AgentClient novelist(address_, long_winded);
  const grpc::Status too_long = novelist.finish();
  EXPECT_EQ(reason_of(too_long), "INVALID_FIELD");
  EXPECT_NE(too_long.error_message().find("more than 4194304"), std::string::npos)
      << too_long.error_message();

  v1::Hello endless = test_hello("c");
  experiment::Experiment huge = test_experiments().front();
  for (const char* name : {"p", "q", "r", "s", "t"}) {
    huge.factors.push_back(powers(name, "1", 1, int64_t{1} << 40));
  }
  endless.set_experiments_json(0, experiment::to_json(huge).dump());
  AgentClient explosive(address_, endless);
  const grpc::Status too_many = explosive.finish();
  EXPECT_EQ(reason_of(too_many), "INVALID_FIELD");
  EXPECT_NE(too_many.error_message().find("100000"), std::string::npos);

  v1::Hello tolerated = test_hello("c");
  Json declaration = Json::parse(tolerated.experiments_json(0));
  declaration["from_the_future"] = true;
  tolerated.set_experiments_json(0, declaration.dump());
  tolerated.set_protocol_max(2);
  AgentClient modern(address_, tolerated);
  const auto ack = modern.receive(Message::kHelloAck);
  ASSERT_TRUE(ack);
  EXPECT_EQ(ack->hello_ack().protocol(), 1);
  // A few agents may all come back at once.
  EXPECT_GT(ack->hello_ack().reconnect_spread_s(), 0);
  EXPECT_LT(ack->hello_ack().reconnect_spread_s(), 0.1);
}

TEST_F(AgentsServiceTest, SilentSessionsAreClosed) {
  const grpc::Status status = a_->finish();
  EXPECT_EQ(reason_of(status), "SESSION_TIMEOUT");
  EXPECT_EQ(node_state("nodes/a"), v1::Node::OFFLINE);
}

TEST_F(AgentsServiceTest, StreamsThatNeverSayHelloAreClosed) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::milliseconds>(
                           std::chrono::duration<double>(kTestPatienceS)));
  const auto stream = v1::Agents::NewStub(channel_)->Session(&context);
  v1::ServerMessage none;
  EXPECT_FALSE(stream->Read(&none));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(reason_of(status), "SESSION_TIMEOUT");
  EXPECT_NE(status.error_message().find("no Hello"), std::string::npos) << status.error_message();
}

TEST_F(AgentsServiceTest, ALargeEnrolmentIsRefused) {
  const auto agents = v1::Agents::NewStub(channel_);
  v1::EnrollRequest request;
  request.set_token(std::string(size_t{65} << 10, 'a'));
  v1::EnrollResponse response;
  grpc::ClientContext context;
  const grpc::Status status = agents->Enroll(&context, request, &response);
  EXPECT_EQ(reason_of(status), "INVALID_FIELD");
  EXPECT_NE(status.error_message().find("65536 bytes"), std::string::npos)
      << status.error_message();
}

// Whoever shares the address may enrol soon after.
TEST_F(AgentsServiceTest, EnrolmentsThatAreRefusedLeaveNoDebt) {
  const auto agents = v1::Agents::NewStub(channel_);
  const auto refusal = [&] {
    v1::EnrollRequest request;
    v1::EnrollResponse response;
    grpc::ClientContext context;
    return agents->Enroll(&context, request, &response);
  };
  grpc::Status status;
  for (int i = 0; i < 50'000 && reason_of(status) != "TOO_MANY_CALLS"; ++i) status = refusal();
  ASSERT_EQ(reason_of(status), "TOO_MANY_CALLS");
  // At two milliseconds each the debt would be of ten seconds, which take twice as long.
  for (int i = 0; i < 5000; ++i) status = refusal();
  if (reason_of(status) == "TOO_MANY_CALLS") {
    EXPECT_LE(std::stoi(rpc_error_from(status).metadata.at("retry_after_s")), 2);
  }
}

}  // namespace
}  // namespace stripline::server
