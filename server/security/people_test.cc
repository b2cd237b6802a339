#include "server/security/people.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "server/clock.h"
#include "server/security/people_options.h"
#include "server/testing/fake_issuer.h"

namespace stripline::server {
namespace {

TEST(RoleRulesTest, TheHighestRoleCounts) {
  const auto rules = parse_role_rules("admin=hpc-admins, operator=hpc-staff,operator=x,viewer=*");
  ASSERT_TRUE(rules.ok());
  EXPECT_EQ(role_of(*rules, {}), Role::viewer);
  EXPECT_EQ(role_of(*rules, {"hpc-staff"}), Role::operator_);
  EXPECT_EQ(role_of(*rules, {"x", "y"}), Role::operator_);
  EXPECT_EQ(role_of(*rules, {"hpc-staff", "hpc-admins"}), Role::admin);
  EXPECT_EQ(role_of(*rules, {"*"}), Role::viewer);
  EXPECT_EQ(role_of(*parse_role_rules("admin=a=b"), {"a=b"}), Role::admin);
  EXPECT_EQ(role_of(*parse_role_rules("admin=a"), {"A", "aa"}), Role::nobody);
}

TEST(RoleRulesTest, OthersAreRefused) {
  for (const char* wrong :
       {"", "admin", "admin=", "=a", "root=a", "agent=a", "user=a", ",", "admin=a,,viewer=b"}) {
    EXPECT_FALSE(parse_role_rules(wrong).ok()) << wrong;
  }
}

TEST(PeopleOptionsTest, WhatHasNoEffectIsRefused) {
  EXPECT_FALSE(people_options({})->has_value());
  PeopleArguments arguments;
  arguments.scopes = "openid";
  EXPECT_NE(people_options(arguments).error().message().find("--oidc-scopes has no effect"),
            std::string::npos);
}

TEST(PeopleOptionsTest, SaysWhichOptionIsWrong) {
  const PeopleArguments right{.issuer = "https://i", .client_id = "c", .roles = "viewer=*"};
  ASSERT_TRUE(people_options(right).ok());
  EXPECT_EQ((*people_options(right))->claims.groups, "groups");
  EXPECT_EQ((*people_options(right))->scopes, "openid profile");
  const auto refuses = [&](auto change, const char* option) {
    PeopleArguments wrong = right;
    change(wrong);
    const auto options = people_options(wrong);
    ASSERT_FALSE(options.ok()) << option;
    EXPECT_NE(options.error().message().find(option), std::string::npos)
        << options.error().message();
  };
  refuses([](auto& one) { one.issuer = "http://i"; }, "--oidc-issuer");
  refuses([](auto& one) { one.issuer = "https://i/?a=b"; }, "--oidc-issuer");
  refuses([](auto& one) { one.client_id = ""; }, "--oidc-client-id");
  refuses([](auto& one) { one.client_id = "a\nb"; }, "--oidc-client-id");
  refuses([](auto& one) { one.device_client_id = "\x7f"; }, "--oidc-device-client-id");
  refuses([](auto& one) { one.roles = ""; }, "--oidc-roles");
  refuses([](auto& one) { one.roles = "root=a"; }, "--oidc-roles");
  refuses([](auto& one) { one.scopes = "profile"; }, "--oidc-scopes");
  refuses([](auto& one) { one.redirect_url = "https://h/"; }, "--oidc-redirect-url");
  refuses([](auto& one) { one.redirect_url = "http://h/login/callback"; }, "--oidc-redirect-url");
}

TEST(PeopleOptionsTest, NoCommandHasTheSecretOfAClient) {
  PeopleOptions options;
  options.issuer.client_id = "c";
  EXPECT_EQ(options.device_client(), "c");
  options.issuer.client_secret_file = "/etc/secret";
  EXPECT_EQ(options.device_client(), "");
  options.device_client_id = "cli";
  EXPECT_EQ(options.device_client(), "cli");
}

class PeopleTest : public testing::Test {
 protected:
  void SetUp() override {
    PeopleOptions options;
    options.issuer.url = issuer_.url();
    options.issuer.client_id = issuer_.client_id;
    options.issuer.least_refresh_s = 0;
    options.issuer.first_retry_s = 0.05;
    options.roles = *parse_role_rules("admin=admins,viewer=staff");
    auto people = People::start(options);
    ASSERT_TRUE(people.ok()) << people.error().message();
    people_ = std::move(*people);
    ASSERT_TRUE(eventually([&] { return people_->issuer().facts() != nullptr; }));
  }

  static bool eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 2000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  oidc::FakeIssuer issuer_;
  std::unique_ptr<People> people_;
};

TEST_F(PeopleTest, AreKnownByATokenWithTheRoleOfTheirGroups) {
  const auto alice = people_->by_token(issuer_.token("alice", {"staff", "admins"}), unix_seconds());
  ASSERT_TRUE(alice) << alice.problem().message;
  EXPECT_EQ(alice->name, "oidc:alice");
  EXPECT_EQ(alice->role, Role::admin);
  EXPECT_EQ(people_->by_token(issuer_.token("bob", "staff"), unix_seconds())->role, Role::viewer);
  const auto stranger = people_->by_token(issuer_.token("eve", {"others"}), unix_seconds());
  ASSERT_FALSE(stranger);
  EXPECT_EQ(stranger.problem().reason, "PERMISSION_DENIED");
  EXPECT_NE(stranger.problem().message.find("oidc:eve is in no group"), std::string::npos);
  // An issuer may leave the claim out for people in many groups.
  const auto unsaid =
      people_->by_token(issuer_.token("eve", {}, {{"groups", nullptr}}), unix_seconds());
  ASSERT_FALSE(unsaid);
  EXPECT_EQ(unsaid.problem().reason, "PERMISSION_DENIED");
  EXPECT_NE(unsaid.problem().message.find("no claim 'groups'"), std::string::npos)
      << unsaid.problem().message;
}

TEST_F(PeopleTest, AreRefusedInOneLineWhereTheirGroupsAreMany) {
  Json groups = Json::array();
  while (groups.dump().size() < oidc::kLongestTokenBytes) {
    groups.push_back("group" + std::to_string(groups.size()));
  }
  const auto refused = people_->by_token(issuer_.token("alice", groups), unix_seconds());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.problem().message.find("at most 8192"), std::string::npos);
  EXPECT_LT(refused.problem().message.size(), 200U);
  groups.erase(groups.begin() + 300, groups.end());
  groups.push_back("staff");
  EXPECT_TRUE(people_->by_token(issuer_.token("alice", groups), unix_seconds()));
}

TEST_F(PeopleTest, ATokenThatWasSeenEndsLikeAnother) {
  const std::string token = issuer_.token("alice", {"staff"});
  const double now_s = unix_seconds();
  ASSERT_TRUE(people_->by_token(token, now_s));
  EXPECT_TRUE(people_->by_token(token, now_s + 3600));
  EXPECT_FALSE(people_->by_token(token, now_s + 3700));
}

TEST_F(PeopleTest, KeysThatTheIssuerChangesCountSoon) {
  const std::string old = issuer_.token("alice", {"staff"});
  ASSERT_TRUE(people_->by_token(old, unix_seconds()));
  issuer_.rotate();
  const std::string token = issuer_.token("alice", {"staff"});
  const auto first = people_->by_token(token, unix_seconds());
  ASSERT_FALSE(first);
  EXPECT_EQ(first.problem().metadata.count("retry_after_s"), 1U) << "it is to be shown again";
  EXPECT_TRUE(eventually([&] { return people_->by_token(token, unix_seconds()).ok(); }));
  EXPECT_FALSE(people_->by_token(old, unix_seconds())) << "its key is withdrawn";
}

TEST_F(PeopleTest, WithoutTheIssuersKeysItSaysSo) {
  issuer_.set_down(true);
  PeopleOptions options = people_->options();
  auto people = People::start(options);
  ASSERT_TRUE(people.ok());
  ASSERT_TRUE(eventually([&] { return (*people)->issuer().failure().has_value(); }));
  const auto refused = (*people)->by_token(issuer_.token("alice", {"staff"}), unix_seconds());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.problem().reason, "UNAUTHENTICATED");
  EXPECT_NE(refused.problem().message.find("503"), std::string::npos);
  EXPECT_TRUE(refused.problem().metadata.empty()) << "that helps only when the issuer answers";
  EXPECT_TRUE(people_->by_token(issuer_.token("alice", {"staff"}), unix_seconds()))
      << "who has its keys goes on";
}

TEST_F(PeopleTest, ASessionIsForTheSignInThatAskedForIt) {
  const double now_s = unix_seconds();
  const std::string token = issuer_.token("alice", {"staff"}, {{"nonce", "n"}});
  EXPECT_FALSE(people_->open_session(token, "m", now_s));
  EXPECT_FALSE(people_->open_session(issuer_.token("alice", {"staff"}), "", now_s));
  EXPECT_FALSE(people_->open_session(issuer_.token("eve", "x", {{"nonce", "n"}}), "n", now_s));
  const auto secret = people_->open_session(token, "n", now_s);
  ASSERT_TRUE(secret) << secret.problem().message;
  const auto alice = people_->by_session(*secret, now_s);
  ASSERT_TRUE(alice);
  EXPECT_EQ(alice->name, "oidc:alice");
  EXPECT_TRUE(people_->has_session(alice->secret_sha256, now_s));
  EXPECT_FALSE(people_->by_session(*secret, now_s + 3601)) << "no longer than the token";
  const auto lasting = people_->open_session(
      issuer_.token("alice", {"staff"}, {{"nonce", "n"}, {"exp", now_s + 1e6}}), "n", now_s);
  ASSERT_TRUE(lasting);
  EXPECT_TRUE(people_->by_session(*lasting, now_s + 43000));
  EXPECT_FALSE(people_->by_session(*lasting, now_s + 43300)) << "roles are looked at each day";
  people_->close_session(*secret);
  EXPECT_FALSE(people_->by_session(*secret, now_s));
  EXPECT_FALSE(people_->has_session(alice->secret_sha256, now_s));
}

}  // namespace
}  // namespace stripline::server
