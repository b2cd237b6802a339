#include "server/listen_address.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"

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

TEST(ListenAddress, SaysWhyItCannotBind) {
  EXPECT_TRUE(check_bindable({"127.0.0.1", 0}).ok());

  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener.get(), generic, size), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), generic, &size), 0);
  const Status taken = check_bindable({"127.0.0.1", ntohs(address.sin_port)});
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code(), ErrorCode::already_exists);

  // TEST-NET-1 of RFC 5737: no machine has it.
  const Status foreign = check_bindable({"192.0.2.1", 0});
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace stripline::server
