#include "server/security/oidc/claims.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace stripline::server::oidc {
namespace {

Json claims() { return {{"iss", "i"}, {"aud", "a"}, {"exp", 100}, {"sub", "4711"}}; }

Result<Claims> read(const Json& claims, const ClaimNames& names = {}) {
  return read_claims(claims.dump(), names);
}

TEST(ClaimsTest, NamesOfTwoKindsCannotBeTheSame) {
  Json json = claims();
  EXPECT_EQ(read(json)->name, "sub=4711");
  json["preferred_username"] = "sub=4711";
  EXPECT_EQ(read(json)->name, "sub%3D4711");
  json["preferred_username"] = "Jürgen O'Neill/x";
  EXPECT_EQ(read(json)->name, "J%C3%BCrgen%20O%27Neill%2Fx");
  json["preferred_username"] = "alice@example.org";
  EXPECT_EQ(read(json)->name, "alice@example.org");
}

TEST(ClaimsTest, AChosenNameIsTheOnlyOne) {
  Json json = claims();
  json["preferred_username"] = "alice";
  EXPECT_EQ(read(json, {"sub"})->name, "4711");
  EXPECT_FALSE(read(json, {"email"}).ok());
  json["email"] = std::string(129, 'a');
  EXPECT_FALSE(read(json, {"email"}).ok());
  json["email"] = 7;
  EXPECT_FALSE(read(json, {"email"}).ok());
}

TEST(ClaimsTest, GroupsAreAListOrOneOrAMemberOfAClaim) {
  Json json = claims();
  EXPECT_TRUE(read(json)->groups.empty());
  EXPECT_FALSE(read(json)->has_groups);
  json["groups"] = Json::array();
  EXPECT_TRUE(read(json)->has_groups);
  json["groups"] = "staff";
  EXPECT_EQ(read(json)->groups, std::vector<std::string>{"staff"});
  json["groups"] = {"staff", 7};
  EXPECT_FALSE(read(json).ok());
  json["realm_access"] = {{"roles", {"a", "b"}}};
  EXPECT_EQ(read(json, {"", "realm_access.roles"})->groups, (std::vector<std::string>{"a", "b"}));
  json["https://example.org/groups"] = {"c"};
  EXPECT_EQ(read(json, {"", "https://example.org/groups"})->groups, std::vector<std::string>{"c"});
  EXPECT_TRUE(read(json, {"", "realm_access.none"})->groups.empty());
  EXPECT_TRUE(read(json, {"", "sub.none"})->groups.empty());
}

}  // namespace
}  // namespace stripline::server::oidc
