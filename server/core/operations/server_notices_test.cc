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
  ends.own_token_unix_s = kNow_s + 8 * kDay_s;
  EXPECT_TRUE(kinds(ends).empty());
  EXPECT_TRUE(kinds({}).empty());
}

TEST(ServerNotices, NameWhatEndsTheSoonestFirst) {
  Ends ends;
  ends.tokens = {admin_until(kNow_s + 29.5 * kDay_s)};
  ends.server_certificate_unix_s = kNow_s + 20 * kDay_s;
  ends.authority_unix_s = kNow_s + 80 * kDay_s;
  ends.nodes = {{"a", kNow_s + 8 * kDay_s}, {"b", kNow_s - 5 * kDay_s}};
  ends.own_token_unix_s = kNow_s + 6 * kDay_s;
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
