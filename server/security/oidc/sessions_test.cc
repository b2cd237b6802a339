#include "server/security/oidc/sessions.h"

#include <gtest/gtest.h>

namespace stripline::server::oidc {
namespace {

Person person(const std::string& name, double until_s) { return {name, {}, true, until_s, {}}; }

TEST(SessionsTest, EndWithTheirToken) {
  Sessions sessions;
  sessions.add("a", person("alice", 100), 10);
  EXPECT_EQ(sessions.find("a", 100)->name, "alice");
  EXPECT_FALSE(sessions.find("a", 101));
  EXPECT_FALSE(sessions.find("b", 10));
  sessions.end("a");
  EXPECT_FALSE(sessions.find("a", 10));
}

TEST(SessionsTest, OnePersonDoesNotPushOthersOut) {
  Sessions sessions(4, 2);
  sessions.add("a1", person("alice", 100), 10);
  sessions.add("b1", person("bob", 50), 10);
  sessions.add("a2", person("alice", 200), 10);
  sessions.add("a3", person("alice", 300), 10);
  EXPECT_FALSE(sessions.find("a1", 10)) << "hers that would have ended first";
  EXPECT_TRUE(sessions.find("a2", 10));
  EXPECT_TRUE(sessions.find("b1", 10));
  sessions.add("c1", person("carol", 400), 10);
  sessions.add("d1", person("dave", 400), 10);
  EXPECT_EQ(sessions.size(), 4U);
  EXPECT_FALSE(sessions.find("b1", 10));
  sessions.add("e1", person("eve", 500), 250);
  EXPECT_EQ(sessions.size(), 4U) << "a3, c1, d1, e1: what has ended makes room first";
  EXPECT_TRUE(sessions.find("d1", 250));
}

}  // namespace
}  // namespace stripline::server::oidc
