#include "base/pki/certificate.h"

#include <gtest/gtest.h>

#include "base/testing/assert_ok.h"

namespace stripline::pki {
namespace {

constexpr double kNow = 1.7e9;
constexpr Validity kYear{kNow, kNow + 365 * 86400.0};

class CertificateTest : public testing::Test {
 protected:
  static Issuer make_issuer() {
    const PrivateKey key = *PrivateKey::generate();
    return {*make_authority(key, "Stripline test", kYear), key};
  }
  const Issuer issuer_ = make_issuer();
  const PrivateKey key_ = *PrivateKey::generate();
};

TEST_F(CertificateTest, SaysWhatItWasIssuedFor) {
  const Subject subject{"head", {"head.example", "10.0.0.1", "::1"}, {"stripline:nodes/a"}};
  ASSERT_OK_AND_ASSIGN(const auto issued, issue(issuer_, key_, subject, Use::server, kYear));
  ASSERT_OK_AND_ASSIGN(const auto read, Certificate::from_pem(*issued.pem()));
  EXPECT_EQ(read.common_name(), "head");
  EXPECT_EQ(read.hosts(), subject.hosts);
  EXPECT_EQ(read.uris(), subject.uris);
  EXPECT_EQ(read.not_before_unix_s(), kYear.from_unix_s);
  EXPECT_EQ(read.not_after_unix_s(), kYear.until_unix_s);
  EXPECT_EQ(read.sha256(), issued.sha256());
  EXPECT_EQ(read.sha256().size(), 64U);
  EXPECT_TRUE(read.belongs_to(key_));
  EXPECT_FALSE(read.belongs_to(issuer_.key));
  EXPECT_TRUE(read.is_signed_by(issuer_.certificate));
  EXPECT_FALSE(read.is_signed_by(make_issuer().certificate));
}

TEST_F(CertificateTest, IsIssuedForTheKeyOfARequest) {
  ASSERT_OK_AND_ASSIGN(const auto request, make_request(key_));
  ASSERT_OK_AND_ASSIGN(
      const auto issued,
      issue_for_request(issuer_, request, {"a", {}, {"stripline:nodes/a"}}, Use::client, kYear));
  EXPECT_TRUE(issued.belongs_to(key_));
  EXPECT_EQ(issued.uris(), std::vector<std::string>{"stripline:nodes/a"});
}

TEST_F(CertificateTest, AKeyIsReadBackFromItsText) {
  ASSERT_OK_AND_ASSIGN(const auto pem, key_.pem());
  ASSERT_OK_AND_ASSIGN(const auto read, PrivateKey::from_pem(pem));
  EXPECT_TRUE(issue(issuer_, read, {"x", {}, {}}, Use::client, kYear)->belongs_to(key_));
}

TEST_F(CertificateTest, WhatIsNoneIsRefused) {
  EXPECT_EQ(Certificate::from_pem("").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(Certificate::from_pem(*key_.pem()).error().code(), ErrorCode::data_loss);
  std::string broken = *issuer_.certificate.pem();
  broken.resize(broken.size() / 2);
  EXPECT_EQ(Certificate::from_pem(broken).error().code(), ErrorCode::data_loss);
  EXPECT_EQ(Certificate::all_from_pem(*issuer_.certificate.pem() + broken).error().code(),
            ErrorCode::data_loss);
  EXPECT_EQ(PrivateKey::from_pem("nonsense").error().code(), ErrorCode::data_loss);
  const auto request = issue_for_request(issuer_, "nonsense", {"a", {}, {}}, Use::client, kYear);
  EXPECT_EQ(request.error().code(), ErrorCode::invalid_argument);
  const auto host = issue(issuer_, key_, {"a", {"a,URI:x"}, {}}, Use::server, kYear);
  EXPECT_EQ(host.error().code(), ErrorCode::invalid_argument);
}

TEST_F(CertificateTest, ARequestSignedByAnotherKeyIsRefused) {
  std::string request = *make_request(key_);
  // In the signature, which is at the end.
  const size_t at = request.rfind("\n-----END") - 8;
  request[at] = request[at] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(issue_for_request(issuer_, request, {"a", {}, {}}, Use::client, kYear).ok());
}

}  // namespace
}  // namespace stripline::pki
