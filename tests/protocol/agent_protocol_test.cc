// Agents and servers of this build and of others, against each other by recorded bytes.
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "base/hex.h"
#include "proto/agent_protocol/wire.h"
#include "stripline/v1/agents.pb.h"

namespace stripline {
namespace {

const AssignmentId kId{"campaigns/c1/runs/2", 3};  // NOLINT(cert-err58-cpp)

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

// What the other side reads of recorded bytes of AgentMessage or ServerMessage.
template <typename Content, typename Wire>
Content read(const std::string& name) {
  auto message = from_wire(parsed<Wire>(name));
  auto* content = message ? std::get_if<Content>(&*message) : nullptr;
  EXPECT_NE(content, nullptr) << name;
  return content != nullptr ? std::move(*content) : Content();
}
template <typename Content>
Content server_reads(const std::string& name) {
  return read<Content, v1::AgentMessage>(name);
}
template <typename Content>
Content agent_reads(const std::string& name) {
  return read<Content, v1::ServerMessage>(name);
}

Hello hello() {
  Hello hello;
  hello.node = "a";
  hello.instance_id = "i1";
  hello.agent_version = "0.1.0";
  hello.fingerprint = {{"cpu.model", "EPYC"}};
  hello.fabrics = {"tcp", "shm"};
  hello.experiments_json = {"{}"};
  hello.assignment = kId;
  hello.available_s = 60;
  hello.leaving = true;
  hello.cluster = "east";
  hello.models.emplace().emplace("tcp", "0123456789ab");
  return hello;
}

TEST(AgentProtocol, AgentsWriteWhatIsRecorded) {
  const auto data = std::make_shared<const std::string>("[]");
  const std::map<std::string, AgentMessage> messages = {
      {"hello", hello()},
      {"heartbeat", Heartbeat{kId, true, HostLoad{0.5, 1.5, 8}}},
      {"group_join", GroupJoin{kId, 1, "10.0.0.1"}},
      {"sample_batch", SampleBatch{kId, 4, data, 5, 6}},
      {"assignment_update", AssignmentUpdate{kId,
                                             AssignmentUpdate::State::failed,
                                             "internal",
                                             "it died",
                                             {{"fabric.provider", "tcp"}},
                                             "micro.latency"}},
      {"renew_certificate", RenewCertificate{"PEM"}},
      {"model_ack", ModelAck{"models/tcp/versions/2", false, "another network"}},
      {"feedback_report", FeedbackReport{"{}"}},
  };
  EXPECT_EQ(messages.size(), std::variant_size_v<AgentMessage>);
  for (const auto& [name, message] : messages) {
    EXPECT_EQ(to_wire(message).SerializeAsString(), recorded().at(name)) << name;
  }
}

// What came later than the other lines were recorded.
TEST(AgentProtocol, NodesSayForHowManyRanksTheyHaveRoom) {
  Hello with_room = hello();
  with_room.max_ranks = 64;
  EXPECT_EQ(to_wire(with_room).SerializeAsString(), recorded().at("hello_max_ranks"));
  EXPECT_EQ(server_reads<Hello>("hello_max_ranks").max_ranks, 64U);
  EXPECT_EQ(server_reads<Hello>("hello").max_ranks, 0U);
}

TEST(AgentProtocol, NodesSayThatTheyInstallSettings) {
  Hello installing = hello();
  installing.installing = true;
  EXPECT_EQ(to_wire(installing).SerializeAsString(), recorded().at("hello_installing"));
  EXPECT_TRUE(server_reads<Hello>("hello_installing").installing);
  EXPECT_FALSE(server_reads<Hello>("hello").installing);
  const Heartbeat heartbeat{kId, true, HostLoad{0.5, 1.5, 8}, true};
  EXPECT_EQ(to_wire(heartbeat).SerializeAsString(), recorded().at("heartbeat_installing"));
  EXPECT_TRUE(server_reads<Heartbeat>("heartbeat_installing").installing);
  EXPECT_FALSE(server_reads<Heartbeat>("heartbeat").installing);
}

TEST(AgentProtocol, ServersWriteWhatIsRecorded) {
  const auto text = std::make_shared<const std::string>("{}");
  const auto addresses =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"x", "y"});
  const std::map<std::string, ServerMessage> messages = {
      {"hello_ack", HelloAck{1, 5, 5.5}},
      {"assignment", Assignment{kId, 15, text, {0, 1}, {"a", "b"}, 20, "s1-c1"}},
      {"group_ready", GroupReady{kId, addresses}},
      {"cancel_assignment", CancelAssignment{kId, "enough"}},
      {"sample_ack", SampleAck{kId, 4}},
      {"new_certificate", NewCertificate{"PEM"}},
      {"model_offer", ModelOffer{"models/tcp/versions/2", "ab", "stable", "tcp", text}},
      {"model_withdrawal", ModelWithdrawal{"tcp", "0123456789ab", "stale"}},
  };
  EXPECT_EQ(messages.size(), std::variant_size_v<ServerMessage>);
  for (const auto& [name, message] : messages) {
    EXPECT_EQ(to_wire(message).SerializeAsString(), recorded().at(name)) << name;
  }
}

TEST(AgentProtocol, ServersReadAgentsOfThisAndALaterRelease) {
  for (const std::string later : {"", "_later"}) {
    SCOPED_TRACE(later);
    const auto greeting = server_reads<Hello>("hello" + later);
    EXPECT_EQ(greeting.node, "a");
    EXPECT_EQ(greeting.instance_id, "i1");
    EXPECT_EQ(greeting.agent_version, "0.1.0");
    EXPECT_EQ(greeting.protocol_min, kProtocolMin);
    EXPECT_EQ(greeting.protocol_max, kProtocolMax);
    EXPECT_EQ(greeting.fingerprint, hello().fingerprint);
    EXPECT_EQ(greeting.fabrics, hello().fabrics);
    EXPECT_EQ(greeting.experiments_json, hello().experiments_json);
    EXPECT_EQ(greeting.assignment, kId);
    EXPECT_EQ(greeting.available_s, 60);
    EXPECT_TRUE(greeting.leaving);
    EXPECT_EQ(greeting.cluster, "east");
    EXPECT_EQ(greeting.models, hello().models);

    const auto heartbeat = server_reads<Heartbeat>("heartbeat" + later);
    EXPECT_EQ(heartbeat.assignment, kId);
    EXPECT_TRUE(heartbeat.leaving);
    ASSERT_TRUE(heartbeat.host_load);
    EXPECT_EQ(heartbeat.host_load->running, 1.5);
    EXPECT_EQ(heartbeat.host_load->processors, 8U);

    const auto join = server_reads<GroupJoin>("group_join" + later);
    EXPECT_EQ(join.assignment, kId);
    EXPECT_EQ(join.rank, 1U);
    EXPECT_EQ(join.address, "10.0.0.1");

    const auto batch = server_reads<SampleBatch>("sample_batch" + later);
    EXPECT_EQ(batch.assignment, kId);
    EXPECT_EQ(batch.seq, 4U);
    EXPECT_EQ(batch.codec, "json");
    EXPECT_EQ(*batch.data, "[]");
    EXPECT_EQ(batch.points_done, 5U);
    EXPECT_EQ(batch.points_total, 6U);

    const auto update = server_reads<AssignmentUpdate>("assignment_update" + later);
    EXPECT_EQ(update.assignment, kId);
    EXPECT_EQ(update.state, AssignmentUpdate::State::failed);
    EXPECT_EQ(update.code, "internal");
    EXPECT_EQ(update.message, "it died");
    EXPECT_EQ(update.facts.at("fabric.provider"), "tcp");
    EXPECT_EQ(update.experiment, "micro.latency");

    const auto ack = server_reads<ModelAck>("model_ack" + later);
    EXPECT_EQ(ack.version, "models/tcp/versions/2");
    EXPECT_FALSE(ack.applied);
    EXPECT_EQ(ack.reason, "another network");

    EXPECT_EQ(server_reads<FeedbackReport>("feedback_report" + later).content, "{}");
  }
  EXPECT_EQ(server_reads<RenewCertificate>("renew_certificate").request_pem, "PEM");
  EXPECT_FALSE(from_wire(parsed<v1::AgentMessage>("unknown_kind"))) << "it is passed over";
}

TEST(AgentProtocol, ServersReadAgentsOfAnEarlierRelease) {
  const auto greeting = server_reads<Hello>("hello_earlier");
  EXPECT_EQ(greeting.node, "a");
  EXPECT_EQ(greeting.assignment, AssignmentId{});
  EXPECT_EQ(greeting.available_s, 0) << "no end is known";
  EXPECT_FALSE(greeting.leaving);
  EXPECT_EQ(greeting.cluster, "");
  EXPECT_FALSE(greeting.models);
  const auto heartbeat = server_reads<Heartbeat>("heartbeat_earlier");
  EXPECT_EQ(heartbeat.assignment, kId);
  EXPECT_FALSE(heartbeat.host_load);
  const auto update = server_reads<AssignmentUpdate>("assignment_update_earlier");
  EXPECT_EQ(update.state, AssignmentUpdate::State::finished);
  EXPECT_TRUE(update.facts.empty());
  EXPECT_EQ(update.experiment, "");
}

TEST(AgentProtocol, AgentsReadServersOfThisAndALaterRelease) {
  for (const std::string later : {"", "_later"}) {
    SCOPED_TRACE(later);
    const auto greeting = agent_reads<HelloAck>("hello_ack" + later);
    EXPECT_EQ(greeting.protocol, kProtocolMax);
    EXPECT_EQ(greeting.heartbeat_interval_s, 5);
    EXPECT_EQ(greeting.reconnect_spread_s, 5.5);

    const auto order = agent_reads<Assignment>("assignment" + later);
    EXPECT_EQ(order.id, kId);
    EXPECT_EQ(order.lease_s, 15);
    EXPECT_EQ(*order.assignment_json, "{}");
    EXPECT_EQ(order.ranks, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(order.rank_nodes, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(order.join_timeout_s, 20);
    EXPECT_EQ(order.job_id, "s1-c1");

    const auto ready = agent_reads<GroupReady>("group_ready" + later);
    EXPECT_EQ(ready.assignment, kId);
    EXPECT_EQ(*ready.addresses, (std::vector<std::string>{"x", "y"}));

    const auto cancel = agent_reads<CancelAssignment>("cancel_assignment" + later);
    EXPECT_EQ(cancel.assignment, kId);
    EXPECT_EQ(cancel.message, "enough");

    const auto ack = agent_reads<SampleAck>("sample_ack" + later);
    EXPECT_EQ(ack.assignment, kId);
    EXPECT_EQ(ack.seq, 4U);

    const auto offer = agent_reads<ModelOffer>("model_offer" + later);
    EXPECT_EQ(offer.version, "models/tcp/versions/2");
    EXPECT_EQ(offer.sha256, "ab");
    EXPECT_EQ(offer.fabric, "tcp");
    EXPECT_EQ(offer.label, "stable");
    EXPECT_EQ(*offer.content, "{}");

    const auto withdrawal = agent_reads<ModelWithdrawal>("model_withdrawal" + later);
    EXPECT_EQ(withdrawal.fabric, "tcp");
    EXPECT_EQ(withdrawal.sha256, "0123456789ab");
    EXPECT_EQ(withdrawal.reason, "stale");
  }
  EXPECT_EQ(agent_reads<NewCertificate>("new_certificate").certificate_pem, "PEM");
  EXPECT_FALSE(from_wire(parsed<v1::ServerMessage>("unknown_answer"))) << "passed over";
}

}  // namespace
}  // namespace stripline
