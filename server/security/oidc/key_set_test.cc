#include "server/security/oidc/key_set.h"

#include <gtest/gtest.h>

#include "base/web/base64url.h"
#include "server/testing/signer.h"

namespace stripline::server::oidc {
namespace {

size_t usable(const Json& key) {
  const auto keys = parse_key_set(Json{{"keys", Json::array({key})}}.dump());
  return keys.ok() ? keys->size() : 0;
}

TEST(KeySetTest, TakesKeysForSigning) {
  EXPECT_EQ(usable(Signer::rsa().jwk("a")), 1U);
  EXPECT_EQ(usable(Signer::elliptic().jwk("a")), 1U);
  Json key = Signer::rsa().jwk("a");
  key.erase("use");
  EXPECT_EQ(usable(key), 1U);
  key["key_ops"] = {"verify"};
  EXPECT_EQ(usable(key), 1U);
  key["key_ops"] = {"encrypt"};
  EXPECT_EQ(usable(key), 0U);
  key.erase("key_ops");
  key["use"] = "enc";
  EXPECT_EQ(usable(key), 0U);
}

TEST(KeySetTest, PassesOverWhatIsWeakOrDearOrBroken) {
  EXPECT_EQ(usable(Signer::rsa(1024).jwk("a")), 0U);
  EXPECT_EQ(usable(Signer::elliptic("P-384").jwk("a")), 0U);
  Json key = Signer::rsa().jwk("a");
  key["e"] = web::to_base64url(std::string("\x01"));
  EXPECT_EQ(usable(key), 0U) << "every signature would be right";
  key["e"] = web::to_base64url("\xff" + std::string(7, '\xff'));
  EXPECT_EQ(usable(key), 0U) << "verifying would be slow";
  key = Signer::rsa().jwk("a");
  key["n"] = web::to_base64url(std::string(2048, '\xff'));
  EXPECT_EQ(usable(key), 0U) << "16384 bits";
  key = Signer::elliptic().jwk("a");
  key["x"] = web::to_base64url(std::string(32, '\x01'));
  EXPECT_EQ(usable(key), 0U) << "not on the curve";
  key["x"] = web::to_base64url(std::string(31, '\x01'));
  EXPECT_EQ(usable(key), 0U);
  EXPECT_EQ(usable({{"kty", "oct"}, {"k", "c2VjcmV0"}}), 0U);
  EXPECT_EQ(usable("text"), 0U);
}

TEST(KeySetTest, SaysWhatIsNoKeySet) {
  EXPECT_EQ(parse_key_set("{").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(parse_key_set("[]").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(parse_key_set("{\"keys\": {}}").error().code(), ErrorCode::data_loss);
  EXPECT_EQ(parse_key_set("{\"keys\": []}").error().code(), ErrorCode::not_found);
}

TEST(KeySetTest, ReadsNoMoreKeysThanItShould) {
  const Json key = Signer::elliptic().jwk("a");
  Json keys = Json::array();
  for (int i = 0; i < 150; ++i) keys.push_back(key);
  EXPECT_EQ(parse_key_set(Json{{"keys", keys}}.dump())->size(), 100U);
}

}  // namespace
}  // namespace stripline::server::oidc
