// Signing in by an issuer on loopback, as a command does.
#include "cli/issued_token.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <httplib.h>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing/processes.h"
#include "base/web/base64url.h"

namespace stripline::cli {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string token_until(double end_unix_s) {
  return web::to_base64url("{}") + "." + web::to_base64url(Json{{"exp", end_unix_s}}.dump()) + ".s";
}

class IssuedTokenTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    port_ = server_.bind_to_any_port("127.0.0.1");
    issuer_ = {url(), "stripline", "openid profile"};
    server_.Get("/.well-known/openid-configuration",
                [this](const httplib::Request&, httplib::Response& response) {
                  Json about = {{"issuer", url()}, {"token_endpoint", url() + "/token"}};
                  if (device_) about["device_authorization_endpoint"] = url() + "/device";
                  response.set_content(about.dump(), "application/json");
                });
    server_.Post("/device", [this](const httplib::Request& request, httplib::Response& response) {
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
  Context lasting = context(now_s() + 300);
  EXPECT_EQ(*bearer_of("head:7411", lasting), lasting.token);
  EXPECT_TRUE(asked_.empty());

  Context ending = context(now_s() + 5);
  const Context other = {"authority", "stripline-user...."};
  ASSERT_TRUE(write_contexts({"head:7411",
                              {{"head:7411", ending}, {"spare:7411", ending}, {"third:1", other}}})
                  .ok());
  const std::string next = token_until(now_s() + 300);
  answers_ = {Json{{"id_token", next}, {"refresh_token", "refresh 2"}}};
  EXPECT_EQ(*bearer_of("head:7411", ending), next);
  const auto kept = read_contexts();
  for (const char* server : {"head:7411", "spare:7411"}) {
    EXPECT_EQ(kept->servers.at(server).token, next);
    EXPECT_EQ(kept->servers.at(server).refresh_token, "refresh 2");
  }
  EXPECT_EQ(kept->servers.at("third:1").token, other.token);
  // Another process has the one from before, and finds the new one.
  Context late = context(now_s() + 5);
  EXPECT_EQ(*bearer_of("head:7411", late), next);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(IssuedTokenTest, WhatCannotBeRenewedSaysHowToSignInAgain) {
  Context ended = context(now_s() - 5);
  const auto refused = bearer_of("head:7411", ended);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find("login --oidc"), std::string::npos);
  ended.refresh_token.clear();
  EXPECT_NE(bearer_of("head:7411", ended).error().message().find("login --oidc"),
            std::string::npos);
  EXPECT_EQ(asked_.size(), 1U);
}

}  // namespace
}  // namespace stripline::cli
