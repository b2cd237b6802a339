// When an agent asks for a new certificate, and what it takes for one.
#include "agent/credentials.h"

#include <fstream>

#include <gtest/gtest.h>

#include "agent/enrolment.h"
#include "base/pki/certificate.h"
#include "base/testing/assert_ok.h"
#include "base/testing/processes.h"

namespace stripline::agent {
namespace {

constexpr double kDay_s = 86400;
constexpr double kBegin_s = 1e9;
constexpr double kEnd_s = kBegin_s + 30 * kDay_s;

class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest()
      : authority_key_(*pki::PrivateKey::generate()),
        key_(*pki::PrivateKey::generate()),
        issuer_{*pki::make_authority(authority_key_, "authority", {kBegin_s, 2 * kBegin_s}),
                authority_key_},
        file_(folder_.path() / "nodes" / "a.pem") {}

  std::string certificate(const pki::PrivateKey& key, double from_s, double until_s) const {
    return *pki::issue(issuer_, key, {"a", {}, {"stripline:nodes/a"}}, pki::Use::client,
                       {from_s, until_s})
                ->pem();
  }
  void enrol() const {
    ASSERT_OK(write_identity(
        file_, {*key_.pem(), certificate(key_, kBegin_s, kEnd_s), *issuer_.certificate.pem()}));
  }

  TempFolder folder_;
  pki::PrivateKey authority_key_;
  pki::PrivateKey key_;
  pki::Issuer issuer_;
  std::filesystem::path file_;
};

// A token may be good for one enrolment: that there is no place for what it brings is said before.
TEST_F(CredentialsTest, NoTokenIsUsedUpWhereTheIdentityCannotBeKept) {
  std::filesystem::create_directories(file_.parent_path());
  std::filesystem::permissions(file_.parent_path(), std::filesystem::perms(0755));
  const pki::Token token{pki::Token::Kind::node, std::string(64, 'a'), std::string(64, 'b')};
  // No server is asked: there is none.
  const Status refused = enroll({"127.0.0.1", "1"}, token, "a", file_, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::failed_precondition) << refused.error().message();
  EXPECT_NE(refused.error().message().find("chmod 700"), std::string::npos);
  std::filesystem::permissions(file_.parent_path(), std::filesystem::perms(0700));
  EXPECT_EQ(enroll({"127.0.0.1", "1"}, token, "a", file_, 1).error().code(),
            ErrorCode::unavailable);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(CredentialsTest, ARenewalIsDueWhenAThirdOfTheTimeIsLeft) {
  enrol();
  Credentials credentials(file_);
  EXPECT_FALSE(credentials.renewal_due(kBegin_s + 1));
  EXPECT_FALSE(credentials.renewal_due(kEnd_s - 10.1 * kDay_s));
  const auto request = credentials.renewal_due(kEnd_s - 9.9 * kDay_s);
  ASSERT_TRUE(request);
  // The server that does not answer is asked again after an hour, not with each heartbeat.
  EXPECT_FALSE(credentials.renewal_due(kEnd_s - 9.9 * kDay_s + 60));
  EXPECT_TRUE(credentials.renewal_due(kEnd_s - 9.9 * kDay_s + 3601));

  ASSERT_OK_AND_ASSIGN(
      const auto renewed,
      pki::issue_for_request(issuer_, *request, {"a", {}, {"stripline:nodes/a"}}, pki::Use::client,
                             {kEnd_s - 9 * kDay_s, kEnd_s + 21 * kDay_s}));
  ASSERT_OK(credentials.accept(*renewed.pem()));
  ASSERT_OK_AND_ASSIGN(const auto identity, read_identity(file_));
  EXPECT_EQ(identity.certificate_pem, *renewed.pem());
  EXPECT_EQ(identity.key_pem, *key_.pem());
  EXPECT_FALSE(credentials.renewal_due(kEnd_s));
}

TEST_F(CredentialsTest, ACertificateThatIsNotValidYetIsReplaced) {
  enrol();
  Credentials credentials(file_);
  EXPECT_TRUE(credentials.renewal_due(kBegin_s - kDay_s));
}

TEST_F(CredentialsTest, ACertificateOfAnotherKeyIsNotTaken) {
  enrol();
  const Credentials credentials(file_);
  const std::string before = read_identity(file_)->certificate_pem;
  const pki::PrivateKey other = *pki::PrivateKey::generate();
  EXPECT_EQ(credentials.accept(certificate(other, kBegin_s, kEnd_s)).error().code(),
            ErrorCode::data_loss);
  EXPECT_FALSE(credentials.accept("nonsense").ok());
  EXPECT_EQ(read_identity(file_)->certificate_pem, before);
}

TEST_F(CredentialsTest, WithoutACertificateNoneIsRenewed) {
  EXPECT_FALSE(Credentials(file_).renewal_due(kBegin_s));
  EXPECT_FALSE(Credentials({}).renewal_due(kBegin_s));
  enrol();
  std::ofstream(file_) << "nonsense";
  EXPECT_FALSE(Credentials(file_).renewal_due(kBegin_s));
  EXPECT_EQ(read_identity(file_).error().code(), ErrorCode::data_loss);
}

}  // namespace
}  // namespace stripline::agent
