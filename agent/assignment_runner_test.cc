#include "agent/assignment_runner.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <signal.h>

#include <gtest/gtest.h>

#include "optimizer/experiment/json.h"

namespace stripline::agent {
namespace {

using State = AssignmentUpdate::State;

Assignment make_assignment(std::vector<uint32_t> ranks, uint32_t all = 2) {
  experiment::Assignment work;
  work.name = "campaigns/c1/runs/1";
  work.fence = 3;
  work.fabric = "tcp";
  work.ranks = all;
  work.seed = 7;
  work.deadline_s = 60;
  work.points = {{"micro.latency", "get", {{"bytes", int64_t{8}}}}};
  return {{work.name, work.fence},
          10,
          std::make_shared<const std::string>(experiment::to_json(work).dump()),
          std::move(ranks),
          {"a", "b"},
          5 /*join*/,
          "job-1"};
}

ExitStatus killed(int signal) { return {.exit_code = 0, .signal = signal}; }
constexpr ExitStatus kClean{};

Json series(int bytes) { return {{"point", bytes}, {"extension", "kept"}}; }

// The variables of the first worker that is started.
std::map<std::string, std::string> environment_of(const Assignment& assignment,
                                                  const std::string& address) {
  AssignmentRunner runner(assignment, "a", address);
  runner.start(0);
  for (const Action& action : runner.take_actions()) {
    if (const auto* start = std::get_if<StartWorker>(&action)) return start->environment;
  }
  return {};
}

// Ranks on several nodes would listen on 127.0.0.1 without an address.
TEST(AssignmentRunner, RanksOnSeveralNodesUseTheAddressTowardsTheServer) {
  const auto address = [](const Assignment& assignment, const std::string& own) {
    const auto environment = environment_of(assignment, own);
    const auto found = environment.find("STRIPLINE_ADDRESS");
    return found == environment.end() ? "" : found->second;
  };
  Assignment assignment = make_assignment({0});
  EXPECT_EQ(address(assignment, "192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address(assignment, ""), "");
  EXPECT_EQ(address(assignment, "127.0.0.1"), "");
  EXPECT_EQ(address(assignment, "::1"), "");
  assignment.rank_nodes = {"a", "a"};
  EXPECT_EQ(address(assignment, "192.0.2.1"), "");
  assignment.rank_nodes = {"a", "b"};
  Json work = Json::parse(*assignment.assignment_json);
  work["fabric"] = "emulated:modern-rdma";
  assignment.assignment_json = std::make_shared<const std::string>(work.dump());
  EXPECT_EQ(address(assignment, "192.0.2.1"), "");
}

// Its worker says what it is doing, and has time to end the processes of the target.
TEST(AssignmentRunner, ARunThatTunesIsHeardOfAndEndsInOrder) {
  Assignment assignment = make_assignment({0}, 1);
  Json work = Json::parse(*assignment.assignment_json);
  work["fabric"] = "tune:openmpi";
  assignment.assignment_json = std::make_shared<const std::string>(work.dump());
  AssignmentRunner runner(assignment, "a");
  runner.start(0);
  EXPECT_TRUE(runner.tunes());
  runner.on_worker_message(0, 0, {{"type", "join"}, {"address", "none"}});
  runner.on_group_ready(1, {"none"});
  (void)runner.take_actions();
  runner.on_worker_message(2, 0, {{"type", "note"}, {"message", "screening knobs"}});
  const auto actions = runner.take_actions();
  ASSERT_EQ(actions.size(), 1U);
  const auto& said = std::get<AssignmentUpdate>(std::get<TellServer>(actions[0]).message);
  EXPECT_EQ(said.state, State::running);
  EXPECT_EQ(said.message, "screening knobs");
  runner.on_cancel(10, "by a user");
  EXPECT_GT(runner.next_event_s(), 12);
}

// Collects what the runner asks for.
class RunnerTest : public ::testing::Test {
 protected:
  void samples(double now_s, const std::vector<Json>& series) {
    runner_->on_worker_line(now_s, 0, Json{{"type", "samples"}, {"series", series}}.dump());
  }

  void make(std::vector<uint32_t> ranks, uint32_t all = 2) {
    runner_.emplace(make_assignment(std::move(ranks), all), "a");
    runner_->start(0);
    actions_ = runner_->take_actions();
  }

  void bring_to_work(const std::vector<uint32_t>& ranks, uint32_t all = 2) {
    make(ranks, all);
    for (const uint32_t rank : ranks) {
      runner_->on_worker_message(0, rank,
                                 {{"type", "join"}, {"address", "x" + std::to_string(rank)}});
    }
    runner_->on_group_ready(1, std::vector<std::string>(all, "y"));
    take();
  }

  // The actions since the last take.
  void take() { actions_ = runner_->take_actions(); }

  template <typename T>
  std::vector<T> of_kind() const {
    std::vector<T> found;
    for (const Action& action : actions_) {
      if constexpr (std::is_constructible_v<Action, T>) {
        if (const auto* match = std::get_if<T>(&action)) found.push_back(*match);
      } else if (const auto* tell = std::get_if<TellServer>(&action)) {
        if (const auto* match = std::get_if<T>(&tell->message)) found.push_back(*match);
      }
    }
    return found;
  }

  std::vector<std::string> sent_to(uint32_t rank) const {
    std::vector<std::string> types;
    for (const TellWorker& tell : of_kind<TellWorker>()) {
      if (tell.rank == rank) types.push_back(tell.message["type"].get<std::string>());
    }
    return types;
  }

  std::optional<AssignmentRunner> runner_;
  std::vector<Action> actions_;
};

// Looks at rank 0, which has begun its first point, when looks are due, until the run ends or the
// time has come.
double look_until(AssignmentRunner& runner, double from_s, double to_s, bool stopped = false) {
  double now_s = from_s;
  for (; now_s < to_s && runner.phase() == AssignmentRunner::Phase::working; now_s += 1) {
    runner.on_time(now_s);
    if (runner.wants_look()) runner.on_look(now_s, {{0, 1, stopped}});
  }
  return now_s;
}

TEST_F(RunnerTest, APointThatDoesNotEndIsReportedThenGivenUpAndNamed) {
  bring_to_work({0});
  const double end_s = look_until(*runner_, 1, 60);
  EXPECT_GE(end_s, 30);
  EXPECT_LE(end_s, 45);
  runner_->on_time(end_s + 1);  // kills it
  runner_->on_worker_exit(end_s, 0, killed(SIGKILL));
  take();
  const auto updates = of_kind<AssignmentUpdate>();
  ASSERT_GE(updates.size(), 2U);
  EXPECT_EQ(updates.front().state, State::running);
  EXPECT_NE(updates.front().message.find("micro.latency/get?bytes=8 has taken"), std::string::npos)
      << updates.front().message;
  EXPECT_EQ(updates.back().state, State::failed);
  EXPECT_EQ(updates.back().code, "deadline_exceeded");
  EXPECT_EQ(updates.back().experiment, "micro.latency");
  EXPECT_NE(updates.back().message.find("micro.latency/get?bytes=8"), std::string::npos)
      << updates.back().message;
}

TEST_F(RunnerTest, ARankThatIsStoppedEndsTheRunAndIsNamed) {
  bring_to_work({0});
  const double end_s = look_until(*runner_, 1, 60, true);
  EXPECT_LE(end_s, 25);
  runner_->on_time(end_s + 1);
  runner_->on_worker_exit(end_s, 0, killed(SIGKILL));
  EXPECT_EQ(runner_->outcome().state, State::failed);
  EXPECT_NE(runner_->outcome().message.find("rank 0 on nodes/a"), std::string::npos);
  EXPECT_NE(runner_->outcome().message.find("SIGSTOP"), std::string::npos);
  EXPECT_EQ(runner_->outcome().experiment, "");  // it is not the experiment's fault
}

TEST_F(RunnerTest, ARankThatDiesNamesThePointThatItMeasured) {
  bring_to_work({0});
  runner_->on_begun(0, 1);
  runner_->on_worker_exit(2, 0, killed(SIGSEGV));
  EXPECT_EQ(runner_->outcome().experiment, "micro.latency");
  EXPECT_NE(runner_->outcome().message.find("while it measured micro.latency/get?bytes=8"),
            std::string::npos)
      << runner_->outcome().message;
}

TEST_F(RunnerTest, ARankThatFailsByItselfNamesThePointAndOneThatLostAPeerDoesNot) {
  for (const bool itself : {true, false}) {
    bring_to_work({0});
    runner_->on_begun(0, 1);
    runner_->on_worker_message(2, 0,
                               {{"type", "failed"},
                                {"code", itself ? "resource_exhausted" : "unavailable"},
                                {"message", "no more"}});
    runner_->on_worker_exit(2.1, 0, {.exit_code = 4, .signal = 0});
    EXPECT_EQ(runner_->outcome().experiment, itself ? "micro.latency" : "");
  }
}

TEST_F(RunnerTest, StartsItsRanksWithTheirEnvironment) {
  make({1, 3}, 4);
  const auto starts = of_kind<StartWorker>();
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[1].rank, 3U);
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_RANK"), "3");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_RANKS"), "4");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_FABRIC"), "tcp");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_CLOCK"), "real");
  // What is measured is the network, also between ranks of one node.
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_SAME_NODE"), "network");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_JOB_ID"), "job-1");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_CONTROL_FD"), "3");
  EXPECT_EQ(starts[1].environment.at("STRIPLINE_SEED"), "7");
  ASSERT_EQ(of_kind<AssignmentUpdate>().size(), 1U);
  EXPECT_EQ(of_kind<AssignmentUpdate>()[0].state, State::running);
}

TEST_F(RunnerTest, RelaysJoinsAndStartsWorkWhenTheGroupIsReady) {
  make({0}, 2);
  runner_->on_worker_message(0.1, 0, {{"type", "join"}, {"address", "0a0b"}});
  take();
  ASSERT_EQ(of_kind<GroupJoin>().size(), 1U);
  EXPECT_EQ(of_kind<GroupJoin>()[0].address, "0a0b");
  EXPECT_EQ(of_kind<GroupJoin>()[0].assignment.fence, 3U);
  runner_->on_group_ready(0.2, {"0a0b", "0c"});
  take();
  EXPECT_EQ(sent_to(0), (std::vector<std::string>{"ready", "work"}));
  EXPECT_EQ(of_kind<TellWorker>()[0].message["addresses"][1], "0c");
  EXPECT_EQ(of_kind<TellWorker>()[1].message["assignment"]["fabric"], "tcp");
  runner_->on_group_ready(0.3, {"0a0b", "0c"});  // repeated after a reconnect
  take();
  EXPECT_TRUE(actions_.empty());
}

TEST_F(RunnerTest, FinishesOnlyWhenAllLeftAndEveryBatchIsAcknowledged) {
  bring_to_work({0, 1});
  samples(2, {series(1)});
  runner_->on_worker_message(2, 0, {{"type", "progress"}, {"done", 1}, {"total", 2}});
  runner_->flush();
  samples(3, {series(2), series(3)});
  runner_->flush();
  take();
  const auto batches = of_kind<SampleBatch>();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].seq, 1U);
  EXPECT_EQ(batches[0].points_done, 1U);
  EXPECT_EQ(batches[0].points_total, 2U);
  const auto second = Json::parse(*batches[1].data);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[1]["extension"], "kept");

  for (const uint32_t rank : {0U, 1U}) {
    runner_->on_worker_message(4, rank, {{"type", "left"}});
    runner_->on_worker_exit(4, rank, kClean);
  }
  runner_->on_ack(1);
  take();
  EXPECT_TRUE(of_kind<AssignmentUpdate>().empty());
  EXPECT_EQ(runner_->phase(), AssignmentRunner::Phase::draining);
  runner_->on_ack(2);
  take();
  ASSERT_EQ(of_kind<AssignmentUpdate>().size(), 1U);
  EXPECT_EQ(of_kind<AssignmentUpdate>()[0].state, State::finished);
  EXPECT_TRUE(runner_->done());
}

TEST_F(RunnerTest, TheLastProgressArrivesEvenWithoutSamples) {
  bring_to_work({0}, 2);
  samples(2, {series(1)});
  runner_->flush();
  runner_->on_worker_message(2, 0, {{"type", "progress"}, {"done", 1}, {"total", 1}});
  runner_->flush();
  runner_->on_worker_message(2, 0, {{"type", "left"}});
  runner_->on_worker_exit(2, 0, kClean);
  take();
  const auto batches = of_kind<SampleBatch>();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].points_done, 0U);
  EXPECT_EQ(batches[1].points_done, 1U);
  EXPECT_EQ(*batches[1].data, "[]");
}

TEST_F(RunnerTest, ANodeWithoutRankZeroFinishesByItself) {
  bring_to_work({1});
  runner_->on_worker_message(2, 1, {{"type", "left"}});
  EXPECT_FALSE(runner_->done());
  runner_->on_worker_exit(2, 1, kClean);
  EXPECT_TRUE(runner_->done());
  EXPECT_EQ(runner_->outcome().state, State::finished);
}

TEST_F(RunnerTest, RepeatsJoinsAndUnacknowledgedBatchesAfterAReconnect) {
  make({0}, 2);
  runner_->on_worker_message(0, 0, {{"type", "join"}, {"address", "aa"}});
  take();
  runner_->on_reconnected();
  take();
  EXPECT_EQ(of_kind<GroupJoin>().size(), 1U);

  runner_->on_group_ready(1, {"aa", "bb"});
  for (int i = 0; i < 3; ++i) {
    samples(2, {series(i)});
    runner_->flush();
  }
  runner_->on_ack(1);
  take();
  runner_->on_reconnected();
  take();
  EXPECT_TRUE(of_kind<GroupJoin>().empty());
  const auto batches = of_kind<SampleBatch>();
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].seq, 2U);
  EXPECT_EQ(batches[1].seq, 3U);
}

TEST_F(RunnerTest, LargeBatchesAreSplit) {
  bring_to_work({0}, 2);
  const std::string big(300'000, 'x');
  samples(2, {big, big, big});
  runner_->flush();
  take();
  EXPECT_EQ(of_kind<SampleBatch>().size(), 3U);
}

TEST_F(RunnerTest, ASeriesThatCannotBeSentFailsTheRun) {
  runner_.emplace(make_assignment({0}), "a", "", 1000);
  runner_->start(0);
  runner_->on_group_ready(1, {"x", "y"});
  samples(2, {std::string(1000, 'x')});
  runner_->flush();
  runner_->on_worker_exit(3, 0, kClean);
  take();
  EXPECT_TRUE(of_kind<SampleBatch>().empty());
  ASSERT_TRUE(runner_->done());
  EXPECT_EQ(runner_->outcome().state, AssignmentUpdate::State::failed);
  EXPECT_NE(runner_->outcome().message.find("1002 bytes"), std::string::npos)
      << runner_->outcome().message;
}

TEST_F(RunnerTest, DeathNamesRankNodeAndSignalAndEndsTheOthers) {
  bring_to_work({0, 1});
  runner_->on_worker_exit(2, 1, killed(SIGKILL));
  take();
  EXPECT_EQ(sent_to(0), std::vector<std::string>{"abort"});
  ASSERT_TRUE(runner_->next_event_s());
  EXPECT_LE(*runner_->next_event_s(), 2.5);
  runner_->on_time(*runner_->next_event_s());
  take();
  ASSERT_EQ(of_kind<KillWorker>().size(), 1U);
  EXPECT_EQ(of_kind<KillWorker>()[0].rank, 0U);
  runner_->on_worker_exit(2.3, 0, killed(SIGKILL));  // by us: not the cause
  EXPECT_EQ(runner_->outcome().state, State::failed);
  EXPECT_EQ(runner_->outcome().code, "aborted");
  EXPECT_EQ(runner_->outcome().message, "rank 1 on nodes/a was killed by signal 9 (SIGKILL)");
}

TEST_F(RunnerTest, TheDeathOfAPeerOutweighsTheComplaintAboutIt) {
  bring_to_work({0, 1});
  runner_->on_worker_message(
      2, 0, {{"type", "failed"}, {"code", "unavailable"}, {"message", "lost rank 1"}});
  runner_->on_worker_exit(2.01, 0, {.exit_code = 4});
  runner_->on_worker_exit(2.02, 1, killed(SIGSEGV));
  ASSERT_TRUE(runner_->done());
  EXPECT_NE(runner_->outcome().message.find("rank 1 on nodes/a was killed by signal 11"),
            std::string::npos);
}

TEST_F(RunnerTest, AFailureKeepsItsCodeAndMessage) {
  bring_to_work({0, 1});
  runner_->on_worker_message(
      2, 1, {{"type", "failed"}, {"code", "resource_exhausted"}, {"message", "no memory"}});
  runner_->on_worker_exit(2, 1, {.exit_code = 4});
  runner_->on_worker_exit(2.1, 0, {.exit_code = 5});
  ASSERT_TRUE(runner_->done());
  EXPECT_EQ(runner_->outcome().code, "resource_exhausted");
  EXPECT_EQ(runner_->outcome().message, "rank 1 on nodes/a: no memory");
}

TEST_F(RunnerTest, AFailureNamesItsRankOnce) {
  bring_to_work({0}, 2);
  runner_->on_worker_message(
      2, 0,
      {{"type", "failed"}, {"code", "not_found"}, {"message", "rank 0 on host: no profile: x"}});
  runner_->on_worker_exit(3, 0, {.exit_code = 2, .signal = 0});
  ASSERT_TRUE(runner_->done());
  EXPECT_EQ(runner_->outcome().message, "rank 0 on nodes/a: no profile: x");
}

TEST_F(RunnerTest, LeavingBeforeTheGroupIsCompleteIsAFailure) {
  make({0});
  runner_->on_worker_message(0, 0, {{"type", "left"}});
  runner_->on_worker_exit(0, 0, kClean);
  ASSERT_TRUE(runner_->done());
  EXPECT_EQ(runner_->outcome().state, State::failed);
}

TEST_F(RunnerTest, CancelIsObeyedWithinItsGrace) {
  bring_to_work({0, 1});
  runner_->on_cancel(2, "by a user");
  take();
  EXPECT_EQ(sent_to(0), std::vector<std::string>{"cancel"});
  runner_->on_worker_message(2.1, 0, {{"type", "left"}});
  runner_->on_worker_exit(2.1, 0, kClean);
  ASSERT_TRUE(runner_->next_event_s());
  EXPECT_LE(*runner_->next_event_s(), 3);
  runner_->on_time(*runner_->next_event_s());
  take();
  ASSERT_EQ(of_kind<KillWorker>().size(), 1U);
  EXPECT_EQ(of_kind<KillWorker>()[0].rank, 1U);
  runner_->on_worker_exit(2.8, 1, killed(SIGKILL));
  EXPECT_EQ(runner_->outcome().state, State::cancelled);
}

TEST_F(RunnerTest, CancelWhileJoiningAborts) {
  make({0});
  runner_->on_cancel(1, "a member failed");
  take();
  EXPECT_EQ(sent_to(0), std::vector<std::string>{"abort"});
  runner_->on_worker_exit(1.1, 0, {.exit_code = 7});
  EXPECT_EQ(runner_->outcome().state, State::cancelled);
}

TEST_F(RunnerTest, CancelWhileSamplesWaitForTheServerEndsAtOnce) {
  bring_to_work({0}, 2);
  samples(2, {series(1)});
  runner_->flush();
  runner_->on_worker_message(2, 0, {{"type", "left"}});
  runner_->on_worker_exit(2, 0, kClean);
  EXPECT_FALSE(runner_->done());
  runner_->on_cancel(3, "old fence");
  EXPECT_EQ(runner_->outcome().state, State::cancelled);
}

TEST_F(RunnerTest, AStoppedAgentReportsAFailureOfItsNode) {
  bring_to_work({0}, 2);
  runner_->on_agent_stop(2, "the agent was stopped");
  runner_->on_worker_exit(2.1, 0, killed(SIGKILL));
  EXPECT_EQ(runner_->outcome().state, State::failed);
  EXPECT_EQ(runner_->outcome().code, "unavailable");
}

TEST_F(RunnerTest, AnIncompleteGroupEndsInTime) {
  make({0, 1}, 4);
  runner_->on_worker_message(0, 0, {{"type", "join"}, {"address", "aa"}});
  take();
  ASSERT_TRUE(runner_->next_event_s());
  EXPECT_DOUBLE_EQ(*runner_->next_event_s(), 8);  // the server's 5 s and a margin
  runner_->on_time(8);
  runner_->on_worker_exit(8.1, 0, {.exit_code = 5});
  runner_->on_worker_exit(8.1, 1, {.exit_code = 5});
  EXPECT_EQ(runner_->outcome().code, "deadline_exceeded");
  EXPECT_NE(runner_->outcome().message.find("had not joined: rank 1"), std::string::npos);
}

TEST_F(RunnerTest, ARunThatTakesTooLongEnds) {
  bring_to_work({0}, 2);
  EXPECT_LE(*runner_->next_event_s(), 1 + 60 + 5);
  runner_->on_time(65.9);
  EXPECT_EQ(runner_->phase(), AssignmentRunner::Phase::working);
  runner_->on_time(66);
  runner_->on_worker_exit(66.1, 0, {.exit_code = 5});
  EXPECT_EQ(runner_->outcome().code, "deadline_exceeded");
}

TEST_F(RunnerTest, ARankThatLeftButStaysIsKilledAndHasFinished) {
  bring_to_work({1});
  runner_->on_worker_message(2, 1, {{"type", "left"}});
  EXPECT_LE(*runner_->next_event_s(), 7);
  runner_->on_time(7);
  take();
  ASSERT_EQ(of_kind<KillWorker>().size(), 1U);
  runner_->on_worker_exit(7, 1, killed(SIGKILL));
  EXPECT_EQ(runner_->outcome().state, State::finished);
}

TEST_F(RunnerTest, BadAssignmentsFailAtOnce) {
  Assignment garbage = make_assignment({0});
  garbage.assignment_json = std::make_shared<const std::string>("{");
  AssignmentRunner runner(garbage, "a");
  runner.start(0);
  EXPECT_EQ(runner.outcome().state, State::failed);
}

TEST_F(RunnerTest, ManyWorkersAreStartedAFewAtATimeAndNoneAfterAFailure) {
  std::vector<uint32_t> ranks(100);
  std::iota(ranks.begin(), ranks.end(), 0U);
  AssignmentRunner runner(make_assignment(ranks, 100), "a");
  runner.start(0);
  std::vector<uint32_t> started;
  const auto take = [&] {
    for (const Action& action : runner.take_actions()) {
      if (const auto* start = std::get_if<StartWorker>(&action)) started.push_back(start->rank);
    }
  };
  take();
  EXPECT_GT(started.size(), 0U);
  EXPECT_LE(started.size(), 8U);
  EXPECT_EQ(runner.next_event_s(), 0.0);  // it goes on at once
  for (int turn = 0; turn < 100; ++turn) {
    runner.on_time(0.1);
    take();
  }
  // No further ones until some have joined.
  ASSERT_EQ(started.size(), 16U);
  EXPECT_GT(*runner.next_event_s(), 0.1);
  runner.on_worker_message(0.2, started[0], {{"type", "join"}, {"address", "a"}});
  runner.on_time(0.2);
  take();
  EXPECT_EQ(started.size(), 17U);
  // One dies: the others are ended, and the rest is never started.
  runner.on_worker_exit(0.3, 1, killed(SIGKILL));
  for (int turn = 0; turn < 100; ++turn) runner.on_time(5);
  take();
  EXPECT_EQ(started.size(), 17U);
  for (const uint32_t rank : started) runner.on_worker_exit(6, rank, killed(SIGKILL));
  EXPECT_TRUE(runner.done());
  EXPECT_EQ(runner.outcome().state, AssignmentUpdate::State::failed);
  EXPECT_NE(runner.outcome().message.find("rank 1 on nodes/a"), std::string::npos)
      << runner.outcome().message;
}

TEST_F(RunnerTest, ARefusedOrderStartsNothing) {
  AssignmentRunner runner(make_assignment({0, 1}), "a");
  runner.refuse(Error(ErrorCode::resource_exhausted, "no room"));
  ASSERT_TRUE(runner.done());
  EXPECT_EQ(runner.outcome().code, "resource_exhausted");
  EXPECT_EQ(runner.outcome().message, "no room");
  for (const Action& action : runner.take_actions()) {
    EXPECT_FALSE(std::holds_alternative<StartWorker>(action));
  }
}

// Nothing is parsed or sent while a point is timed: the worker waits for that between two.
TEST_F(RunnerTest, ARealTimeWorkerWaitsUntilItsSamplesAreSent) {
  bring_to_work({0, 1});
  samples(2, {series(8)});
  take();
  EXPECT_TRUE(sent_to(0).empty());
  runner_->flush();
  take();
  EXPECT_EQ(of_kind<SampleBatch>().size(), 1U);
  EXPECT_EQ(sent_to(0), std::vector<std::string>{"taken"});
  EXPECT_TRUE(std::holds_alternative<TellWorker>(actions_.back()));
  runner_->flush();
  take();
  EXPECT_TRUE(sent_to(0).empty());
}

// The network is known to ranks that have opened it, and to none before.
TEST_F(RunnerTest, TellsWhatRanksKnowOfTheFabric) {
  bring_to_work({0, 1});
  const Json facts = {{"type", "facts"}, {"facts", {{"fabric.provider", "tcp"}, {"odd", 1}}}};
  runner_->on_worker_message(2, 1, facts);
  runner_->on_worker_message(2, 0, facts);
  take();
  auto updates = of_kind<AssignmentUpdate>();
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0].state, State::running);
  EXPECT_EQ(updates[0].facts, (std::map<std::string, std::string>{{"fabric.provider", "tcp"}}));
  runner_->on_reconnected();
  take();
  updates = of_kind<AssignmentUpdate>();
  ASSERT_EQ(updates.size(), 1U);
  EXPECT_EQ(updates[0].facts.size(), 1U);
}

// Such settings would change what is measured, and no one would know.
TEST_F(RunnerTest, SettingsOfTheAgentsEnvironmentDoNotReachFigures) {
  make({0});
  const auto starts = of_kind<StartWorker>();
  ASSERT_EQ(starts.size(), 1U);
  for (const char* name : {"STRIPLINE_MODEL", "STRIPLINE_TUNING", "STRIPLINE_PROGRESS"}) {
    EXPECT_EQ(starts[0].environment.at(name), "") << name;
  }
}

TEST_F(RunnerTest, AWorkerThatCannotStartFailsTheAssignment) {
  make({0, 1});
  runner_->on_start_failed(0, 0, Error(ErrorCode::not_found, "no such program"));
  runner_->on_worker_exit(0.1, 1, {.exit_code = 5});
  EXPECT_EQ(runner_->outcome().state, State::failed);
  EXPECT_EQ(runner_->outcome().code, "not_found");
  EXPECT_NE(runner_->outcome().message.find("rank 0 on nodes/a could not start"),
            std::string::npos);
}

}  // namespace
}  // namespace stripline::agent
