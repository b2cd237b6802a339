#include "server/core/operations/server_notices.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

using Kind = ServerNotice::Kind;

constexpr double kNow_s = 2e9;
constexpr double kDay_s = 86400;

TokenRecord admin_until(double end_s, const std::string& name = "root") {
  return {std::string(64, 'a'), Role::admin, name, kNow_s - kDay_s, end_s, 0, ""};
}

// Made for as many days, of which these are left.
TokenRecord token_of(const std::string& user, Role role, double made_for_days, double left_days) {
  const double end_s = kNow_s + left_days * kDay_s;
  return {user + std::string(63, 'b'), role, user, end_s - made_for_days * kDay_s, end_s, 0, ""};
}

std::vector<Kind> kinds(const Ends& ends) {
  std::vector<Kind> all;
  for (const ServerNotice& notice : notices_of(ends, kNow_s)) all.push_back(notice.kind);
  return all;
}

TEST(ServerNotices, AreSilentWhileEverythingLasts) {
  Ends ends;
  ends.tokens = {admin_until(kNow_s + 31 * kDay_s)};
  ends.server_certificate_unix_s = kNow_s + 31 * kDay_s;
  ends.authority_unix_s = kNow_s + 91 * kDay_s;
  ends.nodes = {{"a", kNow_s + 10 * kDay_s}};
  ends.own_token = token_of("alice", Role::viewer, 60, 8);
  EXPECT_TRUE(kinds(ends).empty());
  EXPECT_TRUE(kinds({}).empty());
}

TEST(ServerNotices, NameWhatEndsTheSoonestFirst) {
  Ends ends;
  ends.tokens = {admin_until(kNow_s + 29.5 * kDay_s)};
  ends.server_certificate_unix_s = kNow_s + 20 * kDay_s;
  ends.authority_unix_s = kNow_s + 80 * kDay_s;
  ends.nodes = {{"a", kNow_s + 8 * kDay_s}, {"b", kNow_s - 5 * kDay_s}};
  ends.own_token = token_of("alice", Role::viewer, 60, 6);
  const auto notices = notices_of(ends, kNow_s);
  EXPECT_EQ(kinds(ends),
            (std::vector{Kind::node_certificate, Kind::own_token, Kind::node_certificate,
                         Kind::server_certificate, Kind::admin_token, Kind::authority}));
  EXPECT_EQ(notices[0].subject, "nodes/b");
  EXPECT_TRUE(notices[0].message.starts_with("the certificate of nodes/b has ended at 2033-"))
      << notices[0].message;
  EXPECT_TRUE(notices[4].message.starts_with(
      "the last token of an administrator, that of root, ends in 29 days, at 2033-"))
      << notices[4].message;
}

// Another one lasts.
TEST(ServerNotices, LookAtTheLastAdministrator) {
  Ends ends;
  ends.tokens = {admin_until(kNow_s + kDay_s), admin_until(kNow_s + 40 * kDay_s, "deputy")};
  EXPECT_TRUE(kinds(ends).empty());
  ends.tokens[1].ended_unix_s = kNow_s - 1;
  EXPECT_EQ(kinds(ends), std::vector{Kind::admin_token});
}

TEST(ServerNotices, NameAnOwnTokenThatWasMadeForLongAMonthBefore) {
  Ends ends;
  ends.own_token = token_of("alice", Role::viewer, 61, 29);
  EXPECT_EQ(kinds(ends), std::vector{Kind::own_token});
  ends.own_token = token_of("alice", Role::viewer, 61, 31);
  EXPECT_TRUE(kinds(ends).empty());
}

TEST(ServerNotices, TellAdministratorsOfTheTokensOfOthers) {
  Ends ends;
  ends.tokens = {
      admin_until(kNow_s + 400 * kDay_s),
      token_of("alice", Role::viewer, 90, 20),
      token_of("bob", Role::operator_, 90, 12.5),
      // Another one lasts.
      token_of("carol", Role::viewer, 90, 5),
      token_of("carol2", Role::publisher, 90, 80),
      // That is by intent.
      token_of("dave", Role::viewer, 7, 5),
      token_of("n*", Role::agent, 90, 5),
      token_of("eve", Role::viewer, 90, -1),
  };
  ends.tokens[4].subject = "carol";
  EXPECT_TRUE(kinds(ends).empty()) << "other callers do not see it";
  ends.for_administrators = true;
  auto notices = notices_of(ends, kNow_s);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].kind, Kind::tokens);
  EXPECT_EQ(notices[0].subject, ends.tokens[2].name());
  EXPECT_TRUE(notices[0].message.starts_with(
      "2 tokens of users end within 30 days; the first, that of bob, ends in 12 days, at "))
      << notices[0].message;
  ends.own_token = ends.tokens[2];
  notices = notices_of(ends, kNow_s);
  ASSERT_EQ(notices.size(), 2U);
  EXPECT_EQ(notices[0].kind, Kind::own_token);
  EXPECT_TRUE(notices[1].message.starts_with("the token of alice ends in 20 days, at "))
      << notices[1].message;
  EXPECT_TRUE(notices[1].message.ends_with("--role viewer NAME'")) << notices[1].message;
}

// Another's, though not as strong, does not replace it.
TEST(ServerNotices, CountAdministratorsTokensThatAreNotTheLast) {
  Ends ends;
  ends.for_administrators = true;
  ends.tokens = {token_of("root", Role::admin, 90, 20), token_of("deputy", Role::admin, 90, 10),
                 token_of("root2", Role::viewer, 90, 80)};
  ends.tokens[2].subject = "root";
  EXPECT_EQ(kinds(ends), (std::vector{Kind::tokens, Kind::admin_token}));
}

TEST(ServerNotices, SayThatNoAdministratorIsLeft) {
  Ends ends;
  ends.authority_unix_s = kNow_s + 4000 * kDay_s;
  ends.tokens = {admin_until(kNow_s - 1)};
  const auto notices = notices_of(ends, kNow_s);
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_NE(notices[0].message.find("stripline-server token --role admin"), std::string::npos);
}

}  // namespace
}  // namespace stripline::server
