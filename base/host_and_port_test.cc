#include "base/host_and_port.h"

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(HostAndPort, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_host_and_port("head:7411")->host, "head");
  EXPECT_EQ(parse_host_and_port("[::1]:7411")->host, "::1");
  EXPECT_EQ(parse_host_and_port("[::1]:7411")->text(), "[::1]:7411");
  EXPECT_EQ(parse_host_and_port("10.0.0.1:80")->text(), "10.0.0.1:80");
  for (const char* bad :
       {"", "head", "head:", ":7411", "::1:7411", "head:0", "head:65536", "head:x"}) {
    EXPECT_FALSE(parse_host_and_port(bad).ok()) << bad;
  }
}

TEST(HostAndPort, ServersAreSeparatedByCommas) {
  const auto servers = parse_servers("head:7411,[::1]:7412");
  ASSERT_TRUE(servers.ok()) << servers.error().message();
  ASSERT_EQ(servers->size(), 2U);
  EXPECT_EQ(servers->back().port, "7412");
  EXPECT_EQ(text_of(*servers), "head:7411,[::1]:7412");
  for (const char* bad : {"", ",", "head:7411,", "head:7411,spare", "head:7411 spare:7411"}) {
    EXPECT_FALSE(parse_servers(bad).ok()) << bad;
  }
}

TEST(HostAndPort, MessagesSayWhatIsMissing) {
  EXPECT_NE(parse_host_and_port("").error().message().find("is empty"), std::string::npos);
  EXPECT_NE(parse_host_and_port("head").error().message().find("'head' names no port"),
            std::string::npos);
}

}  // namespace
}  // namespace stripline
