// The service by TLS as an administrator sets it up: real server, agents and commands.
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

constexpr double kLimit_s = 30;

class SecurityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    first_token_ = initialise(folder_, {"--host", "head"});
    ASSERT_FALSE(first_token_.empty());
    ServerSetup setup;
    setup.door = Door::tls;
    server_.emplace(folder_, setup);
    ASSERT_FALSE(address().empty()) << server_->log();
  }

  const std::string& address() const { return server_->address(); }
  std::string secret(const std::string& name, const std::string& text) const {
    return secret_file(folder_, name, text);
  }

  Finished log_in(const std::string& token_file) const {
    return cli(address(), {"login", "--token-file", token_file});
  }

  std::unique_ptr<Program> agent(const std::string& node, const std::string& token_file) const {
    return start_agent(folder_, address(), node, {"--enroll", token_file});
  }

  TempFolder folder_;
  std::optional<ServerProcess> server_;
  std::string first_token_;
};

TEST_F(SecurityTest, FromInitToSamples) {
  // No one is let in yet.
  const Finished stranger = cli(address(), {"nodes"});
  EXPECT_EQ(stranger.exit_code, kExitUnavailable) << stranger.err;
  EXPECT_NE(stranger.err.find("login"), std::string::npos) << stranger.err;

  const Finished login = log_in((folder_ / "data").string() + "/admin.token");
  ASSERT_EQ(login.exit_code, kExitOk) << login.err;
  EXPECT_NE(login.err.find("admin"), std::string::npos);

  const auto a = agent("a", secret("first", first_token_));
  const std::string second = (folder_ / "b.token").string();
  const Finished token = cli(address(), {"token", "create", "--role", "agent", "b", "-o", second});
  ASSERT_EQ(token.exit_code, kExitOk) << token.err;
  EXPECT_EQ(token.out, "");
  EXPECT_EQ(std::filesystem::status(second).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  const Finished lost =
      cli(address(), {"token", "create", "--role", "agent", "c", "-o", "/dev/null/c.token"});
  EXPECT_EQ(lost.exit_code, kExitUnavailable) << lost.err;
  EXPECT_NE(lost.err.find("/dev/null/c.token"), std::string::npos) << lost.err;
  const Finished tokens = cli(address(), {"token", "list"});
  EXPECT_EQ(tokens.exit_code, kExitOk) << tokens.err;
  EXPECT_EQ(tokens.out.find("c "), std::string::npos) << tokens.out;
  auto b = agent("b", second);
  ASSERT_TRUE(nodes_become_idle(address(), {"a", "b"}, kLimit_s)) << a->err() << b->err();

  const Finished campaign =
      cli(address(), {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--runs", "1",
                      "--experiment", "micro.latency", "--time-budget", "60"});
  EXPECT_EQ(campaign.exit_code, kExitOk) << campaign.err << server_->log() << a->err();

  // The last login's server needs no name.
  const Finished unnamed = run_program({program("stripline"), "nodes"});
  EXPECT_NE(unnamed.out.find("IDLE"), std::string::npos) << unnamed.out << unnamed.err;

  // A node that comes again needs no token; neither does a restarted server.
  b->process().signal(SIGTERM);
  EXPECT_EQ(b->finish(kLimit_s).exit_code, kExitOk);
  server_->stop();
  server_->restart();
  b = agent("b", second);
  ASSERT_TRUE(nodes_become_idle(address(), {"a", "b"}, kLimit_s)) << a->err() << b->err();
  EXPECT_NE(b->err().find("enrolled already"), std::string::npos) << b->err();

  // A used token enrols no one else.
  EXPECT_EQ(agent("c", secret("first", first_token_))->finish(kLimit_s).exit_code, kExitBadInput);

  EXPECT_EQ(cli(address(), {"node", "revoke", "b"}).exit_code, kExitOk);
  EXPECT_TRUE(eventually(
      [&] {
        return b->err().find("turned this agent away") != std::string::npos ||
               b->err().find("is revoked") != std::string::npos;
      },
      kLimit_s))
      << b->err();

  const Finished viewer = cli(address(), {"token", "create", "--role", "viewer", "eve"});
  ASSERT_EQ(log_in(secret("viewer", viewer.out)).exit_code, kExitOk);
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk);
  const Finished refused = cli(address(), {"audit"});
  EXPECT_EQ(refused.exit_code, kExitBadInput) << refused.err;
  EXPECT_NE(refused.err.find("viewer"), std::string::npos) << refused.err;
}

TEST_F(SecurityTest, AnotherServerGetsNoToken) {
  // A token of an authority that is not the server's.
  const std::string foreign = "stripline-user." + std::string(64, '0') + "." + std::string(43, 'A');
  const Finished login = log_in(secret("foreign", foreign));
  EXPECT_EQ(login.exit_code, kExitUnavailable) << login.err;
  EXPECT_NE(login.err.find("not accepted"), std::string::npos) << login.err;
  std::ofstream(folder_ / "open") << foreign << "\n";
  ::chmod((folder_ / "open").c_str(), 0644);
  const Finished open = log_in((folder_ / "open").string());
  EXPECT_NE(open.err.find("chmod 600"), std::string::npos) << open.err;
}

TEST(DevServer, IsForItsOwnUserOnly) {
  const TempFolder folder;
  const ServerProcess server(folder, {});
  EXPECT_EQ(cli(server.address(), {"nodes"}).exit_code, kExitOk);
  // Another user finds no file.
  const Finished other = run_program({program("stripline"), "--server", server.address(), "nodes"},
                                     kLimit_s, {{"XDG_STATE_HOME", (folder / "other").string()}});
  EXPECT_NE(other.exit_code, kExitOk) << other.out;
  EXPECT_TRUE(other.out.empty());
}

}  // namespace
}  // namespace stripline::e2e
