// The agent against a server that speaks real gRPC, with scripted workers.
#include "agent/agent.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <mutex>
#include <signal.h>
#include <thread>
#include <unistd.h>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "agent/testing/held_tune.h"
#include "base/clock.h"
#include "base/exit_codes.h"
#include "base/report_socket.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "stripline/v1/agents.grpc.pb.h"
#include "stripline/v1/common.pb.h"

namespace stripline::agent {
namespace {

constexpr double kPatience_s = 20;
const char* const kAssignment = "campaigns/c1/runs/1";

class FakeServer final : public v1::Agents::Service {
 public:
  explicit FakeServer(int port = 0) {
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                             &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }

  ~FakeServer() override {
    drop();
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
    server_->Wait();
  }

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  grpc::Status Session(
      grpc::ServerContext* context,
      grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>* stream) override {
    v1::AgentMessage message;
    while (stream->Read(&message)) {
      std::unique_lock lock(mutex_);
      received_.push_back(message);
      changed_.notify_all();
      if (message.has_hello()) {
        if (refusal_) return *refusal_;
        context_ = context;
        stream_ = stream;
        v1::ServerMessage ack;
        ack.mutable_hello_ack()->set_protocol(1);
        ack.mutable_hello_ack()->set_heartbeat_interval_s(heartbeat_s_);
        stream->Write(ack);
      } else if (message.has_sample_batch() && acknowledge_) {
        v1::ServerMessage ack;
        ack.mutable_sample_ack()->set_assignment(message.sample_batch().assignment());
        ack.mutable_sample_ack()->set_fence(message.sample_batch().fence());
        ack.mutable_sample_ack()->set_seq(message.sample_batch().seq());
        stream->Write(ack);
      }
    }
    const std::lock_guard lock(mutex_);
    if (stream_ == stream) {
      stream_ = nullptr;
      context_ = nullptr;
    }
    changed_.notify_all();
    return grpc::Status::OK;
  }

  void send(const v1::ServerMessage& message) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::duration<double>(kPatience_s),
                                  [this] { return stream_ != nullptr; }));
    stream_->Write(message);
  }

  // Breaks the session; its end has been seen when it returns.
  void drop() {
    std::unique_lock lock(mutex_);
    if (context_ != nullptr) context_->TryCancel();
    changed_.wait_for(lock, std::chrono::duration<double>(kPatience_s),
                      [this] { return stream_ == nullptr; });
  }

  // The first message from `after` on that fits, or an empty one.
  v1::AgentMessage wait_for(const std::function<bool(const v1::AgentMessage&)>& fits,
                            size_t after = 0) {
    std::unique_lock lock(mutex_);
    v1::AgentMessage found;
    changed_.wait_for(lock, std::chrono::duration<double>(kPatience_s), [&] {
      for (size_t i = after; i < received_.size(); ++i) {
        if (!fits(received_[i])) continue;
        found = received_[i];
        return true;
      }
      return false;
    });
    return found;
  }

  v1::AssignmentUpdate wait_for_end(size_t after = 0) {
    return wait_for(
               [](const v1::AgentMessage& message) {
                 return message.has_assignment_update() &&
                        message.assignment_update().state() != v1::AssignmentUpdate::RUNNING;
               },
               after)
        .assignment_update();
  }

  v1::Hello wait_for_hello(size_t after = 0) {
    return wait_for([](const v1::AgentMessage& message) { return message.has_hello(); }, after)
        .hello();
  }

  size_t count() {
    const std::lock_guard lock(mutex_);
    return received_.size();
  }
  std::vector<v1::AgentMessage> received() {
    const std::lock_guard lock(mutex_);
    return received_;
  }

  void acknowledge(bool on) {
    const std::lock_guard lock(mutex_);
    acknowledge_ = on;
  }
  void refuse(const grpc::Status& status) { refusal_ = status; }
  void heartbeat_every(double seconds) { heartbeat_s_ = seconds; }

 private:
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable changed_;
  grpc::ServerContext* context_ = nullptr;
  grpc::ServerReaderWriter<v1::ServerMessage, v1::AgentMessage>* stream_ = nullptr;
  std::vector<v1::AgentMessage> received_;
  bool acknowledge_ = true;
  double heartbeat_s_ = 5;
  std::optional<grpc::Status> refusal_;
};

v1::ServerMessage assignment(const std::string& behaviour, const std::vector<uint32_t>& ranks,
                             uint32_t all = 2, uint64_t fence = 1) {
  experiment::Assignment work;
  work.name = kAssignment;
  work.fence = fence;
  work.fabric = behaviour;
  work.clock = "virtual";
  work.ranks = all;
  for (int64_t bytes = 1; bytes <= 4; ++bytes) {
    work.points.push_back({"micro.latency", "get", {{"bytes", bytes}}});
  }
  v1::ServerMessage message;
  v1::Assignment& wire = *message.mutable_assignment();
  wire.set_name(kAssignment);
  wire.set_fence(fence);
  wire.set_lease_s(10);
  wire.set_assignment_json(experiment::to_json(work).dump());
  for (const uint32_t rank : ranks) wire.add_ranks(rank);
  for (uint32_t rank = 0; rank < all; ++rank) wire.add_rank_nodes("nodes/a");
  wire.set_join_timeout_s(10);
  wire.set_job_id("agent-test");
  return message;
}

v1::ServerMessage group_ready(uint32_t ranks, uint64_t fence = 1) {
  v1::ServerMessage message;
  message.mutable_group_ready()->set_assignment(kAssignment);
  message.mutable_group_ready()->set_fence(fence);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    message.mutable_group_ready()->add_addresses("a" + std::to_string(rank));
  }
  return message;
}

v1::ServerMessage settings_offer() {
  const ModelOffer offer = HeldTune::offer();
  v1::ServerMessage message;
  v1::ModelOffer& wire = *message.mutable_model_offer();
  wire.set_version(offer.version);
  wire.set_sha256(offer.sha256);
  wire.set_label(offer.label);
  wire.set_fabric(offer.fabric);
  wire.set_content(*offer.content);
  return message;
}

v1::ServerMessage cancel(uint64_t fence = 1) {
  v1::ServerMessage message;
  message.mutable_cancel_assignment()->set_assignment(kAssignment);
  message.mutable_cancel_assignment()->set_fence(fence);
  message.mutable_cancel_assignment()->set_message("for a test");
  return message;
}

// An agent in a thread of its own.
class RunningAgent {
 public:
  explicit RunningAgent(const std::string& server, const StayLimits& stay = {},
                        const std::string& models_folder = "", const TargetOptions& targets = {},
                        double target_pause_s = 600)
      : agent_(make_options(server, stay, models_folder, targets, target_pause_s),
               describe(targets)),
        thread_([this] { exit_code_ = agent_.run(); }) {}
  ~RunningAgent() {
    if (thread_.joinable()) stop();
  }

  int stop() {
    agent_.stop();
    return join();
  }
  void leave() { agent_.stop(true); }
  int join() {
    thread_.join();
    return exit_code_;
  }

 private:
  static AgentOptions make_options(const std::string& server, const StayLimits& stay,
                                   const std::string& models_folder, const TargetOptions& targets,
                                   double target_pause_s) {
    AgentOptions options;
    options.target_pause_s = target_pause_s;
    options.stay = stay;
    options.models_folder = models_folder;
    options.targets = targets;
    options.servers = *parse_servers(server);
    options.node = "a";
    options.worker = program("agent_scripted_worker");
    options.version = "0.1.0";
    options.session.refusal_patience_s = 0.3;
    return options;
  }

  static Description describe(const TargetOptions& targets) {
    Description description = *describe_node(program("agent_scripted_worker"), 10);
    for (const auto& [target, folder] : targets.folders) {
      description.fabrics.push_back(experiment::settings_fabric(target));
    }
    return description;
  }

  int exit_code_ = -1;
  Agent agent_;
  std::thread thread_;
};

// Waits until both ranks of the scripted job have joined, then tells them that the group is ready.
void form_group(FakeServer& server, uint32_t local, uint32_t all, uint64_t fence = 1,
                size_t after = 0) {
  for (uint32_t rank = 0; rank < local; ++rank) {
    const auto join = server.wait_for(
        [&](const v1::AgentMessage& message) {
          return message.has_group_join() && message.group_join().rank() == rank;
        },
        after);
    ASSERT_EQ(join.group_join().address(), "a" + std::to_string(rank));
  }
  server.send(group_ready(all, fence));
}

size_t series_in(const std::vector<v1::AgentMessage>& messages) {
  std::map<uint64_t, size_t> by_seq;
  for (const v1::AgentMessage& message : messages) {
    if (message.has_sample_batch()) {
      by_seq[message.sample_batch().seq()] = Json::parse(message.sample_batch().data()).size();
    }
  }
  size_t total = 0;
  uint64_t expected = 1;
  for (const auto& [seq, count] : by_seq) {
    EXPECT_EQ(seq, expected++) << "a batch is missing";
    total += count;
  }
  return total;
}

TEST(Agent, IntroducesItselfAndBeats) {
  FakeServer server;
  server.heartbeat_every(0.05);
  RunningAgent agent(server.address());
  const v1::Hello hello = server.wait_for_hello();
  EXPECT_EQ(hello.node(), "a");
  EXPECT_EQ(hello.instance_id().size(), 32U);
  EXPECT_EQ(hello.protocol_min(), 1);
  EXPECT_EQ(hello.fabrics_size(), 10);
  EXPECT_EQ(hello.experiments_json_size(), 1);
  EXPECT_EQ(hello.fingerprint().at("cpu.model"), "scripted");
  EXPECT_EQ(hello.assignment(), "");
  EXPECT_TRUE(
      server.wait_for([](const auto& message) { return message.has_heartbeat(); }).has_heartbeat());
  EXPECT_EQ(agent.stop(), kExitOk);
}

TEST(Agent, AFloodOfReportsNeitherStopsItNorReachesTheServer) {
  const TempFolder models;
  FakeServer server;
  server.heartbeat_every(0.05);
  const auto begin = std::chrono::steady_clock::now();
  RunningAgent agent(server.address(), {}, models.path().string());
  server.wait_for_hello();
  std::atomic<bool> over = false;
  std::vector<std::thread> users;
  for (int i = 0; i < 2; ++i) {
    users.emplace_back([&] {
      while (!over) (void)send_report({models.path()}, "report");
    });
  }
  const auto is_report = [](const auto& message) { return message.has_feedback_report(); };
  EXPECT_TRUE(server.wait_for(is_report).has_feedback_report());
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(
        server.wait_for([](const auto& message) { return message.has_heartbeat(); }, server.count())
            .has_heartbeat());
  }
  over = true;
  for (std::thread& user : users) user.join();
  const auto received = server.received();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_LE(static_cast<double>(std::ranges::count_if(received, is_report)), 1 + seconds);
  EXPECT_EQ(agent.stop(), kExitOk);
}

bool is_heartbeat(const v1::AgentMessage& message) { return message.has_heartbeat(); }

TEST(Agent, SaysAtOnceThatItInstallsSettingsAndThatItHasDoneSo) {
  const TempFolder models;
  const HeldTune tune;
  FakeServer server;
  server.heartbeat_every(1000);  // none comes for another reason
  RunningAgent agent(server.address(), {}, models.path().string(), tune.options());
  EXPECT_FALSE(server.wait_for_hello().installing());
  server.send(settings_offer());
  EXPECT_TRUE(server.wait_for(is_heartbeat).heartbeat().installing());
  const size_t before = server.count();
  tune.release();
  const auto is_ack = [](const auto& message) { return message.has_model_ack(); };
  EXPECT_EQ(server.wait_for(is_ack, before).model_ack().state(), v1::ModelAck::APPLIED);
  const v1::AgentMessage over = server.wait_for(is_heartbeat, before);
  EXPECT_TRUE(over.has_heartbeat());
  EXPECT_FALSE(over.heartbeat().installing());
  EXPECT_EQ(agent.stop(), kExitOk);
}

TEST(Agent, SaysInItsNextSessionThatItStillInstalls) {
  const TempFolder models;
  const HeldTune tune;
  FakeServer server;
  RunningAgent agent(server.address(), {}, models.path().string(), tune.options());
  server.wait_for_hello();
  server.send(settings_offer());
  EXPECT_TRUE(server.wait_for(is_heartbeat).heartbeat().installing());
  const size_t before = server.count();
  server.drop();
  EXPECT_TRUE(server.wait_for_hello(before).installing());
  tune.release();
}

TEST(Agent, MeasuresAndDeliversEverySample) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("good", {0, 1}));
  form_group(server, 2, 2);
  const v1::AssignmentUpdate end = server.wait_for_end();
  EXPECT_EQ(end.state(), v1::AssignmentUpdate::FINISHED) << end.message();
  EXPECT_EQ(series_in(server.received()), 4U);
  EXPECT_EQ(agent.stop(), kExitOk);
}

TEST(Agent, DoesNotFinishBeforeTheLastAcknowledgement) {
  FakeServer server;
  server.acknowledge(false);
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("good", {0}, 1));
  form_group(server, 1, 1);
  uint64_t last_seq = 0;
  server.wait_for([&](const v1::AgentMessage& message) {
    if (message.has_sample_batch() && message.sample_batch().points_done() == 4) {
      last_seq = message.sample_batch().seq();
    }
    return last_seq != 0;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const v1::AgentMessage& message : server.received()) {
    EXPECT_NE(message.assignment_update().state(), v1::AssignmentUpdate::FINISHED);
  }
  v1::ServerMessage ack;
  ack.mutable_sample_ack()->set_assignment(kAssignment);
  ack.mutable_sample_ack()->set_fence(1);
  ack.mutable_sample_ack()->set_seq(last_seq);
  server.send(ack);
  EXPECT_EQ(server.wait_for_end().state(), v1::AssignmentUpdate::FINISHED);
}

TEST(Agent, LeavingItBringsWhatItMeasuresToItsEnd) {
  FakeServer server;
  server.acknowledge(false);
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("good", {0}, 1));
  form_group(server, 1, 1);
  const uint64_t seq =
      server.wait_for([](const auto& message) { return message.sample_batch().points_done() == 4; })
          .sample_batch()
          .seq();
  agent.leave();
  server.wait_for([](const auto& message) { return message.heartbeat().leaving(); });
  v1::ServerMessage ack;
  ack.mutable_sample_ack()->set_assignment(kAssignment);
  ack.mutable_sample_ack()->set_fence(1);
  ack.mutable_sample_ack()->set_seq(seq);
  server.send(ack);
  EXPECT_EQ(server.wait_for_end().state(), v1::AssignmentUpdate::FINISHED);
  EXPECT_EQ(agent.join(), kExitOk);
}

TEST(Agent, LooksAgainAtOtherRuntimesAndSaysWhatTheyAreNow) {
  FakeServer server;
  TempFolder folder;
  TargetOptions targets;
  targets.program = (folder / "tune").string();
  targets.tuned = {"openmpi"};
  std::ofstream(targets.program)
      << "#!/bin/sh\necho '{\"target\":\"openmpi\",\"installed\":\"4.1.6\",\"tuned\":true}'\n";
  std::filesystem::permissions(targets.program, std::filesystem::perms::owner_all);
  RunningAgent agent(server.address(), {}, "", targets, 0.2);
  const auto first = server.wait_for_hello();
  EXPECT_FALSE(first.fingerprint().contains("target.openmpi.version"));
  // No run is wanted while it looks.
  EXPECT_TRUE(server.wait_for([](const auto& message) { return message.heartbeat().installing(); })
                  .has_heartbeat());
  const auto again = server.wait_for([](const v1::AgentMessage& message) {
    return message.hello().fingerprint().contains("target.openmpi.version");
  });
  ASSERT_TRUE(again.has_hello());
  EXPECT_EQ(again.hello().instance_id(), first.instance_id());
  EXPECT_EQ(again.hello().fingerprint().at("target.openmpi.version"), "4.1.6");
  EXPECT_EQ(agent.stop(), kExitOk);
}

TEST(Agent, OfAJobItSaysHowLongItStaysAndEndsWithoutWork) {
  FakeServer server;
  StayLimits stay;
  stay.end_s = steady_seconds() + 1000;
  stay.idle_s = 3;
  RunningAgent agent(server.address(), stay);
  const double available_s = server.wait_for_hello().available_s();
  EXPECT_GT(available_s, 900);
  EXPECT_LE(available_s, 940);
  EXPECT_EQ(agent.join(), kExitOk);
}

TEST(Agent, OfAJobItEndsWithItsServerMissing) {
  StayLimits stay;
  stay.idle_s = 0.3;
  RunningAgent agent("127.0.0.1:1", stay);
  EXPECT_EQ(agent.join(), kExitUnavailable);
}

TEST(Agent, KeepsMeasuringWithoutAServerAndDeliversAfterwards) {
  auto server = std::make_unique<FakeServer>();
  const int port = server->port();
  server->acknowledge(false);
  RunningAgent agent(server->address());
  const std::string instance = server->wait_for_hello().instance_id();
  server->send(assignment("slow", {0, 1}));
  form_group(*server, 2, 2);
  server->wait_for([](const auto& message) { return message.has_sample_batch(); });
  const size_t seen = server->received().size();
  EXPECT_GT(seen, 0U);
  server.reset();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));

  FakeServer restarted(port);
  const v1::Hello hello = restarted.wait_for_hello();
  EXPECT_EQ(hello.instance_id(), instance);
  EXPECT_EQ(hello.assignment(), kAssignment);
  EXPECT_EQ(hello.fence(), 1U);
  // Nothing was acknowledged, so that everything comes again, from the first batch on.
  const auto first =
      restarted.wait_for([](const auto& message) { return message.has_sample_batch(); });
  EXPECT_EQ(first.sample_batch().seq(), 1U);
  restarted.send(cancel());
  EXPECT_EQ(restarted.wait_for_end().state(), v1::AssignmentUpdate::CANCELLED);
  EXPECT_GT(series_in(restarted.received()), 10U);
}

TEST(Agent, EndsItsWorkersWhenTheFenceIsOld) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("slow", {0}, 1));
  form_group(server, 1, 1);
  server.wait_for([](const auto& message) { return message.has_sample_batch(); });
  server.drop();
  const size_t before = server.count();
  server.wait_for_hello(before);
  server.send(cancel());
  EXPECT_EQ(server.wait_for_end(before).state(), v1::AssignmentUpdate::CANCELLED);
  // Free again: the same run under its new fence is accepted.
  const size_t again = server.count();
  server.send(assignment("good", {0}, 1, 2));
  form_group(server, 1, 1, 2, again);
  const v1::AssignmentUpdate end = server.wait_for_end(again);
  EXPECT_EQ(end.state(), v1::AssignmentUpdate::FINISHED) << end.message();
  EXPECT_EQ(end.fence(), 2U);
}

TEST(Agent, CancelEndsEvenAStubbornWorkerSoon) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("stubborn", {0, 1}));
  form_group(server, 2, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  server.send(cancel());
  EXPECT_EQ(server.wait_for_end().state(), v1::AssignmentUpdate::CANCELLED);
}

TEST(Agent, ReportsWhyARankDied) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("die-1", {0, 1}));
  form_group(server, 2, 2);
  const v1::AssignmentUpdate end = server.wait_for_end();
  EXPECT_EQ(end.state(), v1::AssignmentUpdate::FAILED);
  EXPECT_EQ(end.code(), "aborted");
  EXPECT_EQ(end.message(), "rank 1 on nodes/a was killed by signal 9 (SIGKILL)");
}

TEST(Agent, ReportsFailuresOfEveryKind) {
  const struct {
    const char* behaviour;
    const char* code;
    const char* text;
  } cases[] = {{"die-early", "aborted", "on nodes/a was killed by signal 9"},
               {"fail", "resource_exhausted", "rank 1 on nodes/a: cannot allocate"},
               {"exit", "aborted", "rank 0 on nodes/a exited with code 3"},
               {"garbage", "data_loss", "control channel message"}};
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  uint64_t fence = 0;
  for (const auto& expected : cases) {
    SCOPED_TRACE(expected.behaviour);
    const size_t before = server.count();
    ++fence;
    server.send(assignment(expected.behaviour, {0, 1}, 2, fence));
    if (std::string(expected.behaviour) != "die-early") form_group(server, 2, 2, fence, before);
    const v1::AssignmentUpdate end = server.wait_for_end(before);
    EXPECT_EQ(end.state(), v1::AssignmentUpdate::FAILED);
    EXPECT_EQ(end.code(), expected.code);
    EXPECT_NE(end.message().find(expected.text), std::string::npos) << end.message();
  }
}

TEST(Agent, TellsTheServerThatItDoesNotWorkOnIt) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(cancel(9));
  const v1::AssignmentUpdate end = server.wait_for_end();
  EXPECT_EQ(end.state(), v1::AssignmentUpdate::CANCELLED);
  EXPECT_EQ(end.fence(), 9U);
}

TEST(Agent, StoppedWhileMeasuringEndsItsRunAndSaysSo) {
  FakeServer server;
  RunningAgent agent(server.address());
  server.wait_for_hello();
  server.send(assignment("slow", {0, 1}));
  form_group(server, 2, 2);
  server.wait_for([](const auto& message) { return message.has_sample_batch(); });
  EXPECT_EQ(agent.stop(), kExitCancelled);
  const v1::AssignmentUpdate end = server.wait_for_end();
  EXPECT_EQ(end.state(), v1::AssignmentUpdate::FAILED);
  EXPECT_EQ(end.code(), "unavailable");
}

TEST(Agent, GivesUpWhenItsNameIsTaken) {
  FakeServer server;
  v1::ErrorInfo info;
  info.set_reason("NODE_IN_USE");
  v1::Status details;
  details.add_details()->PackFrom(info);
  server.refuse(grpc::Status(grpc::StatusCode::ALREADY_EXISTS, "nodes/a has a live session",
                             details.SerializeAsString()));
  RunningAgent agent(server.address());
  EXPECT_EQ(agent.join(), kExitConflict);
}

// The program itself: signals, and what is left when it is killed.
class AgentProgram : public ::testing::Test {
 protected:
  void start() {
    SubprocessOptions options;
    options.argv = {program("stripline-agent"),
                    "--server",
                    server_.address(),
                    "--node",
                    "a",
                    "--worker",
                    program("agent_scripted_worker"),
                    "--log-level",
                    "warning"};
    ASSERT_OK_AND_ASSIGN(auto process, Subprocess::spawn(options));
    process_.emplace(std::move(process));
    ASSERT_EQ(server_.wait_for_hello().node(), "a");
  }

  FakeServer server_;
  std::optional<Subprocess> process_;
};

bool gone(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text);
  const size_t paren = text.rfind(')');
  return paren == std::string::npos || text.compare(paren, 3, ") Z") == 0;
}

TEST_F(AgentProgram, IdleItEndsWithZeroOnSigterm) {
  start();
  process_->signal(SIGTERM);
  ASSERT_OK_AND_ASSIGN(const auto status, process_->wait(kPatience_s));
  EXPECT_EQ(status.exit_code, kExitOk) << status.describe();
}

TEST_F(AgentProgram, ItsWorkersDieWithIt) {
  start();
  server_.send(assignment("slow", {0, 1}));
  form_group(server_, 2, 2);
  server_.wait_for([](const auto& message) { return message.has_sample_batch(); });
  const std::vector<pid_t> workers = children_of(process_->pid());
  ASSERT_EQ(workers.size(), 2U);
  process_->signal(SIGKILL);
  ASSERT_TRUE(process_->wait(kPatience_s).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  for (const pid_t worker : workers) {
    while (!gone(worker) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_TRUE(gone(worker));
  }
}

TEST_F(AgentProgram, WrongOptionsAreRefused) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--node", "Bad Name"},
                                                    {"--no-such-option"},
                                                    {"--worker", "/none"}}) {
    SubprocessOptions options;
    options.argv = {program("stripline-agent")};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    ASSERT_OK_AND_ASSIGN(auto process, Subprocess::spawn(options));
    ASSERT_OK_AND_ASSIGN(const auto status, process.wait(kPatience_s));
    EXPECT_EQ(status.exit_code, kExitUsage);
  }
}

}  // namespace
}  // namespace stripline::agent
