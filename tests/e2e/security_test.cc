// The service by TLS as an administrator sets it up: real server, agents and commands.
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
    // Homes of their own for what programs keep.
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}) {
      ::setenv(name, (folder_ / name).c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    }
    const Finished init =
        run_program({program("stripline-server"), "init", "--data-dir", data(), "--host", "head"});
    ASSERT_EQ(init.exit_code, kExitOk) << init.err;
    // "echo TOKEN | stripline-agent --server HEAD:7411 --enroll -"
    const size_t begin = init.out.find("stripline-node.");
    first_token_ = init.out.substr(begin, init.out.find(' ', begin) - begin);
    start("127.0.0.1:0");
  }

  void start(const std::string& listen) {
    std::filesystem::remove(folder_ / "port");
    server_.emplace(
        folder_, "server",
        std::vector<std::string>{program("stripline-server"), "--listen", listen, "--data-dir",
                                 data(), "--port-file", (folder_ / "port").string(), "--heartbeat",
                                 "0.3", "--lease", "2"});
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ / "port"); }, kLimit_s))
        << server_->err();
    std::ifstream(folder_ / "port") >> address_;
  }

  std::string data() const { return (folder_ / "data").string(); }

  std::string secret_file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text << "\n";
    ::chmod((folder_ / name).c_str(), 0600);
    return (folder_ / name).string();
  }

  Finished log_in(const std::string& token_file) const {
    return cli(address_, {"login", "--token-file", token_file});
  }

  std::unique_ptr<Program> agent(const std::string& node, std::vector<std::string> options) const {
    std::vector<std::string> argv{program("stripline-agent"), "--server", address_, "--node", node};
    argv.insert(argv.end(), options.begin(), options.end());
    return std::make_unique<Program>(folder_, "agent-" + node, argv);
  }

  TempFolder folder_;
  std::optional<Program> server_;
  std::string address_;
  std::string first_token_;
};

TEST_F(SecurityTest, FromInitToSamples) {
  // Nobody is let in yet.
  const Finished stranger = cli(address_, {"nodes"});
  EXPECT_EQ(stranger.exit_code, kExitUnavailable) << stranger.err;
  EXPECT_NE(stranger.err.find("login"), std::string::npos) << stranger.err;

  const Finished login = log_in((folder_ / "data").string() + "/admin.token");
  ASSERT_EQ(login.exit_code, kExitOk) << login.err;
  EXPECT_NE(login.err.find("admin"), std::string::npos);

  const auto a = agent("a", {"--enroll", secret_file("first", first_token_)});
  const Finished token = cli(address_, {"token", "create", "--role", "agent", "b"});
  ASSERT_EQ(token.exit_code, kExitOk) << token.err;
  auto b = agent("b", {"--enroll", secret_file("second", token.out)});
  ASSERT_TRUE(nodes_become_idle(address_, {"a", "b"}, kLimit_s)) << a->err() << b->err();

  const Finished campaign =
      cli(address_, {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--runs", "1",
                     "--experiment", "micro.latency", "--time-budget", "60"});
  EXPECT_EQ(campaign.exit_code, kExitOk) << campaign.err << server_->err() << a->err();

  // The last login's server needs no name.
  const Finished unnamed = run_program({program("stripline"), "nodes"});
  EXPECT_NE(unnamed.out.find("IDLE"), std::string::npos) << unnamed.out << unnamed.err;

  // A node that comes again needs no token; neither does a restarted server.
  b->process().signal(SIGTERM);
  EXPECT_EQ(b->finish(kLimit_s).exit_code, kExitOk);
  server_->process().signal(SIGTERM);
  (void)server_->finish(kLimit_s);
  start(address_);
  b = agent("b", {"--enroll", secret_file("second", token.out)});
  ASSERT_TRUE(nodes_become_idle(address_, {"a", "b"}, kLimit_s)) << a->err() << b->err();
  EXPECT_NE(b->err().find("enrolled already"), std::string::npos) << b->err();

  // A used token enrols nobody else.
  EXPECT_EQ(
      agent("c", {"--enroll", secret_file("first", first_token_)})->finish(kLimit_s).exit_code,
      kExitBadInput);

  EXPECT_EQ(cli(address_, {"node", "revoke", "b"}).exit_code, kExitOk);
  EXPECT_TRUE(eventually(
      [&] {
        return b->err().find("turned this agent away") != std::string::npos ||
               b->err().find("is revoked") != std::string::npos;
      },
      kLimit_s))
      << b->err();

  const Finished viewer = cli(address_, {"token", "create", "--role", "viewer", "eve"});
  ASSERT_EQ(log_in(secret_file("viewer", viewer.out)).exit_code, kExitOk);
  EXPECT_EQ(cli(address_, {"nodes"}).exit_code, kExitOk);
  const Finished refused = cli(address_, {"audit"});
  EXPECT_EQ(refused.exit_code, kExitBadInput) << refused.err;
  EXPECT_NE(refused.err.find("viewer"), std::string::npos) << refused.err;
}

TEST_F(SecurityTest, AnotherServerGetsNoToken) {
  // A token of an authority that is not the server's.
  const std::string foreign = "stripline-user." + std::string(64, '0') + "." + std::string(43, 'A');
  const Finished login = log_in(secret_file("foreign", foreign));
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
