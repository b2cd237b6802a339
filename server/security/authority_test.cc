#include "server/security/authority.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/pki/secret_file.h"
#include "base/testing/processes.h"

namespace stripline::server {
namespace {

constexpr double kNow = 1.8e9;
constexpr double kDay_s = 86400;

class AuthorityTest : public testing::Test {
 protected:
  Result<Authority> open(double now_unix_s = kNow) {
    return Authority::open(folder_.path(), now_unix_s);
  }
  void SetUp() override {
    ASSERT_TRUE(Authority::create(folder_.path(), {"head", "10.0.0.1"}, kNow).ok());
  }
  std::filesystem::path file(const std::string& name) const {
    return folder_.path() / "tls" / name;
  }
  TempFolder folder_;
};

TEST_F(AuthorityTest, IsThereAgain) {
  const auto opened = open();
  ASSERT_TRUE(opened.ok()) << opened.error().message();
  EXPECT_EQ(*opened->hosts(), (std::vector<std::string>{"head", "10.0.0.1"}));
  for (const char* name : {"authority.key", "server.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat(file(name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
  }
}

TEST_F(AuthorityTest, IsNeverOverwritten) {
  const std::string before = open()->sha256();
  const auto again = Authority::create(folder_.path(), {"head"}, kNow);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code(), ErrorCode::already_exists);
  EXPECT_EQ(open()->sha256(), before);
}

TEST_F(AuthorityTest, AWrongHostLeavesNothingBehind) {
  const TempFolder folder;
  EXPECT_EQ(Authority::create(folder.path(), {"a b"}, kNow).error().code(),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(Authority::create(folder.path(), {"b"}, kNow).ok());
}

TEST_F(AuthorityTest, AKeyThatOthersCouldReadIsRefused) {
  ASSERT_EQ(::chmod(file("authority.key").c_str(), 0640), 0);
  EXPECT_NE(open().error().message().find("chmod 600"), std::string::npos);
}

TEST_F(AuthorityTest, WhatIsDamagedIsNamed) {
  for (const char* name : {"authority.pem", "authority.key", "server.pem", "server.key"}) {
    const std::string good = read_file(file(name));
    ASSERT_TRUE(pki::write_secret(file(name), "nonsense").ok());
    const auto opened = open();
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.error().code(), ErrorCode::data_loss);
    EXPECT_NE(opened.error().message().find(name), std::string::npos) << opened.error().message();
    ASSERT_TRUE(pki::write_secret(file(name), good).ok());
  }
  const TempFolder other;
  ASSERT_TRUE(Authority::create(other.path(), {"head"}, kNow).ok());
  std::filesystem::copy_file(other.path() / "tls" / "server.key", file("server.key"),
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(open().error().message().find("do not belong together"), std::string::npos);
}

TEST_F(AuthorityTest, WithoutOneItSaysWhatMakesOne) {
  const TempFolder empty;
  const auto opened = Authority::open(empty.path(), kNow);
  EXPECT_EQ(opened.error().code(), ErrorCode::not_found);
  EXPECT_NE(opened.error().message().find("stripline-server init"), std::string::npos);
}

TEST_F(AuthorityTest, ItsServersCertificateIsRenewedInTime) {
  const auto opened = open();
  EXPECT_FALSE(*opened->renew_server(kNow + 200 * kDay_s));
  EXPECT_TRUE(*opened->renew_server(kNow + 300 * kDay_s));
  EXPECT_FALSE(*opened->renew_server(kNow + 300 * kDay_s));
  const auto later = open(kNow + 300 * kDay_s);
  ASSERT_TRUE(later.ok());
  EXPECT_EQ(later->hosts()->size(), 2U);
}

// A server whose clock was ahead when it renewed: no node could connect any more.
TEST_F(AuthorityTest, AServersCertificateThatIsNotValidYetIsReplaced) {
  EXPECT_TRUE(*open(kNow + 730 * kDay_s)->renew_server(kNow + 730 * kDay_s));
  EXPECT_GT(open()->server_certificate()->not_before_unix_s(), kNow);
  EXPECT_TRUE(*open()->renew_server(kNow));
  EXPECT_LE(open()->server_certificate()->not_before_unix_s(), kNow);
  EXPECT_EQ(open()->hosts()->size(), 2U);
  EXPECT_FALSE(*open()->renew_server(kNow));
}

TEST_F(AuthorityTest, IsNotUsedBeforeItBegins) {
  const auto early = open(kNow - 3 * kDay_s);
  ASSERT_FALSE(early.ok());
  EXPECT_NE(early.error().message().find("set the clock"), std::string::npos);
}

TEST_F(AuthorityTest, ExpiresWithAWord) {
  const auto late = open(kNow + kAuthorityValid_s + kDay_s);
  ASSERT_FALSE(late.ok());
  EXPECT_NE(late.error().message().find("expired"), std::string::npos);
}

TEST_F(AuthorityTest, CertifiesNodes) {
  const auto key = pki::PrivateKey::generate();
  const auto pem =
      open()->certify_node("a", *pki::make_request(*key), {kNow, kNow + kNodeCertificateValid_s});
  ASSERT_TRUE(pem.ok());
  const auto certificate = pki::Certificate::from_pem(*pem);
  EXPECT_EQ(node_of(*certificate), "a");
  EXPECT_TRUE(certificate->belongs_to(*key));
}

}  // namespace
}  // namespace stripline::server
