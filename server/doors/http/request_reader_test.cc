#include "server/doors/http/request_reader.h"

#include <gtest/gtest.h>

namespace stripline::server::http {
namespace {

using State = RequestReader::State;

class RequestReaderTest : public testing::Test {
 protected:
  // What becomes of these bytes, which come `step` at a time.
  RequestReader& read(const std::string& text, size_t step = SIZE_MAX) {
    reader_ = RequestReader(bounds_);
    for (size_t at = 0; at < text.size() && reader_.state() == State::partial; at += step) {
      reader_.take(std::string_view(text).substr(at, step));
    }
    return reader_;
  }

  // A stream of `unit`, until it is refused. Returns how much was taken.
  size_t pour(const std::string& beginning, const std::string& unit, size_t most) {
    reader_ = RequestReader(bounds_);
    size_t taken = reader_.take(beginning);
    while (reader_.state() == State::partial && taken < most) {
      taken += reader_.take(unit);
      EXPECT_LE(reader_.kept_bytes(), 4 * (bounds_.head_bytes + bounds_.body_bytes));
    }
    return taken;
  }

  Bounds bounds_;
  RequestReader reader_{bounds_};
};

const std::string kGet =
    "GET /api/v1/nodes?page_size=2 HTTP/1.1\r\nHost: head:7413\r\nAuthorization: Bearer secret\r\n"
    "If-None-Match: \"x\"\r\nOrigin: http://head:7413\r\nAccept-Encoding: br\r\n\r\n";

TEST_F(RequestReaderTest, ARequestMayComeInAnyPieces) {
  for (const size_t step : {size_t{1}, size_t{7}, kGet.size()}) {
    ASSERT_EQ(read(kGet, step).state(), State::whole) << reader_.refusal().why;
    EXPECT_TRUE(reader_.keep_alive());
    const Request request = reader_.request();
    EXPECT_FALSE(request.post || request.head);
    EXPECT_EQ(request.path, "/api/v1/nodes");
    EXPECT_EQ(request.query.at("page_size"), "2");
    EXPECT_EQ(request.host, "head:7413");
    EXPECT_EQ(request.bearer, "secret");
    EXPECT_EQ(request.if_none_match, "\"x\"");
    EXPECT_EQ(request.origin, "http://head:7413");
    EXPECT_EQ(request.accept_encoding, "br");
  }
}

TEST_F(RequestReaderTest, WhatFollowsARequestIsLeft) {
  const std::string two = kGet + "GET /next HTTP/1.1\r\n";
  RequestReader reader(bounds_);
  EXPECT_EQ(reader.take(two), kGet.size());
  EXPECT_EQ(reader.state(), State::whole);
}

TEST_F(RequestReaderTest, BodiesAreReadHoweverTheyAreFramed) {
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  ASSERT_EQ(read(head + "Content-Length: 5\r\n\r\nhello", 3).state(), State::whole);
  EXPECT_EQ(reader_.request().body, "hello");
  ASSERT_EQ(read(head + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", 2)
                .state(),
            State::whole);
  const Request request = reader_.request();
  EXPECT_EQ(request.body, "hello");
  EXPECT_TRUE(request.post);
  EXPECT_EQ(request.type, "application/json");
}

TEST_F(RequestReaderTest, WhoWaitsIsAsked) {
  read("POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(reader_.state(), State::partial);
  EXPECT_TRUE(reader_.wants_to_be_asked());
  EXPECT_FALSE(reader_.wants_to_be_asked()) << "once";
}

TEST_F(RequestReaderTest, WhatIsRefused) {
  const struct {
    int status;
    std::string text;
  } cases[] = {
      {405, "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {405, "CONNECT head:1 HTTP/1.1\r\nHost: a\r\n\r\n"},
      {415, "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\n"},
      {415,
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nTransfer-Encoding: "
       "chunked\r\n\r\n"},
      {501, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"},
      {413, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"},
      {400,
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"},
      {400, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"},
      {400, "GET / HTTP/1.1\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"},
      {400, "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n"},
      {400, "GET / HTTP/2.0\r\nHost: a\r\n\r\n"},
      {400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
      {400, std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15)},
      {414, "GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n"},
      {431, "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20000, 'a') + "\r\n\r\n"},
  };
  for (const auto& one : cases) {
    RequestReader reader(bounds_);
    reader.take(one.text);
    EXPECT_EQ(reader.state(), State::refused) << one.text.substr(0, 200);
    EXPECT_EQ(reader.refusal().status, one.status) << one.text.substr(0, 200);
    EXPECT_FALSE(reader.refusal().why.empty());
  }
}

TEST_F(RequestReaderTest, OldRequestsNeedNoHost) {
  ASSERT_EQ(read("GET /healthz HTTP/1.0\r\n\r\n").state(), State::whole);
  EXPECT_TRUE(reader_.is_old());
  EXPECT_FALSE(reader_.keep_alive());
}

TEST_F(RequestReaderTest, ManyHeaderLinesAreRefused) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 100; ++i) text += "x" + std::to_string(i) + ": y\r\n";
  RequestReader reader(bounds_);
  reader.take(text + "\r\n");
  EXPECT_EQ(reader.refusal().status, 431);
}

TEST_F(RequestReaderTest, NothingWithoutEndIsKept) {
  constexpr size_t kMuch = size_t{1} << 26;
  const std::string post = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_LT(pour("GET /", std::string(1000, 'a'), kMuch), kMuch) << "a line";
  EXPECT_LT(pour("GET / HTTP/1.1\r\n", "x: y\r\n", kMuch), kMuch) << "header lines";
  EXPECT_LT(pour("GET / HTTP/1.1\r\nx: ", std::string(1000, 'a'), kMuch), kMuch) << "one of them";
  EXPECT_LT(pour(post, "3e8\r\n" + std::string(1000, 'a') + "\r\n", kMuch), kMuch) << "chunks";
  EXPECT_LT(pour(post + "1;", std::string(1000, 'a'), kMuch), kMuch) << "a chunk's line";
  EXPECT_LT(pour(post + "0\r\n", "x: y\r\n", kMuch), kMuch) << "a trailer";
  pour("", "\r\n", size_t{1} << 16);
  EXPECT_LT(reader_.kept_bytes(), 2 * bounds_.head_bytes) << "empty lines";
}

TEST_F(RequestReaderTest, WhereNoBodyIsReadNoneIsTaken) {
  bounds_.body_bytes = 0;
  const std::string head = "POST /metrics HTTP/1.1\r\nHost: a\r\n";
  RequestReader with_length(bounds_);
  with_length.take(head + "Content-Length: 1\r\n\r\nx");
  EXPECT_EQ(with_length.refusal().status, 413);
  RequestReader chunked(bounds_);
  chunked.take(head + "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n");
  EXPECT_EQ(chunked.refusal().status, 413);
  RequestReader none(bounds_);
  none.take("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(none.state(), State::whole);
}

}  // namespace
}  // namespace stripline::server::http
