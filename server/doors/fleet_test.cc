// What operators do with nodes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "server/testing/service_test.h"
#include "server/testing/synthetic_machine.h"

namespace stripline::server {
namespace {

class FleetTest : public ServiceTest {
 protected:
  template <typename Request>
  using Method = grpc::Status (v1::Fleet::Stub::*)(grpc::ClientContext*, const Request&, v1::Node*);

  template <typename Request>
  grpc::Status call(Method<Request> method, const Request& request) {
    grpc::ClientContext context;
    v1::Node node;
    return (fleet_.get()->*method)(&context, request, &node);
  }

  grpc::Status cordon(const std::string& node, const std::string& reason = "") {
    v1::CordonNodeRequest request;
    request.set_name(node);
    request.set_reason(reason);
    return call<v1::CordonNodeRequest>(&v1::Fleet::Stub::CordonNode, request);
  }
  grpc::Status drain(const std::string& node, std::optional<double> time_limit_s) {
    v1::DrainNodeRequest request;
    request.set_name(node);
    if (time_limit_s) request.set_time_limit_s(*time_limit_s);
    return call<v1::DrainNodeRequest>(&v1::Fleet::Stub::DrainNode, request);
  }
  grpc::Status uncordon(const std::string& node) {
    v1::UncordonNodeRequest request;
    request.set_name(node);
    return call<v1::UncordonNodeRequest>(&v1::Fleet::Stub::UncordonNode, request);
  }
  grpc::Status remove(const std::string& node) {
    v1::RemoveNodeRequest request;
    request.set_name(node);
    v1::RemoveNodeResponse response;
    grpc::ClientContext context;
    return fleet_->RemoveNode(&context, request, &response);
  }

  static bool was_said(const std::vector<v1::CampaignEvent>& events, const std::string& what) {
    return std::ranges::any_of(events, [&](const v1::CampaignEvent& event) {
      return event.message().find(what) != std::string::npos;
    });
  }

  void add(const std::string& name, double batch_delay_s = 0) {
    AutoAgent::Options options;
    options.batch_delay_s = batch_delay_s;
    options.series_per_batch = 1;
    agents_.push_back(std::make_unique<AutoAgent>(address_, name, options));
  }
};

TEST_F(FleetTest, ACordonedNodeGetsNoRuns) {
  for (const char* name : {"a", "b", "c"}) add(name);
  ASSERT_TRUE(connected({"a", "b", "c"}));
  ASSERT_TRUE(cordon("nodes/b", "fan \x1b[31mbroken").ok());
  EXPECT_EQ(node("nodes/b").hold().reason(), "fan \x1b[31mbroken");
  EXPECT_EQ(node("nodes/b").hold().actor(), "users/anonymous");
  EXPECT_EQ(node("nodes/b").state(), v1::Node::IDLE);
  const auto events = watch(created(small_spec(3)).name());
  EXPECT_EQ(events.back().campaign().state(), v1::Campaign::SUCCEEDED);
  for (const auto& event : events) {
    EXPECT_EQ(event.message().find("nodes/b"), std::string::npos) << event.message();
  }
  EXPECT_FALSE(uncordon("nodes/unknown").ok());
  ASSERT_TRUE(uncordon("nodes/b").ok());
  EXPECT_FALSE(node("nodes/b").has_hold());
}

TEST_F(FleetTest, ACampaignWaitsUntilANodeIsGivenBack) {
  add("a", 0.1);
  add("b", 0.1);
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string name = created(small_spec(2)).name();
  ASSERT_TRUE(eventually([&] { return get(name).points_done() > 0; }));
  ASSERT_TRUE(drain("nodes/b", std::nullopt).ok());
  ASSERT_TRUE(eventually([&] { return get(name).runs_done() == 1; }));
  ASSERT_TRUE(
      eventually([&] { return get(name).message().find("waits for nodes") != std::string::npos; }));
  EXPECT_NE(get(name).message().find("nodes/b is cordoned"), std::string::npos)
      << get(name).message();
  v1::Campaign refused;
  EXPECT_FALSE(create(small_spec(), refused).ok()) << "there are not enough nodes";
  ASSERT_TRUE(uncordon("nodes/b").ok());
  EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
}

TEST_F(FleetTest, ADrainedNodeEndsItsRunAtTheLimit) {
  for (const char* name : {"a", "b", "c"}) add(name, 0.3);
  ASSERT_TRUE(connected({"a", "b", "c"}));
  const std::string name = created(small_spec()).name();
  ASSERT_TRUE(eventually([&] { return get(name).points_done() > 0; }));
  std::string busy;
  for (const char* candidate : {"nodes/a", "nodes/b", "nodes/c"}) {
    if (!node(candidate).assignment().empty()) busy = candidate;
  }
  ASSERT_TRUE(drain(busy, 0.2).ok());
  ASSERT_TRUE(eventually([&] { return node(busy).assignment().empty(); }));
  const auto events = watch(name);
  EXPECT_EQ(events.back().campaign().state(), v1::Campaign::SUCCEEDED);
  EXPECT_TRUE(was_said(events, busy + " is drained; it is measured again"));
  EXPECT_FALSE(was_said(events, "attempt")) << "it was no fault of the campaign's";
}

TEST_F(FleetTest, AnAgentThatLeavesIsNotToBlame) {
  AgentClient a(address_, test_hello("a"));
  AgentClient b(address_, test_hello("b"));
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string name = created(small_spec()).name();
  const auto order = a.receive(v1::ServerMessage::kAssignment);
  ASSERT_TRUE(order);
  v1::AgentMessage leaving;
  leaving.mutable_heartbeat()->set_leaving(true);
  a.send(leaving);
  a.update(order->assignment(), v1::AssignmentUpdate::CANCELLED, "cancelled", "its job ends");
  ASSERT_TRUE(b.receive(v1::ServerMessage::kCancelAssignment));
  v1::Campaign campaign;
  ASSERT_TRUE(cancel(name, campaign).ok());
  const auto events = watch(name);
  EXPECT_TRUE(was_said(events, "nodes/a stopped it: its job ends; it is measured again"));
  EXPECT_FALSE(was_said(events, "attempt"));
}

TEST_F(FleetTest, ANodeThatInstallsSettingsGetsNoRunUntilItHasDoneSo) {
  v1::Hello hello = test_hello("b");
  hello.set_installing(true);
  AgentClient b(address_, hello);
  add("a");
  ASSERT_TRUE(connected({"a", "b"}));
  EXPECT_EQ(node_state("nodes/b"), v1::Node::BUSY);
  EXPECT_EQ(node("nodes/b").assignment(), "") << "by which pages distinguish it from measuring";
  ASSERT_TRUE(eventually([&] {
    b.heartbeat();
    return node_state("nodes/b") == v1::Node::IDLE;
  }));
  v1::AgentMessage installing;
  installing.mutable_heartbeat()->set_installing(true);
  ASSERT_TRUE(eventually([&] {
    b.send(installing);
    return node_state("nodes/b") == v1::Node::BUSY;
  }));
  const std::string name = created(small_spec()).name();
  ASSERT_TRUE(eventually([&] {
    b.send(installing);
    return get(name).message().find("waits for free nodes") != std::string::npos;
  }));
  b.heartbeat();
  EXPECT_TRUE(b.receive(v1::ServerMessage::kAssignment));
  v1::Campaign campaign;
  EXPECT_TRUE(cancel(name, campaign).ok());
}

TEST_F(FleetTest, HoldsOutliveTheServer) {
  add("a");
  ASSERT_TRUE(connected({"a"}));
  ASSERT_TRUE(cordon("nodes/a", "disk").ok());
  agents_.clear();
  server_.reset();
  start();
  EXPECT_EQ(node("nodes/a").hold().reason(), "disk");
}

TEST_F(FleetTest, OnlyANodeThatIsNotConnectedIsRemoved) {
  add("a");
  ASSERT_TRUE(connected({"a"}));
  EXPECT_EQ(reason_of(remove("nodes/a")), "NODE_CONNECTED");
  ASSERT_TRUE(cordon("nodes/a").ok());
  agents_.clear();
  ASSERT_TRUE(eventually([&] { return remove("nodes/a").ok(); }));
  EXPECT_EQ(reason_of(remove("nodes/a")), "NODE_NOT_FOUND");
  EXPECT_EQ(reason_of(cordon("nodes/a")), "NODE_NOT_FOUND");
  EXPECT_EQ(reason_of(remove("a")), "INVALID_FIELD");
  add("a");
  ASSERT_TRUE(connected({"a"}));
  EXPECT_FALSE(node("nodes/a").has_hold()) << "it is a new one";
}

TEST_F(FleetTest, WrongWordsAreRefused) {
  add("a");
  ASSERT_TRUE(connected({"a"}));
  EXPECT_EQ(reason_of(cordon("nodes/a", std::string(1001, 'x'))), "INVALID_FIELD");
  EXPECT_EQ(reason_of(drain("nodes/a", -1)), "INVALID_FIELD");
  EXPECT_EQ(reason_of(drain("nodes/a", std::nan(""))), "INVALID_FIELD");
}

}  // namespace
}  // namespace stripline::server
