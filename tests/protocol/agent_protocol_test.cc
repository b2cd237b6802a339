// Agents and servers of this build and of others, against each other by recorded bytes.
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "agent/wire.h"
#include "base/hex.h"
#include "server/core/wire.h"
#include "stripline/v1/agents.pb.h"

namespace stripline {
namespace {

constexpr const char* kRun = "campaigns/c1/runs/2";
constexpr uint64_t kFence = 3;

// By name.
const std::map<std::string, std::string>& recorded() {
  static const auto all = [] {
    const char* source = std::getenv("STRIPLINE_TEST_SOURCE");  // NOLINT(concurrency-mt-unsafe)
    std::ifstream file(std::string(source == nullptr ? "." : source) +
                       "/tests/protocol/recorded_messages.txt");
    std::map<std::string, std::string> found;
    for (std::string line; std::getline(file, line);) {
      const size_t space = line.find(' ');
      if (line.starts_with('#') || space == std::string::npos) continue;
      found[line.substr(0, space)] = from_hex(line.substr(space + 1)).value_or("");
    }
    return found;
  }();
  return all;
}

template <typename Wire>
Wire parsed(const std::string& name) {
  Wire wire;
  const auto found = recorded().find(name);
  EXPECT_TRUE(found != recorded().end() && wire.ParseFromString(found->second)) << name;
  return wire;
}

// What the server reads of an agent's recorded bytes.
template <typename Content>
Content server_reads(const std::string& name) {
  auto wire = parsed<v1::AgentMessage>(name);
  auto message = server::from_wire(wire);
  const auto* content = message ? std::get_if<Content>(&*message) : nullptr;
  EXPECT_NE(content, nullptr) << name;
  return content != nullptr ? std::move(*std::get_if<Content>(&*message)) : Content();
}

// What an agent reads of a server's recorded bytes.
template <typename Content>
Content agent_reads(const std::string& name) {
  const auto message = agent::from_wire(parsed<v1::ServerMessage>(name));
  const auto* content = message ? std::get_if<Content>(&*message) : nullptr;
  EXPECT_NE(content, nullptr) << name;
  return content != nullptr ? *content : Content();
}

agent::Hello hello() {
  agent::Hello hello;
  hello.node = "a";
  hello.instance_id = "i1";
  hello.agent_version = "0.1.0";
  hello.fingerprint = {{"cpu.model", "EPYC"}};
  hello.fabrics = {"tcp", "shm"};
  hello.experiments_json = {"{}"};
  hello.assignment = {kRun, kFence};
  hello.available_s = 60;
  hello.leaving = true;
  hello.cluster = "east";
  hello.models.emplace().emplace("tcp", "0123456789ab");
  return hello;
}

TEST(AgentProtocol, AgentsWriteWhatIsRecorded) {
  const agent::AssignmentId id{kRun, kFence};
  const auto data = std::make_shared<const std::string>("[]");
  const std::map<std::string, agent::AgentMessage> messages = {
      {"hello", hello()},
      {"heartbeat", agent::Heartbeat{id, true, HostLoad{0.5, 1.5, 8}}},
      {"group_join", agent::GroupJoin{id, 1, "10.0.0.1"}},
      {"sample_batch", agent::SampleBatch{id, 4, data, 5, 6}},
      {"assignment_update", agent::AssignmentUpdate{id,
                                                    agent::AssignmentUpdate::State::failed,
                                                    "internal",
                                                    "it died",
                                                    {{"fabric.provider", "tcp"}},
                                                    "micro.latency"}},
      {"renew_certificate", agent::RenewCertificate{"PEM"}},
      {"model_ack", agent::ModelAck{"models/tcp/versions/2", false, "another network"}},
      {"feedback_report", agent::FeedbackReport{"{}"}},
  };
  EXPECT_EQ(messages.size(), std::variant_size_v<agent::AgentMessage>);
  for (const auto& [name, message] : messages) {
    EXPECT_EQ(agent::to_wire(message).SerializeAsString(), recorded().at(name)) << name;
  }
}

// What came later than the other lines were recorded.
TEST(AgentProtocol, NodesSayForHowManyRanksTheyHaveRoom) {
  agent::Hello with_room = hello();
  with_room.max_ranks = 64;
  EXPECT_EQ(agent::to_wire(with_room).SerializeAsString(), recorded().at("hello_max_ranks"));
  EXPECT_EQ(server::from_wire(parsed<v1::AgentMessage>("hello_max_ranks").hello()).max_ranks, 64U);
  EXPECT_EQ(server::from_wire(parsed<v1::AgentMessage>("hello").hello()).max_ranks, 0U);
}

TEST(AgentProtocol, ServersWriteWhatIsRecorded) {
  const auto text = std::make_shared<const std::string>("{}");
  const auto addresses =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"x", "y"});
  const std::map<std::string, server::ServerMessage> messages = {
      {"hello_ack", server::HelloAck{1, 5, 5.5}},
      {"assignment",
       server::AssignmentOrder{kRun, kFence, 15, text, {0, 1}, {"a", "b"}, 20, "s1-c1"}},
      {"group_ready", server::GroupReady{kRun, kFence, addresses}},
      {"cancel_assignment", server::CancelAssignment{kRun, kFence, "enough"}},
      {"sample_ack", server::SampleAck{kRun, kFence, 4}},
      {"model_offer", server::ModelOffer{"models/tcp/versions/2", "ab", "stable", "tcp", text}},
      {"model_withdrawal", server::ModelWithdrawal{"tcp", "0123456789ab", "stale"}},
  };
  EXPECT_EQ(messages.size(), std::variant_size_v<server::ServerMessage>);
  for (const auto& [name, message] : messages) {
    EXPECT_EQ(server::to_wire(message).SerializeAsString(), recorded().at(name)) << name;
  }
}

TEST(AgentProtocol, ServersReadAgentsOfThisAndALaterRelease) {
  for (const std::string later : {"", "_later"}) {
    SCOPED_TRACE(later);
    const server::Hello greeting =
        server::from_wire(parsed<v1::AgentMessage>("hello" + later).hello());
    EXPECT_EQ(greeting.node, "a");
    EXPECT_EQ(greeting.instance_id, "i1");
    EXPECT_EQ(greeting.agent_version, "0.1.0");
    EXPECT_EQ(greeting.protocol_min, agent::kProtocolMin);
    EXPECT_EQ(greeting.protocol_max, agent::kProtocolMax);
    EXPECT_EQ(greeting.fingerprint, hello().fingerprint);
    EXPECT_EQ(greeting.fabrics, hello().fabrics);
    EXPECT_EQ(greeting.experiments_json, hello().experiments_json);
    EXPECT_EQ(greeting.assignment, kRun);
    EXPECT_EQ(greeting.fence, kFence);
    EXPECT_EQ(greeting.available_s, 60);
    EXPECT_TRUE(greeting.leaving);
    EXPECT_EQ(greeting.cluster, "east");
    EXPECT_TRUE(greeting.takes_models);
    EXPECT_EQ(greeting.models, *hello().models);

    const auto heartbeat = server_reads<server::Heartbeat>("heartbeat" + later);
    EXPECT_EQ(heartbeat.assignment, kRun);
    EXPECT_EQ(heartbeat.fence, kFence);
    EXPECT_TRUE(heartbeat.leaving);
    ASSERT_TRUE(heartbeat.host_load);
    EXPECT_EQ(heartbeat.host_load->running, 1.5);
    EXPECT_EQ(heartbeat.host_load->processors, 8U);

    const auto join = server_reads<server::GroupJoin>("group_join" + later);
    EXPECT_EQ(join.assignment, kRun);
    EXPECT_EQ(join.fence, kFence);
    EXPECT_EQ(join.rank, 1U);
    EXPECT_EQ(join.address, "10.0.0.1");

    const auto batch = server_reads<server::SampleBatch>("sample_batch" + later);
    EXPECT_EQ(batch.assignment, kRun);
    EXPECT_EQ(batch.fence, kFence);
    EXPECT_EQ(batch.seq, 4U);
    EXPECT_EQ(batch.codec, "json");
    EXPECT_EQ(batch.data, "[]");
    EXPECT_EQ(batch.points_done, 5U);
    EXPECT_EQ(batch.points_total, 6U);

    const auto update = server_reads<server::AssignmentUpdate>("assignment_update" + later);
    EXPECT_EQ(update.assignment, kRun);
    EXPECT_EQ(update.fence, kFence);
    EXPECT_EQ(update.state, server::UpdateState::failed);
    EXPECT_EQ(update.code, "internal");
    EXPECT_EQ(update.message, "it died");
    EXPECT_EQ(update.facts.at("fabric.provider"), "tcp");
    EXPECT_EQ(update.experiment, "micro.latency");

    const auto ack = server_reads<server::ModelAck>("model_ack" + later);
    EXPECT_EQ(ack.version, "models/tcp/versions/2");
    EXPECT_FALSE(ack.applied);
    EXPECT_EQ(ack.reason, "another network");

    EXPECT_EQ(server_reads<server::FeedbackReport>("feedback_report" + later).content, "{}");
  }
  auto unknown = parsed<v1::AgentMessage>("unknown_kind");
  EXPECT_FALSE(server::from_wire(unknown)) << "it is passed over";
}

TEST(AgentProtocol, ServersReadAgentsOfAnEarlierRelease) {
  const server::Hello greeting =
      server::from_wire(parsed<v1::AgentMessage>("hello_earlier").hello());
  EXPECT_EQ(greeting.node, "a");
  EXPECT_EQ(greeting.assignment, "");
  EXPECT_EQ(greeting.available_s, 0) << "no end is known";
  EXPECT_FALSE(greeting.leaving);
  EXPECT_EQ(greeting.cluster, "");
  EXPECT_FALSE(greeting.takes_models);
  const auto heartbeat = server_reads<server::Heartbeat>("heartbeat_earlier");
  EXPECT_EQ(heartbeat.assignment, kRun);
  EXPECT_FALSE(heartbeat.host_load);
  const auto update = server_reads<server::AssignmentUpdate>("assignment_update_earlier");
  EXPECT_EQ(update.state, server::UpdateState::finished);
  EXPECT_TRUE(update.facts.empty());
  EXPECT_EQ(update.experiment, "");
}

TEST(AgentProtocol, AgentsReadServersOfThisAndALaterRelease) {
  const agent::AssignmentId id{kRun, kFence};
  for (const std::string later : {"", "_later"}) {
    SCOPED_TRACE(later);
    const auto greeting = agent_reads<agent::HelloAck>("hello_ack" + later);
    EXPECT_EQ(greeting.protocol, server::kProtocolVersion);
    EXPECT_EQ(greeting.heartbeat_interval_s, 5);
    EXPECT_EQ(greeting.reconnect_spread_s, 5.5);

    const auto order = agent_reads<agent::Assignment>("assignment" + later);
    EXPECT_EQ(order.id, id);
    EXPECT_EQ(order.lease_s, 15);
    EXPECT_EQ(order.assignment_json, "{}");
    EXPECT_EQ(order.ranks, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(order.rank_nodes, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(order.join_timeout_s, 20);
    EXPECT_EQ(order.job_id, "s1-c1");

    const auto ready = agent_reads<agent::GroupReady>("group_ready" + later);
    EXPECT_EQ(ready.assignment, id);
    EXPECT_EQ(ready.addresses, (std::vector<std::string>{"x", "y"}));

    const auto cancel = agent_reads<agent::CancelAssignment>("cancel_assignment" + later);
    EXPECT_EQ(cancel.assignment, id);
    EXPECT_EQ(cancel.message, "enough");

    const auto ack = agent_reads<agent::SampleAck>("sample_ack" + later);
    EXPECT_EQ(ack.assignment, id);
    EXPECT_EQ(ack.seq, 4U);

    const auto offer = agent_reads<agent::ModelOffer>("model_offer" + later);
    EXPECT_EQ(offer.version, "models/tcp/versions/2");
    EXPECT_EQ(offer.sha256, "ab");
    EXPECT_EQ(offer.fabric, "tcp");
    EXPECT_EQ(offer.content, "{}");

    const auto withdrawal = agent_reads<agent::ModelWithdrawal>("model_withdrawal" + later);
    EXPECT_EQ(withdrawal.fabric, "tcp");
    EXPECT_EQ(withdrawal.sha256, "0123456789ab");
    EXPECT_EQ(withdrawal.reason, "stale");
  }
  EXPECT_EQ(agent_reads<agent::NewCertificate>("new_certificate").certificate_pem, "PEM");
  EXPECT_FALSE(agent::from_wire(parsed<v1::ServerMessage>("unknown_answer"))) << "passed over";
}

}  // namespace
}  // namespace stripline
