#include "server/security/access.h"

#include <grpcpp/support/status.h>
#include <gtest/gtest.h>

#include "base/pki/token.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"
#include "server/doors/rpc_status.h"
#include "server/process/add_token.h"
#include "server/store/sqlite_store.h"

namespace stripline::server {
namespace {

constexpr double kNow = 1.8e9;
constexpr double kDay_s = 86400;

// Certificates of an authority whose machine's clock is set.
class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(auto store, open_sqlite_store(folder_ / "stripline.db"));
    store_ = std::move(store);
    ASSERT_OK_AND_ASSIGN(auto authority, Authority::create(folder_.path(), {"head"}, kNow));
    ASSERT_OK_AND_ASSIGN(auto access, Access::with_authority(*store_, std::move(authority)));
    access_.emplace(std::move(access));
  }

  static std::string request() { return *pki::make_request(*pki::PrivateKey::generate()); }
  std::string enrolled(double now_s) {
    auto token =
        access_->create_token({"users/root", Role::admin}, Role::agent, "a", kDay_s, now_s);
    EXPECT_TRUE(token.ok());
    return certificate(access_->enroll(token->text, "a", request(), now_s));
  }
  std::string renewed(const std::string& old, double now_s) {
    const auto caller = access_->identify({"", old}, now_s);
    EXPECT_TRUE(caller.ok());
    return certificate(access_->renew(*caller, request(), now_s));
  }
  // As TLS and the server look at it.
  bool counts(const std::string& pem, double now_s) const {
    const auto certificate = pki::Certificate::from_pem(pem);
    return certificate->not_before_unix_s() <= now_s && now_s <= certificate->not_after_unix_s() &&
           access_->identify({"", pem}, now_s).ok();
  }

  TempFolder folder_;
  std::unique_ptr<Store> store_;
  std::optional<Access> access_;

 private:
  static std::string certificate(const Answer<std::string>& answer) {
    EXPECT_TRUE(answer.ok());
    return *answer;
  }
};

TEST_F(AccessTest, ANodeThatIsRefusedHearsWhy) {
  const auto why = [&](const std::string& pem, double now_s) {
    const auto caller = access_->identify({"", pem}, now_s);
    return caller.ok() ? std::string() : caller.problem().message;
  };
  const std::string pem = enrolled(kNow);
  EXPECT_EQ(why(pem, kNow), "");
  EXPECT_NE(why(pem, kNow + 31 * kDay_s).find("nodes/a has expired at 2027-02-14T"),
            std::string::npos)
      << why(pem, kNow + 31 * kDay_s);
  EXPECT_NE(why(pem, kNow - 10 * kDay_s).find("begins at 2027-01-13T"), std::string::npos)
      << why(pem, kNow - 10 * kDay_s);
  // A certificate of another authority, or of ours for another purpose.
  const pki::PrivateKey key = *pki::PrivateKey::generate();
  const pki::Issuer foreign{*pki::make_authority(key, "Stripline authority", {0, 2 * kNow}), key};
  const auto forged = pki::issue(foreign, key, {"a", {}, {node_uri("a")}}, pki::Use::client,
                                 {kNow - 60, kNow + 60});
  EXPECT_NE(why(*forged->pem(), kNow).find("not one that this server has issued"),
            std::string::npos);
  EXPECT_NE(why(*access_->authority()->server_certificate()->pem(), kNow)
                .find("not one that this server has issued"),
            std::string::npos);
}

// While the clock was two years ahead, a node enrolled; its name would have been shut out for
// those.
TEST_F(AccessTest, ANodeEnrolledWhileTheClockWasAheadCanEnrolAgain) {
  const std::string ahead = enrolled(kNow + 730 * kDay_s);
  EXPECT_FALSE(counts(ahead, kNow));
  const std::string again = enrolled(kNow);
  EXPECT_TRUE(counts(again, kNow));
  EXPECT_FALSE(counts(ahead, kNow));
  EXPECT_TRUE(counts(renewed(again, kNow), kNow));
}

TEST_F(AccessTest, ANodeEnrolledADayAheadStaysWhenTheClockIsSetBack) {
  const std::string first = enrolled(kNow + kDay_s);
  EXPECT_TRUE(counts(first, kNow));
  const std::string next = renewed(first, kNow);
  EXPECT_TRUE(counts(next, kNow));
  EXPECT_TRUE(counts(next, kNow + kDay_s));
}

TEST_F(AccessTest, ACertificateRenewedADayAheadIsRevokedAfterTheClockIsSetBack) {
  const std::string first = enrolled(kNow);
  const std::string next = renewed(first, kNow + kDay_s);
  EXPECT_TRUE(counts(next, kNow));
  ASSERT_TRUE(access_->revoke_node({"users/root", Role::admin}, "a", kNow + 1).ok());
  EXPECT_FALSE(counts(first, kNow + 1));
  EXPECT_FALSE(counts(next, kNow + 1));
  EXPECT_TRUE(counts(enrolled(kNow + 2), kNow + 2));
}

const Caller kRoot{"users/root", Role::admin};

// Nodes that come back together need not be let in one by one.
TEST_F(AccessTest, ATokenEnrolsAsManyNodesOfItsPatternAsItIsFor) {
  const auto token = access_->create_token(kRoot, Role::agent, "gpu*", kDay_s, kNow, 2);
  ASSERT_TRUE(token.ok());
  const auto enrol = [&](const std::string& node) {
    return access_->enroll(token->text, node, request(), kNow);
  };
  const auto other = enrol("cpu1");
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.problem().message.find("this token enrols nodes/gpu*, not nodes/cpu1"),
            std::string::npos);
  EXPECT_TRUE(enrol("gpu1").ok());
  EXPECT_EQ(access_->tokens(kNow).front().ended_unix_s, 0);
  EXPECT_TRUE(enrol("gpu2").ok());
  EXPECT_FALSE(enrol("gpu3").ok());
  const TokenRecord used = access_->tokens(kNow).front();
  EXPECT_EQ(used.uses, 2U);
  EXPECT_EQ(used.used_by, "gpu2");
  EXPECT_EQ(used.ended_unix_s, kNow);
}

TEST_F(AccessTest, PatternsAndCountsAreOfTokensOfNodesAlone) {
  EXPECT_FALSE(access_->create_token(kRoot, Role::viewer, "al*", 0, kNow).ok());
  EXPECT_FALSE(access_->create_token(kRoot, Role::viewer, "alice", 0, kNow, 2).ok());
  EXPECT_FALSE(access_->create_token(kRoot, Role::agent, "gpu*", 0, kNow, 10'001).ok());
  EXPECT_FALSE(access_->create_token(kRoot, Role::agent, "GPU*", 0, kNow).ok());
  EXPECT_TRUE(access_->create_token(kRoot, Role::agent, "", 0, kNow, 10'000).ok());
}

// Without it no one could make another.
TEST_F(AccessTest, TheLastAdministratorCannotBeShutOut) {
  const auto first = access_->create_token(kRoot, Role::admin, "first", 0, kNow);
  const auto second = access_->create_token(kRoot, Role::admin, "second", kDay_s, kNow);
  ASSERT_TRUE(access_->create_token(kRoot, Role::publisher, "third", 0, kNow).ok());
  ASSERT_TRUE(access_->revoke_token(kRoot, second->record.name(), kNow).ok());
  const auto refused = access_->revoke_token(kRoot, first->record.name(), kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.problem().reason, "LAST_ADMIN");
  // One that has ended is none.
  ASSERT_TRUE(access_->create_token(kRoot, Role::admin, "fourth", kDay_s, kNow).ok());
  EXPECT_FALSE(access_->revoke_token(kRoot, first->record.name(), kNow + 2 * kDay_s).ok());
  EXPECT_TRUE(access_->revoke_token(kRoot, first->record.name(), kNow).ok());
}

// It lets the owner of the folder in: the server that uses the database learns of it by itself.
TEST_F(AccessTest, ATokenThatTheOwnerAddsIsAcceptedAtOnce) {
  ASSERT_OK_AND_ASSIGN(const auto added,
                       add_token(folder_.path(), {}, {Role::admin, "alice"}, kNow));
  const auto secret = pki::parse_token(added.text)->secret;
  const auto caller = access_->identify({secret, ""}, kNow);
  ASSERT_TRUE(caller.ok()) << caller.problem().message;
  EXPECT_EQ(caller->name, "users/alice");
  EXPECT_EQ(caller->role, Role::admin);
  EXPECT_EQ(caller->token_until_unix_s, added.record.expires_unix_s);
  const AuditRecord entry = store_->audit(0, 1)->front();
  EXPECT_TRUE(entry.actor.starts_with("local/")) << entry.actor;
  EXPECT_EQ(entry.action, "create token for admin alice");
  // Strangers' tokens do not make it read the store again and again.
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(access_->identify({"nonsense", ""}, kNow + 10).ok());
  }
  const auto next = add_token(folder_.path(), {}, {Role::viewer, "bob"}, kNow);
  const auto next_secret = pki::parse_token(next->text)->secret;
  EXPECT_FALSE(access_->identify({next_secret, ""}, kNow + 10.5).ok());
  EXPECT_TRUE(access_->identify({next_secret, ""}, kNow + 11.5).ok());
}

TEST_F(AccessTest, ATokenIsNotAddedWhereThereIsNoServer) {
  const TempFolder empty;
  const auto without = add_token(empty.path(), {}, {Role::admin, "alice"}, kNow);
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code(), ErrorCode::not_found);
  const auto elsewhere = add_token(folder_.path(), {empty.path(), ""}, {Role::admin, "a"}, kNow);
  ASSERT_FALSE(elsewhere.ok());
  EXPECT_NE(elsewhere.error().message().find("there is no database"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(empty / "stripline.db"));
}

TEST_F(AccessTest, EndsOfCertificatesAreKnownToAServerThatStartsAgain) {
  EXPECT_EQ(access_->certificate_end_unix_s("a"), std::nullopt);
  const std::string first = enrolled(kNow);
  EXPECT_EQ(access_->certificate_end_unix_s("a"), kNow + 30 * kDay_s);
  renewed(first, kNow + 20 * kDay_s);
  EXPECT_EQ(access_->certificate_end_unix_s("a"), kNow + 50 * kDay_s);
  ASSERT_TRUE(access_->reload().ok());
  EXPECT_EQ(access_->certificate_end_unix_s("a"), kNow + 50 * kDay_s);
  // It was renewed, not replaced: the earlier one counts as long as it lasts.
  EXPECT_TRUE(counts(first, kNow + 20 * kDay_s));
  ASSERT_TRUE(access_->revoke_node(kRoot, "a", kNow).ok());
  EXPECT_EQ(access_->certificate_end_unix_s("a"), std::nullopt);
}

TEST_F(AccessTest, WhenATokenWasUsedIsKept) {
  const auto token = access_->create_token(kRoot, Role::viewer, "v", 0, kNow);
  const std::string secret = pki::parse_token(token->text)->secret;
  ASSERT_TRUE(access_->identify({secret, ""}, kNow + 5).ok());
  ASSERT_TRUE(access_->save_uses().ok());
  EXPECT_EQ(store_->tokens()->front().last_used_unix_s, kNow + 5);
  // To the hour.
  ASSERT_TRUE(access_->identify({secret, ""}, kNow + 600).ok());
  ASSERT_TRUE(access_->save_uses().ok());
  EXPECT_EQ(store_->tokens()->front().last_used_unix_s, kNow + 5);
  ASSERT_TRUE(access_->identify({secret, ""}, kNow + 3700).ok());
  ASSERT_TRUE(access_->save_uses().ok());
  EXPECT_EQ(store_->tokens()->front().last_used_unix_s, kNow + 3700);
}

// 7 MiB of it would be in the answer and in the log.
TEST_F(AccessTest, ANameThatIsRefusedIsNotRepeatedWhole) {
  const std::string huge(size_t{7} << 20, 'x');
  const auto token = access_->create_token(kRoot, Role::agent, "", 0, kNow);
  const auto refused = access_->enroll(token->text, huge, request(), kNow);
  ASSERT_FALSE(refused.ok());
  EXPECT_LT(refused.problem().message.size(), 1000U);
  EXPECT_NE(refused.problem().message.find("(of 7340032 bytes)"), std::string::npos);
  EXPECT_LT(access_->create_token(kRoot, Role::viewer, huge, 0, kNow).problem().message.size(),
            1000U);
  // Messages of other problems are cut, too.
  EXPECT_LT(rpc_status(campaign_not_found("campaigns/" + huge)).error_message().size(), 5000U);
  EXPECT_LT(rpc_status(campaign_not_found("campaigns/" + huge)).error_details().size(), 6000U);
}

}  // namespace
}  // namespace stripline::server
