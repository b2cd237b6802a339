#include "server/access.h"

#include <gtest/gtest.h>

#include "base/testing/processes.h"
#include "server/sqlite_store.h"

namespace stripline::server {
namespace {

constexpr double kNow = 1.8e9;
constexpr double kDay_s = 86400;

// Certificates of an authority whose machine's clock is set.
class AccessTest : public testing::Test {
 protected:
  void SetUp() override {
    auto store = open_sqlite_store(folder_ / "stripline.db");
    ASSERT_TRUE(store.ok()) << store.error().message();
    store_ = std::move(*store);
    auto authority = Authority::create(folder_.path(), {"head"}, kNow);
    ASSERT_TRUE(authority.ok()) << authority.error().message();
    auto access = Access::with_authority(*store_, std::move(*authority));
    ASSERT_TRUE(access.ok()) << access.error().message();
    access_.emplace(std::move(*access));
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

}  // namespace
}  // namespace stripline::server
