// A machine that comes under the name of another one, as the server notices it.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include "server/testing/model_push.h"

namespace stripline::server {
namespace {

class NodeIdentityTest : public ModelPushTest {
 protected:
  // While no thread of the coordinator or of the store uses the log.
  void SetUp() override {
    spdlog::default_logger()->sinks().push_back(log_);
    ModelPushTest::SetUp();
  }
  void TearDown() override {
    ModelPushTest::TearDown();
    store_.reset();
    spdlog::default_logger()->sinks().pop_back();
  }

  // The agent of nodes/a, which comes again.
  void connect_as(const std::string& processor, const std::string& boot) {
    Hello hello;
    hello.node = "a";
    hello.instance_id = "i1";
    hello.fabrics = {"tcp"};
    hello.fingerprint = {{"cpu.model", processor}, {"host.boot", boot}};
    const auto session = coordinator_->sessions().open_session(hello, std::make_shared<FakeLink>());
    ASSERT_TRUE(session) << session.problem().message;
  }
  bool has_counted(const std::string& changes) const {
    return meters_.text().find("\nstripline_nodes_changed_total " + changes + "\n") !=
           std::string::npos;
  }
  // Lines of the log with this text.
  int64_t has_logged(const std::string& text) const {
    const std::vector<std::string> lines = log_->last_formatted();
    return std::ranges::count_if(
        lines, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

  const std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> log_ =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(100);
};

TEST_F(NodeIdentityTest, AnotherMachineUnderItsNameIsCounted) {
  connect_as("A", "1");
  connect_as("A", "1");
  EXPECT_TRUE(has_counted("0")) << meters_.text();
  connect_as("B", "1");
  EXPECT_TRUE(has_counted("1")) << meters_.text();
  connect_as("B", "2");  // or its host was restarted
  EXPECT_TRUE(has_counted("2")) << meters_.text();
}

TEST_F(NodeIdentityTest, AnotherMachineUnderItsNameIsLogged) {
  connect_as("A", "1");
  connect_as("A", "1");
  EXPECT_EQ(has_logged("than before"), 0);
  connect_as("B", "1");
  EXPECT_EQ(has_logged("nodes/a is another machine than before: cpu.model was 'A' and is 'B'"), 1);
  connect_as("B", "2");
  EXPECT_EQ(has_logged("nodes/a is on another host than before, or its host was restarted"), 1);
  EXPECT_EQ(has_logged("than before"), 2);
}

}  // namespace
}  // namespace stripline::server
