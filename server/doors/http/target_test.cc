#include "server/doors/http/target.h"

#include <gtest/gtest.h>

namespace stripline::server::http {
namespace {

TEST(Target, IsDecoded) {
  const auto target = parse_target("/api/v1/nodes/a%2Fb?page_size=10&reason=a+new%20NIC&flag&=x");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/nodes/a/b");
  EXPECT_EQ(target->authority, "");
  const std::map<std::string, std::string> query = {
      {"flag", ""}, {"page_size", "10"}, {"reason", "a new NIC"}};
  EXPECT_EQ(target->query, query);
}

TEST(Target, MayBeAnAddress) {
  const auto target = parse_target("http://head:7413/nodes?x=1#part");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->authority, "head:7413");
  EXPECT_EQ(target->path, "/nodes");
  EXPECT_EQ(target->query.at("x"), "1");
  EXPECT_EQ(parse_target("https://head")->path, "/");
}

TEST(Target, OfANameTheFirstValueCounts) {
  EXPECT_EQ(parse_target("/x?a=1&a=2")->query.at("a"), "1");
}

TEST(Target, WhatCannotBeReadIsNone) {
  for (const char* wrong : {"", "nodes", "*", "http://", "ftp://head/", "/%", "/%4", "/%zz", "/%00",
                            "/x?a=%", "head:7413"}) {
    EXPECT_FALSE(parse_target(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace stripline::server::http
