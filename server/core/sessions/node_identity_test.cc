// A machine that comes under the name of another one, as the server notices it.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "server/testing/model_push.h"

namespace stripline::server {
namespace {

class NodeIdentityTest : public ModelPushTest {
 protected:
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

}  // namespace
}  // namespace stripline::server
