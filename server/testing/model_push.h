// A coordinator with agents that are only links, and versions of a model to label: which of them
// reach whom.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/core/coordinator.h"
#include "server/core/models/model_actions.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {

inline constexpr const char* kPublisher = "users/alice";

class FakeLink final : public AgentLink {
 public:
  void send(ServerMessage message) override {
    const std::lock_guard lock(mutex_);
    if (auto* offer = std::get_if<ModelOffer>(&message)) offers_.push_back(std::move(*offer));
    if (const auto* gone = std::get_if<ModelWithdrawal>(&message)) {
      withdrawn_ += gone->fabric + " " + gone->sha256 + ": " + gone->reason;
      changed_.notify_all();
    }
  }
  void close(const Problem& /*problem*/) override {}

  std::vector<ModelOffer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(offers_, {});
  }
  std::string take_withdrawn() {
    const std::lock_guard lock(mutex_);
    return std::exchange(withdrawn_, {});
  }
  // Once there is something.
  std::string wait_for_withdrawn() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return !withdrawn_.empty(); });
    return std::exchange(withdrawn_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ModelOffer> offers_;
  std::string withdrawn_;
};

// An agent of a node, with its session.
struct FakeAgent {
  std::string node;
  std::shared_ptr<FakeLink> link = std::make_shared<FakeLink>();
  uint64_t session = 0;
};

class ModelPushTest : public StoreTest {
 protected:
  void SetUp() override {
    StoreTest::SetUp();
    for (int64_t number = 1; number <= 3; ++number) publish(number);
    restart();
  }
  void TearDown() override { coordinator_.reset(); }

  void restart() {
    coordinator_.reset();
    coordinator_ =
        std::make_unique<Coordinator>(*store_, hub_, meters_, fit_in_process, CoordinatorOptions());
    ASSERT_TRUE(coordinator_->start().ok());
  }

  void publish(int64_t number) {
    NewModelVersion version;
    version.record.key = {"tcp", number};
    version.record.sha256 = std::string(64, static_cast<char>('0' + number));
    version.fabric = "tcp";
    version.content = "{" + std::to_string(number) + "}";
    Changes changes;
    changes.versions.push_back(version);
    changes.validations.push_back({{"tcp", number}, 5, {}, {9, 0.02, 0.03, 10, 0.01, 0.01}});
    apply(changes);
  }

  FakeAgent connect(const std::string& node, bool takes_models = true,
                    const std::map<std::string, std::string>& models = {},
                    const std::vector<std::string>& fabrics = {"tcp"},
                    const std::string& cluster = "") {
    FakeAgent agent{node};
    Hello hello;
    hello.node = node;
    hello.instance_id = "i1";
    hello.fabrics = fabrics;
    if (takes_models) hello.models = models;
    hello.cluster = cluster;
    const auto session = coordinator_->sessions().open_session(hello, agent.link);
    EXPECT_TRUE(session) << session.problem().message;
    agent.session = *session;
    return agent;
  }

  // What it has been offered by now: "2", or nothing.
  std::string offered(FakeAgent& agent) {
    coordinator_->offer_models();
    std::string text;
    for (const ModelOffer& offer : agent.link->take()) {
      text += offer.version.substr(offer.version.rfind('/') + 1);
      EXPECT_EQ(offer.fabric, "tcp");
      EXPECT_TRUE(offer.content->empty() || *offer.content == "{" + text + "}");
    }
    return text;
  }

  void answer(const FakeAgent& agent, int64_t number, const std::string& reason = "") {
    coordinator_->sessions().receive(
        agent.session, ModelAck{version_name({"tcp", number}), reason.empty(), reason});
  }

  Answer<v1::ModelVersion> promote(int64_t number, const std::string& label,
                                   const std::vector<std::string>& nodes = {}) {
    v1::PromoteModelVersionRequest request;
    request.set_name(version_name({"tcp", number}));
    request.set_label(label);
    for (const std::string& node : nodes) request.add_nodes(node_name(node));
    return promote_model(*coordinator_, *store_, request, kPublisher);
  }

  Answer<v1::ModelVersion> rollback(const std::string& label) {
    v1::RollbackModelLabelRequest request;
    request.set_name("models/tcp/labels/" + label);
    return rollback_label(*coordinator_, *store_, request, kPublisher);
  }

  void withdraw(int64_t number) {
    v1::WithdrawModelVersionRequest request;
    request.set_name(version_name({"tcp", number}));
    request.set_reason("a wrong network");
    ASSERT_TRUE(withdraw_model(*coordinator_, *store_, request, kPublisher));
  }

  NodeModelView model_of(const std::string& node) {
    const auto view = coordinator_->fleet().node(node);
    return view && !view->models.empty() ? view->models.front() : NodeModelView();
  }

  WatchHub hub_;
  Meters meters_;
  std::unique_ptr<Coordinator> coordinator_;
};

}  // namespace stripline::server
