#include "server/doors/listen_address.h"

#include <gtest/gtest.h>

namespace stripline::server {
namespace {

TEST(ListenAddress, Parses) {
  const auto v4 = *parse_listen_address("127.0.0.1:7411");
  EXPECT_EQ(v4.host, "127.0.0.1");
  EXPECT_EQ(v4.port, 7411);
  EXPECT_TRUE(v4.is_loopback());
  const auto v6 = *parse_listen_address("[::1]:0");
  EXPECT_EQ(v6.host, "::1");
  EXPECT_EQ(v6.text(), "[::1]:0");
  EXPECT_TRUE(v6.is_loopback());
  EXPECT_TRUE(parse_listen_address("localhost:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("0.0.0.0:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("head.example:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("127.example.org:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("[::]:1")->is_loopback());
  EXPECT_TRUE(parse_listen_address("127.1.2.3:1")->is_loopback());
  EXPECT_TRUE(parse_listen_address("[0:0:0:0:0:0:0:1]:1")->is_loopback());
}

TEST(ListenAddress, RefusesOtherTexts) {
  for (const char* text :
       {"", "7411", "host:", ":7411", "host:x", "host:70000", "host:-1", "::1:7411", "host:1x"}) {
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.error().code(), ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace stripline::server
