// How labelled versions reach nodes, and what becomes of their answers: a coordinator with agents
// that are only links.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "server/coordinator.h"
#include "server/feedback.h"
#include "server/model_actions.h"
#include "server/testing/store_fixture.h"

namespace stripline::server {
namespace {

constexpr const char* kPublisher = "users/alice";

class FakeLink final : public AgentLink {
 public:
  void send(ServerMessage message) override {
    const std::lock_guard lock(mutex_);
    if (auto* offer = std::get_if<ModelOffer>(&message)) offers_.push_back(std::move(*offer));
    if (const auto* gone = std::get_if<ModelWithdrawal>(&message)) {
      withdrawn_ += gone->fabric + " " + gone->sha256 + ": " + gone->reason;
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

 private:
  std::mutex mutex_;
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
                    const std::map<std::string, std::string>& models = {}) {
    FakeAgent agent{node};
    Hello hello;
    hello.node = node;
    hello.instance_id = "i1";
    hello.protocol_min = hello.protocol_max = kProtocolVersion;
    hello.fabrics = {"tcp"};
    hello.takes_models = takes_models;
    hello.models = models;
    const auto session = coordinator_->open_session(hello, agent.link);
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
    coordinator_->receive(agent.session,
                          ModelAck{version_name({"tcp", number}), reason.empty(), reason});
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
    const auto view = coordinator_->node(node);
    return view && !view->models.empty() ? view->models.front() : NodeModelView();
  }

  WatchHub hub_;
  Meters meters_;
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(ModelPushTest, CanariesFirstThenTheRest) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b");
  EXPECT_EQ(offered(a), "");
  ASSERT_TRUE(promote(1, "canary"));
  EXPECT_EQ(offered(a), "1");
  EXPECT_EQ(offered(b), "");
  const auto early = promote(1, "stable");
  ASSERT_FALSE(early);
  EXPECT_EQ(early.problem().reason, "GATE");
  EXPECT_NE(early.problem().message.find("nodes/a"), std::string::npos);
  answer(a, 1);
  EXPECT_TRUE(model_of("a").answer->applied);
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(b), "1");
  EXPECT_EQ(offered(a), "");
}

TEST_F(ModelPushTest, ABadCanaryNeverReachesTheRest) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b");
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(a) + offered(b), "11");
  answer(a, 1);
  answer(b, 1);
  ASSERT_TRUE(promote(2, "canary", {"b"}));
  EXPECT_EQ(offered(b), "2");
  answer(b, 2, "cpu.architecture was 'x86_64', here it is 'riscv64'");
  EXPECT_NE(model_of("b").answer->reason.find("riscv64"), std::string::npos);
  const auto refused = promote(2, "stable");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.problem().message.find("riscv64"), std::string::npos);
  // Also once the canary is over, and after a restart of the server.
  ASSERT_TRUE(rollback("canary"));
  EXPECT_EQ(offered(a), "");
  EXPECT_EQ(model_of("b").key.version, 1);
  restart();
  EXPECT_FALSE(promote(2, "stable"));
  ASSERT_TRUE(promote(3, "stable"));
}

TEST_F(ModelPushTest, ARollbackReachesEveryNode) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  ASSERT_TRUE(promote(2, "stable"));
  answer(a, 2);
  a.link->take();
  ASSERT_TRUE(rollback("stable"));
  EXPECT_EQ(offered(a), "1");
}

TEST_F(ModelPushTest, WhatIsWithdrawnGoesWhereThereIsNothingInItsPlace) {
  FakeAgent a = connect("a");
  FakeAgent b = connect("b", true, {{"tcp", "999999999999"}});  // somebody else's
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  coordinator_->close_session(b.session);
  b = connect("b", true, {{"tcp", "999999999999"}});
  withdraw(1);
  EXPECT_EQ(a.link->take_withdrawn(),
            "tcp 111111111111: models/tcp/versions/1 is withdrawn: a wrong network");
  EXPECT_EQ(b.link->take_withdrawn(), "");
  // An agent that was not there hears of it when it comes.
  FakeAgent late = connect("late", true, {{"tcp", "111111111111"}});
  coordinator_->offer_models();
  EXPECT_NE(late.link->take_withdrawn(), "");
  // What comes in its place is offered, which replaces it.
  ASSERT_TRUE(promote(2, "stable"));
  answer(late, 2);
  FakeAgent later = connect("later", true, {{"tcp", "111111111111"}});
  EXPECT_EQ(offered(later), "2");
  EXPECT_EQ(later.link->take_withdrawn(), "");
}

TEST_F(ModelPushTest, ThatAVersionDoesNotHoldIsSaidOfTheNodesThatHaveIt) {
  const FakeAgent a = connect("a");
  ASSERT_TRUE(promote(1, "stable"));
  answer(a, 1);
  EXPECT_EQ(model_of("a").unfit, "");
  Changes changes;
  changes.staled.push_back({{"tcp", 1}, "sentinels are off", 9});
  apply(changes);
  coordinator_->offer_models();
  EXPECT_EQ(model_of("a").unfit, "models/tcp/versions/1 is stale: sentinels are off");
  EXPECT_TRUE(model_of("a").answer->applied);
}

TEST_F(ModelPushTest, ReportsOfRunsAreKeptWithTheVersion) {
  const FakeAgent a = connect("a");
  model::Feedback report;
  report.model_sha256 = std::string(64, '2');
  report.program = "transpose";
  report.places = {{"t.cc:17", "get", "packed", 2, 9, 8, 1e-3, 2e-3, 1, 3e-3, 1}};
  const FeedbackReport message{model::report_text(report)};
  coordinator_->receive(a.session, message);
  coordinator_->receive(a.session, message);
  coordinator_->receive(a.session, FeedbackReport{"nonsense"});
  report.model_sha256 = std::string(64, '9');
  coordinator_->receive(a.session, FeedbackReport{model::report_text(report)});
  v1::ListFeedbackRequest request;
  request.set_parent("models/tcp");
  const auto list = list_feedback(*store_, request);
  ASSERT_TRUE(list) << list.problem().message;
  ASSERT_EQ(list->feedback_size(), 1);
  EXPECT_EQ(list->feedback(0).version(), "models/tcp/versions/2");
  EXPECT_EQ(list->feedback(0).sender(), "nodes/a");
  EXPECT_EQ(list->feedback(0).places(0).demoted_ranks(), 1U);
  EXPECT_EQ(take_feedback(*store_, "{}", kPublisher).problem().reason, "INVALID_FIELD");
  EXPECT_EQ(take_feedback(*store_, model::report_text(report), kPublisher).problem().reason,
            "MODEL_VERSION_NOT_FOUND");
  request.set_parent("models/none");
  EXPECT_EQ(list_feedback(*store_, request).problem().reason, "MODEL_NOT_FOUND");
  request.set_parent("nonsense");
  EXPECT_EQ(list_feedback(*store_, request).problem().reason, "INVALID_FIELD");
}

TEST_F(ModelPushTest, WhatANodeHasIsNotSentAgain) {
  FakeAgent a = connect("a");
  ASSERT_TRUE(promote(2, "stable"));
  EXPECT_EQ(offered(a), "2");
  answer(a, 2);
  coordinator_->close_session(a.session);
  a = connect("a", true, {{"tcp", "222222222222"}});
  EXPECT_EQ(offered(a), "");
  coordinator_->close_session(a.session);
  a = connect("a");  // somebody has removed the file
  EXPECT_EQ(offered(a), "2");
  // A node that the server knows nothing of, and that has the file.
  FakeAgent b = connect("b", true, {{"tcp", "222222222222"}});
  coordinator_->offer_models();
  const auto offers = b.link->take();
  ASSERT_EQ(offers.size(), 1U);
  EXPECT_TRUE(offers.front().content->empty());
}

TEST_F(ModelPushTest, AgentsThatTakeNoModelsGetNone) {
  FakeAgent old = connect("old", false);
  ASSERT_TRUE(promote(1, "stable"));
  EXPECT_EQ(offered(old), "");
  // An answer to what was never offered is not kept.
  coordinator_->receive(old.session, ModelAck{"models/tcp/versions/9", true, ""});
  coordinator_->receive(old.session, ModelAck{"nonsense", true, ""});
  EXPECT_TRUE(store_->node_models()->empty());
}

TEST_F(ModelPushTest, CanariesMustBeNodes) {
  connect("a");
  EXPECT_EQ(promote(1, "canary", {"nobody"}).problem().reason, "NODE_NOT_FOUND");
  EXPECT_EQ(promote(1, "stable", {"a"}).problem().reason, "INVALID_FIELD");
}

}  // namespace
}  // namespace stripline::server
