// People of an OpenID Connect issuer as they sign in: a real server, the real command, an issuer on
// loopback with keys, the device flow and the authorization code flow.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <httplib.h>
#include <memory>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/exit_codes.h"
#include "server/testing/fake_issuer.h"
#include "server/testing/http_client.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

constexpr double kLimit_s = 60;

size_t lines_of(const std::string& text) {
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

class PeopleTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_FALSE(initialise(folder_).empty()); }

  // A server that lets three groups in.
  void start() {
    ServerSetup setup;
    setup.door = Door::tls;
    for (const std::string& option : std::vector<std::string>{
             "--oidc-issuer", issuer_->url(), "--oidc-client-id", issuer_->client_id,
             "--oidc-roles", "admin=admins,operator=staff,viewer=users", "--http-listen",
             "127.0.0.1:0"}) {
      setup.options.push_back(option);
    }
    server_.emplace(folder_, setup);
    ASSERT_FALSE(address().empty()) << server_->log();
  }
  // Once the server has asked the issuer.
  void start_with_keys() {
    start();
    ASSERT_TRUE(
        eventually([&] { return lines_with(server_->log(), "people sign in by") > 0; }, kLimit_s))
        << server_->log();
  }

  const std::string& address() const { return server_->address(); }
  std::string authority() const { return (folder_ / "data" / "tls" / "authority.pem").string(); }
  Finished sign_in() const {
    return cli(address(), {"login", "--oidc", "--authority", authority()});
  }
  std::filesystem::path logins() const {
    return folder_ / "XDG_CONFIG_HOME" / "stripline" / "config.toml";
  }
  // What the command says besides where to sign in.
  static std::string last_line(const Finished& finished) {
    const size_t end = finished.err.find_last_not_of('\n');
    if (end == std::string::npos) return "";
    const size_t before = finished.err.rfind('\n', end);
    return finished.err.substr(before == std::string::npos ? 0 : before + 1);
  }
  static void expect_says(const Finished& finished, int exit_code, const std::string& part) {
    EXPECT_EQ(finished.exit_code, exit_code) << finished.err;
    EXPECT_NE(last_line(finished).find(part), std::string::npos) << finished.err;
  }
  void expect_no_secret_in(const std::string& text) const {
    for (const std::string& secret : issuer_->secrets()) {
      EXPECT_EQ(text.find(secret), std::string::npos) << secret;
    }
  }

  TempFolder folder_;
  std::unique_ptr<server::oidc::FakeIssuer> issuer_ = std::make_unique<server::oidc::FakeIssuer>();
  std::optional<ServerProcess> server_;
};

TEST_F(PeopleTest, GroupsGiveRoles) {
  start_with_keys();
  // A node that is not there: who may not act does not hear that.
  const std::vector<std::string> act = {"node", "cordon", "n1"};
  struct Expected {
    const char* name;
    Json groups;
    const char* role;
    int acts;
    int administers;
  };
  for (const Expected& one :
       {Expected{"vera", {"users", "others"}, "viewer", kExitBadInput, kExitBadInput},
        Expected{"otto", {"users", "staff"}, "operator", kExitUsage, kExitBadInput},
        Expected{"anna", "admins", "admin", kExitUsage, kExitOk}}) {
    issuer_->sign_in(one.name, one.groups);
    const Finished login = sign_in();
    const std::string who = "users/oidc:" + std::string(one.name) + " (" + one.role + ")";
    expect_says(login, kExitOk, "signed in to " + address() + " as " + who);
    EXPECT_NE(login.err.find(issuer_->url() + "/activate"), std::string::npos) << login.err;
    EXPECT_NE(login.err.find("ABCD-EFGH"), std::string::npos) << login.err;
    EXPECT_EQ(std::filesystem::status(logins()).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    // The server is the one of the last login, and its authority is known from now on.
    EXPECT_EQ(run_program({program("stripline"), "nodes"}).exit_code, kExitOk);
    EXPECT_EQ(cli(address(), act).exit_code, one.acts);
    const Finished made = cli(address(), {"token", "create", "--role", "viewer", "machine"});
    EXPECT_EQ(made.exit_code, one.administers) << made.err;
    if (one.administers != kExitOk) {
      EXPECT_NE(made.err.find("oidc:" + std::string(one.name)), std::string::npos) << made.err;
    }
    expect_no_secret_in(login.err + login.out + made.err);
  }
  // The audit trail names the person who has made the token.
  const auto audit = cli_json(address(), {"audit"});
  EXPECT_TRUE(std::ranges::any_of(
      audit, [](const Json& event) { return event.value("actor", "") == "users/oidc:anna"; }));
  expect_says(cli(address(), {"login", "--oidc"}), kExitOk, "oidc:anna (admin)");
  EXPECT_EQ(cli(address(), {"logout"}).exit_code, kExitOk);
  EXPECT_EQ(read_file(logins()).find("refresh"), std::string::npos);
  expect_says(cli(address(), {"login", "--oidc"}), kExitUsage, "--authority");
  expect_no_secret_in(server_->log());
}

TEST_F(PeopleTest, WhoHasNoRoleIsRefusedInOneLine) {
  start_with_keys();
  issuer_->sign_in("eve", {"others"});
  const Finished stranger = sign_in();
  expect_says(stranger, kExitBadInput, "users/oidc:eve is in no group that has a role here");
  EXPECT_EQ(lines_of(stranger.err), 4U) << "three of where to sign in: " << stranger.err;
  EXPECT_FALSE(std::filesystem::exists(logins())) << "nothing is kept";
  issuer_->sign_in("eve", {}, {{"groups", nullptr}});
  expect_says(sign_in(), kExitBadInput, "no claim 'groups'");
  // More groups than fit into what a server reads.
  Json many = Json::array({"users"});
  while (many.size() < 2000) many.push_back("group-" + std::to_string(many.size()));
  issuer_->sign_in("eve", many);
  const Finished refused = sign_in();
  expect_says(refused, kExitBadInput, "at most 8192");
  EXPECT_EQ(lines_of(refused.err), 4U) << refused.err;
  // Fewer, which fill it nearly.
  many.erase(many.begin() + 400, many.end());
  issuer_->sign_in("eve", many);
  expect_says(sign_in(), kExitOk, "oidc:eve (viewer)");
  // The operator sees who was turned away.
  EXPECT_GT(lines_with(server_->log(), "oidc:eve is in no group"), 0U) << server_->log();
}

TEST_F(PeopleTest, ATokenThatHasEndedIsRefusedOrRenewed) {
  start_with_keys();
  issuer_->sign_in("vera", "users", {{"exp", unix_seconds() - 100}});
  const Finished ended = sign_in();
  expect_says(ended, kExitBadInput, "has expired at");
  EXPECT_EQ(lines_of(ended.err), 4U) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(logins()));

  // One that ends soon is renewed before.
  issuer_->sign_in("vera", "users", {{"exp", unix_seconds() + 15}});
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  EXPECT_EQ(issuer_->renewals, 0) << "what was issued a moment ago is kept as it is";
  issuer_->sign_in("vera", "admins");
  EXPECT_EQ(cli(address(), {"token", "list"}).exit_code, kExitOk) << "with the groups of now";
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk);
  EXPECT_EQ(issuer_->renewals, 1);

  // One of several commands renews it: a refresh token counts once.
  issuer_->sign_in("vera", "users", {{"exp", unix_seconds() + 15}});
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  issuer_->sign_in("vera", "users");
  std::vector<std::future<Finished>> commands;
  for (int i = 0; i < 6; ++i) {
    commands.push_back(
        std::async(std::launch::async, [this] { return cli(address(), {"nodes"}); }));
  }
  for (auto& command : commands) {
    const Finished finished = command.get();
    EXPECT_EQ(finished.exit_code, kExitOk) << finished.err;
  }
  EXPECT_EQ(issuer_->renewals, 2);

  // The issuer has ended the sign-in.
  issuer_->sign_in("vera", "users", {{"exp", unix_seconds() + 15}});
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  issuer_->end_sign_ins();
  const Finished over = cli(address(), {"nodes"});
  expect_says(over, kExitBadInput, "'stripline login --oidc --server " + address());
  EXPECT_EQ(lines_of(over.err), 1U) << over.err;

  // Without a refresh token the login is as long as the token, and says so.
  issuer_->give_refresh_tokens(false);
  issuer_->sign_in("vera", "users", {{"exp", unix_seconds() + 3000}});
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer), until ");
  std::string text = read_file(logins());
  const std::string ends = issuer_->token("vera", "users", {{"exp", unix_seconds() - 100}});
  const size_t at = text.find("ey", text.find("token = "));
  ASSERT_NE(at, std::string::npos);
  text.replace(at, text.find_first_of("'\"", at) - at, ends);
  std::ofstream(logins()) << text;
  const Finished past = cli(address(), {"nodes"});
  expect_says(past, kExitBadInput, "has expired at");
  EXPECT_NE(past.err.find("login --oidc"), std::string::npos) << past.err;
  expect_no_secret_in(server_->log());
}

TEST_F(PeopleTest, KeysThatRotateAreFetched) {
  start_with_keys();
  issuer_->sign_in("vera", "users");
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  // The server has not seen the new key, and the person need not try again.
  issuer_->rotate();
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk);
  // A login of the time before counts no more, and is renewed as soon as it ends.
  issuer_->rotate();
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");
  issuer_->rotate();
  issuer_->sign_in("otto", "staff");
  const std::string own = read_file(logins());
  expect_says(sign_in(), kExitOk, "oidc:otto (operator)");
  std::ofstream(logins()) << own;
  expect_says(cli(address(), {"nodes"}), kExitBadInput, "a key that the issuer had not published");
}

TEST_F(PeopleTest, WhileTheIssuerIsDownOwnTokensCount) {
  issuer_->set_down(true);
  start();
  const Finished own =
      cli(address(), {"login", "--token-file", (folder_ / "data" / "admin.token").string()});
  ASSERT_EQ(own.exit_code, kExitOk) << own.err;
  ASSERT_TRUE(
      eventually([&] { return lines_with(server_->log(), "cannot be asked") > 0; }, kLimit_s));
  const Finished nodes = cli(address(), {"nodes"});
  EXPECT_EQ(nodes.exit_code, kExitOk);
  EXPECT_NE(nodes.err.find("the issuer " + issuer_->url() + " cannot be asked"), std::string::npos)
      << nodes.err;
  Finished refused = sign_in();
  expect_says(refused, kExitUnavailable, "answers 503");
  EXPECT_EQ(lines_of(refused.err), 1U) << refused.err;
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk) << "the login from before is kept";

  // It comes back, without a restart of the server.
  issuer_->set_down(false);
  ASSERT_TRUE(
      eventually([&] { return lines_with(server_->log(), "people sign in by") > 0; }, kLimit_s));
  issuer_->sign_in("vera", "users");
  expect_says(sign_in(), kExitOk, "oidc:vera (viewer)");

  // Logins that were made before go on while it is gone for good; others say why they fail.
  const std::string url = issuer_->url();
  issuer_.reset();
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk);
  refused = sign_in();
  expect_says(refused, kExitUnavailable, "cannot connect");
  EXPECT_EQ(lines_of(refused.err), 1U) << refused.err;
  EXPECT_EQ(cli(address(), {"nodes"}).exit_code, kExitOk);
  server_->stop();
  EXPECT_EQ(lines_with(server_->log(), "[critical]"), 0U);
}

TEST_F(PeopleTest, ABrowserSignsInAndTheLogSaysWho) {
  start_with_keys();
  issuer_->sign_in("otto", "staff");
  ASSERT_TRUE(eventually([&] { return lines_with(server_->log(), "dashboard on") > 0; }, kLimit_s));
  const std::string log = server_->log();
  const size_t begin = log.find("https://", log.find("dashboard on"));
  ASSERT_NE(begin, std::string::npos) << log;
  const std::string page = log.substr(begin, log.find_first_of("/\n", begin + 8) - begin);
  httplib::Client browser = server::http_client(page);
  browser.set_ca_cert_path(authority());
  const auto sent = browser.Get("/login");
  ASSERT_TRUE(sent) << httplib::to_string(sent.error());
  ASSERT_EQ(sent->status, 303) << sent->body;
  const auto cookie = [](const httplib::Result& answer) {
    const std::string text = answer->get_header_value("Set-Cookie");
    return httplib::Headers{{"Cookie", text.substr(0, text.find(';'))}};
  };
  const std::string back = issuer_->visit(sent->get_header_value("Location"));
  ASSERT_TRUE(back.starts_with(page + "/login/callback?")) << back;
  const auto done = browser.Get(back.substr(page.size()), cookie(sent));
  ASSERT_TRUE(done);
  ASSERT_EQ(done->status, 303) << done->body;
  const auto who = browser.Get("/api/v1/whoami", cookie(done));
  ASSERT_TRUE(who);
  EXPECT_EQ(who->status, 200) << who->body;
  EXPECT_NE(who->body.find("users/oidc:otto"), std::string::npos) << who->body;
  EXPECT_EQ(lines_with(server_->log(), "users/oidc:otto signs in from 127.0.0.1, as operator"), 1U)
      << server_->log();
  // Somebody without a role, whose code is taken and whose name is shown as text.
  issuer_->sign_in("<b>eve", {"others"});
  const auto again = browser.Get("/login");
  const auto refused = browser.Get(
      issuer_->visit(again->get_header_value("Location")).substr(page.size()), cookie(again));
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(lines_with(server_->log(), "refused /login/callback from 127.0.0.1"), 1U)
      << server_->log();
  expect_no_secret_in(server_->log());
  const std::string session = done->get_header_value("Set-Cookie");
  const size_t value = session.find('=') + 1;
  EXPECT_EQ(server_->log().find(session.substr(value, session.find(';') - value)),
            std::string::npos);
}

}  // namespace
}  // namespace stripline::e2e
