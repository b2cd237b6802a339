// Each reason for which a token is refused, with keys that are made here.
#include "server/security/oidc/verifier.h"

#include <gtest/gtest.h>

#include "base/web/base64url.h"
#include "server/testing/signer.h"

namespace stripline::server::oidc {
namespace {

constexpr double kNow = 1.8e9;

class VerifierTest : public testing::Test {
 protected:
  static const Signer& rsa() {
    static const Signer kSigner = Signer::rsa();
    return kSigner;
  }
  static const Signer& elliptic() {
    static const Signer kSigner = Signer::elliptic();
    return kSigner;
  }

  static Json claims() {
    return {{"iss", "https://login.example.org"},
            {"aud", "stripline"},
            {"sub", "4711"},
            {"iat", kNow - 10},
            {"exp", kNow + 300},
            {"preferred_username", "alice"},
            {"groups", {"staff", "hpc"}}};
  }
  static Json header(const std::string& algorithm = "RS256", const std::string& key = "r") {
    return {{"alg", algorithm}, {"kid", key}, {"typ", "JWT"}};
  }
  static Json with(const std::string& name, const Json& value) {
    Json changed = claims();
    changed[name] = value;
    return changed;
  }
  static Json without(const std::string& name) {
    Json changed = claims();
    changed.erase(name);
    return changed;
  }

  KeySet keys() const {
    const auto set = parse_key_set(Json{{"keys", {rsa().jwk("r"), elliptic().jwk("e")}}}.dump());
    EXPECT_TRUE(set.ok());
    return *set;
  }
  Result<Person> verified(const std::string& token, double now_s = kNow) const {
    return verify(token, keys(), expected_, now_s);
  }
  // Why it is not accepted; "accepted".
  std::string reason(const std::string& token, double now_s = kNow) const {
    const auto person = verified(token, now_s);
    return person.ok() ? "accepted" : person.error().message();
  }
  std::string reason(const Json& claims) const { return reason(rsa().token(header(), claims)); }
  void refuses(const std::string& token, const std::string& why, double now_s = kNow) const {
    const std::string said = reason(token, now_s);
    EXPECT_NE(said.find(why), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << "one line";
    EXPECT_LT(said.size(), 1000U);
  }
  void refuses(const Json& claims, const std::string& why) const {
    refuses(rsa().token(header(), claims), why);
  }

  Expected expected_{"https://login.example.org", {"stripline", "stripline-cli", ""}};
};

TEST_F(VerifierTest, TakesTheThreeAlgorithms) {
  for (const char* algorithm : {"RS256", "PS256"}) {
    EXPECT_EQ(reason(rsa().token(header(algorithm), claims())), "accepted") << algorithm;
  }
  EXPECT_EQ(reason(elliptic().token(header("ES256", "e"), claims())), "accepted");
  const auto person = verified(rsa().token(header(), claims()));
  EXPECT_EQ(person->name, "alice");
  EXPECT_EQ(person->groups, (std::vector<std::string>{"staff", "hpc"}));
  EXPECT_EQ(person->until_unix_s, kNow + 300);
}

TEST_F(VerifierTest, RefusesOtherAlgorithms) {
  const std::string none =
      web::to_base64url(R"({"alg":"none"})") + "." + web::to_base64url(claims().dump()) + ".";
  refuses(none, "algorithm is 'none'");
  refuses(rsa().token_of("RS256", R"({"alg":"HS256","kid":"r"})", claims().dump()), "'HS256'");
  refuses(rsa().token_of("RS256", R"({"alg":"RS512","kid":"r"})", claims().dump()), "'RS512'");
  refuses(rsa().token_of("RS256", R"({"kid":"r"})", claims().dump()), "algorithm is ''");
  refuses(rsa().token_of("RS256", R"({"alg":7,"kid":"r"})", claims().dump()), "'alg'");
}

TEST_F(VerifierTest, RefusesAKeyOfAnotherKind) {
  // The header names a key that exists, and an algorithm that it is not for.
  refuses(rsa().token_of("RS256", R"({"alg":"ES256","kid":"r"})", claims().dump()),
          "not for its algorithm");
  refuses(elliptic().token_of("ES256", R"({"alg":"RS256","kid":"e"})", claims().dump()),
          "not for its algorithm");
  Json key = rsa().jwk("r");
  key["alg"] = "PS256";
  const auto bound = parse_key_set(Json{{"keys", Json::array({key})}}.dump());
  EXPECT_FALSE(verify(rsa().token(header(), claims()), *bound, expected_, kNow).ok());
  EXPECT_TRUE(verify(rsa().token(header("PS256"), claims()), *bound, expected_, kNow).ok());
}

TEST_F(VerifierTest, RefusesASignatureThatIsNotTheKeys) {
  const Signer other = Signer::rsa();
  refuses(other.token(header(), claims()), "signature is wrong");
  refuses(Signer::elliptic().token(header("ES256", "e"), claims()), "signature is wrong");
  refuses(
      Signer::elliptic("P-384").token_of("ES256", R"({"alg":"ES256","kid":"e"})", claims().dump()),
      "signature is wrong");
  const auto shortened = [](const std::string& token) {
    const size_t dot = token.rfind('.') + 1;
    const auto signature = web::from_base64url(token.substr(dot));
    return token.substr(0, dot) + web::to_base64url(signature->substr(0, signature->size() - 3));
  };
  std::string token = rsa().token(header(), claims());
  refuses(shortened(token), "signature is wrong");
  refuses(token.substr(0, token.rfind('.') + 1), "not signed");
  token = elliptic().token(header("ES256", "e"), claims());
  refuses(shortened(token), "signature is wrong");
  // The two numbers as zeros, which a careless check takes for any text.
  refuses(token.substr(0, token.rfind('.') + 1) + web::to_base64url(std::string(64, '\0')),
          "signature is wrong");
}

TEST_F(VerifierTest, RefusesClaimsThatWereChanged) {
  const std::string token = rsa().token(header(), claims());
  const size_t first = token.find('.');
  const size_t second = token.rfind('.');
  refuses(token.substr(0, first + 1) + web::to_base64url(with("groups", {"admins"}).dump()) +
              token.substr(second),
          "signature is wrong");
}

TEST_F(VerifierTest, AnUnknownKeyIsTakenForANewOne) {
  const auto person = verified(rsa().token(header("RS256", "new"), claims()));
  ASSERT_FALSE(person.ok());
  EXPECT_EQ(person.error().code(), ErrorCode::not_found);
}

TEST_F(VerifierTest, WithoutAKeysNameTheKindMustLeaveOne) {
  const std::string unnamed = rsa().token({{"alg", "RS256"}}, claims());
  EXPECT_EQ(reason(unnamed), "accepted");
  const auto two = parse_key_set(Json{{"keys", {rsa().jwk("a"), Signer::rsa().jwk("b")}}}.dump());
  const auto person = verify(unnamed, *two, expected_, kNow);
  ASSERT_FALSE(person.ok());
  EXPECT_EQ(person.error().code(), ErrorCode::invalid_argument);
  // The issuer may have replaced its only key, which has no name either.
  const auto other = verified(Signer::rsa().token({{"alg", "RS256"}}, claims()));
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().code(), ErrorCode::not_found);
}

TEST_F(VerifierTest, RefusesOtherIssuersAndAudiences) {
  refuses(with("iss", "https://evil.example.org"), "was issued by 'https://evil.example.org'");
  refuses(with("iss", "https://login.example.org/"), "was issued by");
  refuses(without("iss"), "who has issued it");
  refuses(with("aud", "other"), "not for this server");
  refuses(with("aud", Json::array()), "not for this server");
  refuses(with("aud", {"a", 7}), "'aud'");
  refuses(without("aud"), "for whom");
  refuses(with("aud", ""), "not for this server");
  EXPECT_EQ(reason(with("aud", "stripline-cli")), "accepted");
  EXPECT_EQ(reason(with("aud", {"account", "stripline"})), "accepted");
  Json several = with("aud", {"account", "stripline"});
  several["azp"] = "account";
  refuses(several, "'azp'");
  several["azp"] = "stripline";
  EXPECT_EQ(reason(several), "accepted");
}

TEST_F(VerifierTest, HoldsTheTimesWithALittleLeeway) {
  const std::string token = rsa().token(header(), claims());
  EXPECT_EQ(reason(token, kNow + 300 + 59), "accepted");
  refuses(token, "has expired", kNow + 300 + 61);
  refuses(token, "valid from", kNow - 10 - 61);
  EXPECT_EQ(reason(token, kNow - 10 - 59), "accepted");
  refuses(with("nbf", kNow + 61), "valid from");
  EXPECT_EQ(reason(with("nbf", kNow + 59)), "accepted");
  refuses(without("exp"), "when it ends");
  refuses(with("exp", "tomorrow"), "'exp'");
  refuses(with("exp", 1e300), "'exp'");
  refuses(with("exp", -1), "'exp'");
}

TEST_F(VerifierTest, RefusesDoubledClaims) {
  std::string text = claims().dump();
  text.insert(1, R"("aud":"other",)");
  refuses(rsa().token_of("RS256", header().dump(), text), "twice");
  refuses(rsa().token_of("RS256", R"({"alg":"RS256","kid":"r","alg":"none"})", claims().dump()),
          "twice");
}

TEST_F(VerifierTest, RefusesWhatIsMeantForSomethingElse) {
  Json other = header();
  other["typ"] = "logout+jwt";
  refuses(rsa().token(other, claims()), "type is 'logout+jwt'");
  other["typ"] = "at+JWT";
  EXPECT_EQ(reason(rsa().token(other, claims())), "accepted");
  other = header();
  other["crit"] = {"b64"};
  refuses(rsa().token(other, claims()), "crit");
  // What an issuer sends to this server when somebody signs out elsewhere.
  refuses(with("events", {{"http://schemas.openid.net/event/backchannel-logout", Json::object()}}),
          "'events'");
  refuses(with("cnf", {{"jkt", "hash"}}), "'cnf'");
}

TEST_F(VerifierTest, RefusesWhatIsNoToken) {
  refuses(std::string(""), "three parts");
  refuses(std::string("a.b"), "three parts");
  refuses(std::string("a.b.c.d"), "three parts");
  refuses(std::string("e=.e30.e30"), "base64url");
  refuses(web::to_base64url("[]") + ".e30.e30", "not a JSON object");
  refuses(web::to_base64url("{") + ".e30.e30", "JSON");
  refuses(web::to_base64url(std::string(4000, '[')) + ".e30.e30", "deeper");
  refuses(std::string(kLongestTokenBytes + 1, 'e'), "at most 8192");
  refuses(rsa().token_of("RS256", header().dump(), "[]"), "not a JSON object");
  refuses(rsa().token_of("RS256", header().dump(), "\xff"), "JSON");
}

}  // namespace
}  // namespace stripline::server::oidc
