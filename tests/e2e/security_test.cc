// The service by TLS as an administrator sets it up: real server, agents and commands.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "tests/e2e/processes.h"
#include "tests/e2e/stepped_clock.h"

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
  const Finished lost = cli(
      address(), {"token", "create", "--role", "agent", "undelivered", "-o", "/dev/null/x.token"});
  EXPECT_EQ(lost.exit_code, kExitUnavailable) << lost.err;
  EXPECT_NE(lost.err.find("/dev/null/x.token"), std::string::npos) << lost.err;
  const Finished tokens = cli(address(), {"token", "list"});
  EXPECT_EQ(tokens.exit_code, kExitOk) << tokens.err;
  EXPECT_EQ(tokens.out.find("undelivered"), std::string::npos) << tokens.out;
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

// Whoever owns the data folder lets himself in again, and the last administrator cannot shut
// himself out.
TEST_F(SecurityTest, AnAdministratorWithoutATokenIsLetInAgain) {
  const std::string data = (folder_ / "data").string();
  ASSERT_EQ(log_in(data + "/admin.token").exit_code, kExitOk);
  const auto tokens = cli_json(address(), {"token", "list"});
  const auto admin =
      std::ranges::find_if(tokens, [](const Json& token) { return token.at("role") == "ADMIN"; });
  ASSERT_NE(admin, tokens.end());
  const auto name = admin->at("name").get<std::string>();
  const Finished last = cli(address(), {"token", "revoke", name});
  EXPECT_EQ(last.exit_code, kExitConflict) << last.err;
  EXPECT_NE(last.err.find("only token of an administrator"), std::string::npos) << last.err;

  // While the server runs, without asking it.
  const std::string rescue = (folder_ / "rescue.token").string();
  const std::vector<std::string> make = {program("stripline-server"),
                                         "token",
                                         "--data-dir",
                                         data,
                                         "--role",
                                         "admin",
                                         "rescue",
                                         "-o",
                                         rescue};
  const Finished made = run_program(make);
  ASSERT_EQ(made.exit_code, kExitOk) << made.err;
  EXPECT_EQ(std::filesystem::status(rescue).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(run_program(make).exit_code, kExitUsage) << "the file is there";
  const Finished login = log_in(rescue);
  ASSERT_EQ(login.exit_code, kExitOk) << login.err;
  EXPECT_NE(login.err.find("rescue (admin), until "), std::string::npos) << login.err;
  EXPECT_EQ(cli(address(), {"token", "revoke", name}).exit_code, kExitOk);
  const Finished audit = cli(address(), {"audit"});
  EXPECT_NE(audit.out.find("local/"), std::string::npos) << audit.out;

  // One that ends soon is spoken of.
  const Finished brief = run_program({program("stripline-server"), "token", "--data-dir", data,
                                      "--role", "admin", "--valid", "3d", "brief"});
  ASSERT_EQ(log_in(secret("brief", brief.out)).exit_code, kExitOk) << brief.err;
  const Finished nodes = cli(address(), {"nodes"});
  EXPECT_NE(nodes.err.find("your token ends in 2 days"), std::string::npos) << nodes.err;
}

TEST_F(SecurityTest, NodesAreEnrolledTogether) {
  ASSERT_EQ(log_in((folder_ / "data").string() + "/admin.token").exit_code, kExitOk);
  const std::string token = (folder_ / "gpus.token").string();
  const Finished made =
      cli(address(), {"token", "create", "--role", "agent", "gpu*", "--count", "2", "-o", token});
  ASSERT_EQ(made.exit_code, kExitOk) << made.err;
  const auto first = agent("gpu1", token);
  const auto second = agent("gpu2", token);
  ASSERT_TRUE(nodes_become_idle(address(), {"gpu1", "gpu2"}, kLimit_s))
      << first->err() << second->err();
  EXPECT_EQ(agent("gpu3", token)->finish(kLimit_s).exit_code, kExitBadInput);
  const Finished tokens = cli(address(), {"token", "list"});
  EXPECT_NE(tokens.out.find("2 of 2"), std::string::npos) << tokens.out;
  const Finished nodes = cli(address(), {"nodes"});
  EXPECT_NE(nodes.out.find("CERTIFICATE"), std::string::npos) << nodes.out;
  EXPECT_NE(nodes.out.find("29 d"), std::string::npos) << nodes.out;
}

// What is needed to let the same users and nodes in again is in the backup.
TEST_F(SecurityTest, ARestoredServerKnowsItsUsers) {
  const std::string data = (folder_ / "data").string();
  const std::string copy = (folder_ / "copy.db").string();
  const Finished saved =
      run_program({program("stripline-server"), "--data-dir", data, "--backup", copy});
  ASSERT_EQ(saved.exit_code, kExitOk) << saved.err;
  const std::string token = read_file(folder_ / "data" / "admin.token");
  server_->stop();
  std::filesystem::remove_all(folder_ / "data");
  const Finished restored =
      run_program({program("stripline-server"), "--data-dir", data, "--restore", copy});
  ASSERT_EQ(restored.exit_code, kExitOk) << restored.err;
  EXPECT_NE(restored.out.find("with its certificates"), std::string::npos) << restored.out;
  server_->restart();
  ASSERT_FALSE(address().empty()) << server_->log();
  const Finished login = log_in(secret("admin", token));
  EXPECT_EQ(login.exit_code, kExitOk) << login.err << server_->log();
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

// Server and commands by TLS, with a clock that can be set.
class ClockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(initialise(folder_, {"--host", "head"}).empty());
    ServerSetup setup;
    setup.door = Door::tls;
    setup.prefix = clock_.prefix();
    server_.emplace(folder_, setup);
    ASSERT_FALSE(server_->address().empty()) << server_->log();
  }

  void start_again_after(double seconds) {
    server_->stop();
    clock_.step(seconds);
    server_->restart();
    ASSERT_FALSE(server_->address().empty()) << server_->log();
  }

  // A program whose clock is the server's.
  Finished run_there(const std::string& name, const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = clock_.prefix();
    argv.push_back(program(name));
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return run_program(std::move(argv));
  }
  Finished command_there(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--server", server_->address()});
    return run_there("stripline", arguments);
  }

  std::string data() const { return (folder_ / "data").string(); }

  TempFolder folder_;
  SteppedClock clock_{folder_};
  std::optional<ServerProcess> server_;
};

// It renews its certificate into the future, and no token is valid then. Once the clock is right
// again, everyone is let in as before.
TEST_F(ClockTest, AYearAheadLocksNoOneOutForGood) {
  const std::string token = data() + "/admin.token";
  ASSERT_EQ(cli(server_->address(), {"login", "--token-file", token}).exit_code, kExitOk);
  auto agent = start_agent(folder_, server_->address(), "a", {"--enroll", data() + "/node.token"});
  ASSERT_TRUE(nodes_become_idle(server_->address(), {"a"}, kLimit_s)) << agent->err();
  agent->process().signal(SIGTERM);
  EXPECT_EQ(agent->finish(kLimit_s).exit_code, kExitOk);

  ASSERT_NO_FATAL_FAILURE(start_again_after(366 * kDay_s));
  EXPECT_TRUE(eventually(
      [&] {
        return server_->log().find("no token of an administrator is valid") != std::string::npos;
      },
      kLimit_s))
      << server_->log();
  EXPECT_NE(command_there({"nodes"}).exit_code, kExitOk) << "the token has ended by this clock";

  ASSERT_NO_FATAL_FAILURE(start_again_after(-366 * kDay_s));
  const Finished nodes = cli(server_->address(), {"nodes"});
  EXPECT_EQ(nodes.exit_code, kExitOk) << nodes.err;
  agent = start_agent(folder_, server_->address(), "a", {});
  EXPECT_TRUE(nodes_become_idle(server_->address(), {"a"}, kLimit_s)) << agent->err();
}

TEST_F(ClockTest, AnAuthorityThatIsAboutToEndIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(start_again_after(20 * 365 * kDay_s - 60 * kDay_s));
  const std::string rescue = (folder_ / "rescue.token").string();
  const Finished made = run_there("stripline-server", {"token", "--data-dir", data(), "--role",
                                                       "admin", "rescue", "-o", rescue});
  ASSERT_EQ(made.exit_code, kExitOk) << made.err;
  const Finished login = command_there({"login", "--token-file", rescue});
  ASSERT_EQ(login.exit_code, kExitOk) << login.err << server_->log();
  const Finished nodes = command_there({"nodes"});
  EXPECT_EQ(nodes.exit_code, kExitOk) << nodes.err;
  EXPECT_NE(nodes.err.find("the server's authority ends in 59 days"), std::string::npos)
      << nodes.err;
  EXPECT_TRUE(eventually(
      [&] {
        return server_->log().find("the server's authority ends in 59 days") != std::string::npos;
      },
      kLimit_s))
      << server_->log();
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
