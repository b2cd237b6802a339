// Signing in by an issuer on loopback, as a command does.
#include "cli/issued_token.h"

#include <atomic>
#include <cstdlib>
#include <httplib.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/testing/processes.h"
#include "base/web/base64url.h"

namespace stripline::cli {
namespace {

std::string token_until(double end_unix_s) {
  return web::to_base64url("{}") + "." + web::to_base64url(Json{{"exp", end_unix_s}}.dump()) + ".s";
}

class IssuedTokenTest : public testing::Test {
 protected:
  void SetUp() override {
    server_.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          const bool is_down =
              is_down_ || (request.path == "/token" && unavailable_ > 0 && unavailable_-- > 0);
          if (!is_down) return httplib::Server::HandlerResponse::Unhandled;
          response.status = 503;
          response.set_content("<html>", "text/html");
          return httplib::Server::HandlerResponse::Handled;
        });
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    port_ = server_.bind_to_any_port("127.0.0.1");
    issuer_ = {url(), "stripline", "openid profile"};
    server_.Get("/.well-known/openid-configuration",
                [this](const httplib::Request&, httplib::Response& response) {
                  Json about = {{"issuer", url()}, {"token_endpoint", url() + "/token"}};
                  if (device_) about["device_authorization_endpoint"] = url() + "/device";
                  response.set_content(about.dump(), "application/json");
                });
    server_.Post("/device", [](const httplib::Request& request, httplib::Response& response) {
      EXPECT_EQ(request.get_param_value("client_id"), "stripline");
      EXPECT_EQ(request.get_param_value("scope"), "openid profile");
      const Json code = {{"device_code", "d c"},
                         {"user_code", "ABCD-EFGH"},
                         {"verification_uri", "https://i/device"},
                         {"interval", 1},
                         {"expires_in", 10}};
      response.set_content(code.dump(), "application/json");
    });
    server_.Post("/token", [this](const httplib::Request& request, httplib::Response& response) {
      asked_.push_back(request.params.begin()->second);
      const bool by_device = request.has_param("device_code");
      EXPECT_EQ(request.get_param_value(by_device ? "device_code" : "refresh_token"),
                by_device ? "d c" : "refresh 1");
      const Json said = answers_.empty() ? Json{{"error", "expired_token"}} : answers_.front();
      if (!answers_.empty()) answers_.erase(answers_.begin());
      response.status = said.contains("error") ? 400 : 200;
      response.set_content(said.dump(), "application/json");
    });
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  Result<IssuedToken> signed_in() {
    return sign_in_by_device(
        issuer_, [this](const DeviceCode& code) { codes_.push_back(code); },
        [this](double seconds) { pauses_.push_back(seconds); });
  }
  Context context(double end_unix_s) const {
    return {"authority", token_until(end_unix_s), url(), "stripline", "refresh 1"};
  }

  TempFolder folder_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  bool device_ = true;
  std::atomic<bool> is_down_ = false;
  std::atomic<int> unavailable_ = 0;  // the number of requests for a token that it does not answer
  IssuerOfServer issuer_;
  std::vector<Json> answers_;
  std::vector<std::string> asked_;
  std::vector<DeviceCode> codes_;
  std::vector<double> pauses_;
};

TEST_F(IssuedTokenTest, WaitsUntilTheUserHasSignedIn) {
  answers_ = {Json{{"error", "authorization_pending"}}, Json{{"error", "slow_down"}},
              Json{{"id_token", "t"}, {"refresh_token", "r"}}};
  const auto issued = signed_in();
  ASSERT_TRUE(issued.ok()) << issued.error().message();
  EXPECT_EQ(issued->token, "t");
  EXPECT_EQ(issued->refresh_token, "r");
  ASSERT_EQ(codes_.size(), 1U);
  EXPECT_EQ(codes_[0].url, "https://i/device");
  EXPECT_EQ(codes_[0].code, "ABCD-EFGH");
  EXPECT_EQ(pauses_, (std::vector<double>{1, 1, 6}));
}

TEST_F(IssuedTokenTest, EndsWhenItIsRefusedOrTakesTooLong) {
  answers_ = {Json{{"error", "access_denied"}}};
  EXPECT_EQ(signed_in().error().code(), ErrorCode::failed_precondition);
  answers_.assign(100, Json{{"error", "authorization_pending"}});
  pauses_.clear();
  EXPECT_NE(signed_in().error().message().find("no one has signed in"), std::string::npos);
  EXPECT_EQ(pauses_.size(), 10U);
  device_ = false;
  EXPECT_NE(signed_in().error().message().find("no device flow"), std::string::npos);
  answers_.clear();
  issuer_.url += "/";
  EXPECT_EQ(signed_in().error().code(), ErrorCode::data_loss) << "it calls itself otherwise";
}

TEST_F(IssuedTokenTest, ATokenIsRenewedBeforeItEnds) {
  EXPECT_EQ(end_unix_s("none"), 0);
  EXPECT_EQ(end_unix_s(token_until(7)), 7);
  Context lasting = context(unix_seconds() + 300);
  EXPECT_EQ(*bearer_of("head:7411", lasting), lasting.token);
  EXPECT_TRUE(asked_.empty());

  Context ending = context(unix_seconds() + 5);
  const Context other = {"authority", "stripline-user...."};
  ASSERT_TRUE(write_contexts({"head:7411",
                              {{"head:7411", ending}, {"spare:7411", ending}, {"third:1", other}}})
                  .ok());
  const std::string next = token_until(unix_seconds() + 300);
  answers_ = {Json{{"id_token", next}, {"refresh_token", "refresh 2"}}};
  EXPECT_EQ(*bearer_of("head:7411", ending), next);
  const auto kept = read_contexts();
  for (const char* server : {"head:7411", "spare:7411"}) {
    EXPECT_EQ(kept->servers.at(server).token, next);
    EXPECT_EQ(kept->servers.at(server).refresh_token, "refresh 2");
  }
  EXPECT_EQ(kept->servers.at("third:1").token, other.token);
  // Another process has the one from before, and finds the new one.
  Context late = context(unix_seconds() + 5);
  EXPECT_EQ(*bearer_of("head:7411", late), next);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(IssuedTokenTest, WhatCannotBeRenewedSaysHowToSignInAgain) {
  Context ended = context(unix_seconds() - 5);
  const auto refused = bearer_of("head:7411", ended);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("login --oidc"), std::string::npos);
  EXPECT_EQ(asked_.size(), 1U);
  // Some issuers send no other ID token.
  answers_ = {Json{{"access_token", "a"}}};
  const auto without = bearer_of("head:7411", ended);
  ASSERT_FALSE(without.ok());
  EXPECT_NE(without.error().message().find("no ID token"), std::string::npos);
  EXPECT_NE(without.error().message().find("login --oidc"), std::string::npos);
}

TEST_F(IssuedTokenTest, WhileTheIssuerIsDownItIsSaidAndTriedAgain) {
  is_down_ = true;
  Context ended = context(unix_seconds() - 5);
  const auto refused = bearer_of("head:7411", ended);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::unavailable);
  EXPECT_NE(refused.error().message().find("503"), std::string::npos);
  EXPECT_EQ(refused.error().message().find("login --oidc"), std::string::npos)
      << "it would help as little";
  EXPECT_EQ(signed_in().error().code(), ErrorCode::unavailable);

  // It is down for a moment while the user signs in.
  is_down_ = false;
  unavailable_ = 2;
  answers_ = {Json{{"id_token", "t"}}};
  const auto issued = signed_in();
  ASSERT_TRUE(issued.ok()) << issued.error().message();
  EXPECT_EQ(pauses_, (std::vector<double>{1, 2, 4}));
  unavailable_ = 100;
  pauses_.clear();
  EXPECT_EQ(signed_in().error().code(), ErrorCode::unavailable);
  EXPECT_LE(pauses_.size(), 5U);
}

TEST_F(IssuedTokenTest, WhatServersWouldNotReadIsRefused) {
  answers_ = {Json{{"id_token", std::string(8193, 'a')}}};
  const auto issued = signed_in();
  ASSERT_FALSE(issued.ok());
  EXPECT_NE(issued.error().message().find("at most 8192"), std::string::npos);
  EXPECT_LT(issued.error().message().size(), 300U);
}

TEST_F(IssuedTokenTest, OneOfSeveralProcessesAsksTheIssuer) {
  const Context ending = context(unix_seconds() + 5);
  ASSERT_TRUE(write_contexts({"head:7411", {{"head:7411", ending}}}).ok());
  const std::string next = token_until(unix_seconds() + 300);
  // Whoever shows the used one is refused.
  answers_ = {Json{{"id_token", next}, {"refresh_token", "refresh 2"}}};
  std::vector<std::thread> others;
  std::vector<std::string> shown(8);
  for (std::string& one : shown) {
    others.emplace_back([&one, ending] {
      Context own = ending;
      const auto bearer = bearer_of("head:7411", own);
      one = bearer.ok() ? *bearer : bearer.error().message();
    });
  }
  for (std::thread& other : others) other.join();
  EXPECT_EQ(shown, std::vector<std::string>(8, next));
  EXPECT_EQ(asked_.size(), 1U);
}

}  // namespace
}  // namespace stripline::cli
