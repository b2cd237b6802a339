#include "base/web/url.h"

#include <gtest/gtest.h>

namespace stripline::web {
namespace {

TEST(UrlTest, ReadsItsParts) {
  const auto url = parse_url("https://login.example.org:8443/realms/hpc?a=b");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "login.example.org");
  EXPECT_EQ(url->port, "8443");
  EXPECT_EQ(url->target, "/realms/hpc?a=b");
  EXPECT_EQ(url->authority, "login.example.org:8443");
  EXPECT_EQ(parse_url("https://a")->port, "443");
  EXPECT_EQ(parse_url("https://a")->target, "/");
  EXPECT_EQ(parse_url("https://a?b=c")->target, "/?b=c");
  EXPECT_EQ(parse_url("https://[2001:db8::1]:444/x")->host, "2001:db8::1");
}

TEST(UrlTest, PlainTextIsForThisMachineAlone) {
  for (const char* here : {"http://127.0.0.1:80/", "http://localhost/x", "http://[::1]:8080"}) {
    EXPECT_TRUE(parse_url(here).ok()) << here;
  }
  for (const char* there : {"http://login.example.org", "http://127.evil.example",
                            "http://localhost.evil.example", "http://10.0.0.1"}) {
    EXPECT_FALSE(parse_url(there).ok()) << there;
  }
}

TEST(UrlTest, RefusesWhatIsNone) {
  for (const char* wrong :
       {"", "login.example.org", "ftp://a", "https://", "https:///x", "https://a:0", "https://a:x",
        "https://a:70000", "https://me@a", "https://a/#b", "https://a/ b", "https://a\r\nHost: b",
        "https://a\\b", "https://[::1", "https://[a]"}) {
    EXPECT_FALSE(parse_url(wrong).ok()) << wrong;
  }
  EXPECT_FALSE(parse_url("https://a/" + std::string(3000, 'x')).ok());
}

}  // namespace
}  // namespace stripline::web
