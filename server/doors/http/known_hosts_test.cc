#include "server/doors/http/known_hosts.h"

#include <gtest/gtest.h>

namespace stripline::server::http {
namespace {

class KnownHostsTest : public testing::Test {
 protected:
  // The status that is answered; 0: none, it is let through.
  int status(const std::string& host, const std::string& origin = "") const {
    Request request;
    request.host = host;
    request.origin = origin;
    const auto refusal = hosts_.refusal(request);
    return refusal ? refusal->status : 0;
  }

  const KnownHosts hosts_{{"Head", "head.example.org", ""}};
};

TEST_F(KnownHostsTest, NamesOfTheServerAndAddressesAreItsOwn) {
  for (const char* own : {"head", "HEAD:7413", "head.example.org.:80", "localhost:1", "10.0.0.1",
                          "10.0.0.1:7413", "[::1]", "[fe80::1]:7413", ""}) {
    EXPECT_EQ(status(own), 0) << own;
  }
}

TEST_F(KnownHostsTest, OtherNamesAreRefused) {
  for (const char* foreign :
       {"evil.example", "evil.example:7413", "head.evil.example", "xhead", "head@evil.example",
        "10.0.0.1.evil.example", "0x7f.1", "[evil]", "[::1", "::1", "head evil"}) {
    EXPECT_EQ(status(foreign), 421) << foreign;
  }
}

TEST_F(KnownHostsTest, PagesOfElsewhereMayNotAsk) {
  EXPECT_EQ(status("head:7413", "http://head:7413"), 0);
  EXPECT_EQ(status("head:7413", "https://HEAD:7413"), 0) << "a proxy may end its TLS";
  for (const char* foreign : {"http://evil.example", "http://head", "http://head:7412", "null",
                              "head:7413", "http://head:7413.evil.example", "file://"}) {
    EXPECT_EQ(status("head:7413", foreign), 403) << foreign;
  }
  EXPECT_EQ(status("", "http://evil.example"), 403);
}

TEST_F(KnownHostsTest, WhatIsQuotedIsCut) {
  Request request;
  request.host = std::string(8000, 'x') + "\x1b[2J";
  const auto refusal = hosts_.refusal(request);
  ASSERT_TRUE(refusal);
  EXPECT_LT(refusal->why.size(), 200U);
}

}  // namespace
}  // namespace stripline::server::http
