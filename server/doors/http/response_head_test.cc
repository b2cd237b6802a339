#include "server/doors/http/response_head.h"

#include <gtest/gtest.h>

namespace stripline::server::http {
namespace {

TEST(ResponseHead, SaysWhatFollows) {
  Response response;
  response.etag = "\"x\"";
  const std::string head = head_of(response, {Framing::length, 5, true, 0});
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"))
      << head;
  EXPECT_NE(head.find("\r\nContent-Length: 5\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nCache-Control: no-cache\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("default-src 'self'"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_EQ(head.find("Connection"), std::string::npos) << head;
}

TEST(ResponseHead, KnowsItsStatus) {
  Response response;
  response.status = kTooManyRequests;
  response.retry_after_s = 7;
  const std::string head = head_of(response, {Framing::chunked, 0, false, 0});
  EXPECT_NE(head.find("429 Too Many Requests\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nRetry-After: 7\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nTransfer-Encoding: chunked\r\n"), std::string::npos) << head;
  EXPECT_NE(head.find("\r\nConnection: close\r\n"), std::string::npos) << head;
  EXPECT_EQ(head.find("Content-Length"), std::string::npos) << head;
}

TEST(ResponseHead, APieceIsAChunk) {
  EXPECT_EQ(chunk_of(std::string(26, 'x')).substr(0, 5), "1a\r\nx");
}

}  // namespace
}  // namespace stripline::server::http
