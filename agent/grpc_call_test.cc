// The call against bytes that no gRPC server of ours would send; what a real one sends is tested in
// agent_test.cc.
#include "agent/grpc_call.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "agent/server_address.h"

namespace stripline::agent {
namespace {

constexpr int kUnavailable = 14;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string all_output(GrpcCall& call) {
  std::string all;
  for (std::string_view part = call.output(); !part.empty(); part = call.output()) {
    all += part;
    call.consume_output(part.size());
  }
  return all;
}

// A frame of HTTP/2 with its nine bytes of header.
std::string frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
  std::string out;
  for (int shift = 16; shift >= 0; shift -= 8)
    out += static_cast<char>(payload.size() >> shift & 0xff);
  out += static_cast<char>(type);
  out += static_cast<char>(flags);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(stream >> shift & 0xff);
  return out + payload;
}

constexpr uint8_t kData = 0;
constexpr uint8_t kHeaders = 1;
constexpr uint8_t kReset = 3;
constexpr uint8_t kSettings = 4;
constexpr uint8_t kGoAway = 7;
constexpr uint8_t kWindowUpdate = 8;
constexpr uint8_t kEndStream = 1;
constexpr uint8_t kEndHeaders = 4;

// HPACK without compression: a literal field that is not indexed.
std::string field(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

const std::string kHandshake = frame(kSettings, 0, 0, "");
const std::string kAnswer = frame(kHeaders, kEndHeaders, 1, field(":status", "200"));

std::string message(const std::string& text) {
  return std::string(4, '\0') + static_cast<char>(text.size()) + text;
}

TEST(GrpcCall, BeginsWithThePrefaceAndItsMessage) {
  GrpcCall call("head:7411", "/stripline.v1.Agents/Session");
  call.send("payload");
  const std::string output = all_output(call);
  EXPECT_TRUE(output.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_NE(output.find(message("payload")), std::string::npos);
  EXPECT_TRUE(all_output(call).empty());
  call.send("more");
  EXPECT_NE(all_output(call).find(message("more")), std::string::npos);
}

TEST(GrpcCall, MessagesMayArriveByteByByte) {
  GrpcCall call("h:1", "/s/m");
  all_output(call);
  const std::string input = kHandshake + kAnswer +
                            frame(kData, 0, 1, message("one") + message("")) +
                            frame(kData, 0, 1, message("three"));
  std::vector<std::string> messages;
  for (const char byte : input) {
    call.receive(bytes_of(std::string_view(&byte, 1)));
    for (std::string& text : call.take_messages()) messages.push_back(std::move(text));
  }
  EXPECT_EQ(messages, (std::vector<std::string>{"one", "", "three"}));
  EXPECT_FALSE(call.status());
}

TEST(GrpcCall, TrailersAreTheStatus) {
  GrpcCall call("h:1", "/s/m");
  all_output(call);
  call.receive(
      bytes_of(kHandshake + kAnswer +
               frame(kHeaders, kEndHeaders | kEndStream, 1,
                     field("grpc-status", "6") + field("grpc-message", "nodes/a%3A in use%") +
                         field("grpc-status-details-bin", "aGVsbG8="))));
  ASSERT_TRUE(call.status());
  EXPECT_EQ(call.status()->code, 6);
  EXPECT_EQ(call.status()->message, "nodes/a: in use%");
  EXPECT_EQ(call.status()->details, "hello");
}

TEST(GrpcCall, AnAnswerMayConsistOfTrailersOnly) {
  GrpcCall call("h:1", "/s/m");
  all_output(call);
  call.receive(bytes_of(kHandshake + frame(kHeaders, kEndHeaders | kEndStream, 1,
                                           field(":status", "200") + field("grpc-status", "14") +
                                               field("grpc-message", "stopping"))));
  ASSERT_TRUE(call.status());
  EXPECT_EQ(call.status()->code, kUnavailable);
  EXPECT_EQ(call.status()->message, "stopping");
}

TEST(GrpcCall, LargeMessagesKeepToThePeersWindow) {
  constexpr size_t kWindow = 65535;
  GrpcCall call("h:1", "/s/m");
  const std::string before = all_output(call);
  call.receive(bytes_of(kHandshake + kAnswer));
  all_output(call);
  call.send(std::string(2 * (kWindow - 5), 'x'));
  const auto payload = [](const std::string& output) {
    return static_cast<size_t>(std::count(output.begin(), output.end(), 'x'));
  };
  EXPECT_EQ(payload(all_output(call)), kWindow - 5);  // the message's own prefix counts
  EXPECT_TRUE(all_output(call).empty());
  const std::string more("\0\1\0\0", 4);
  call.receive(bytes_of(frame(kWindowUpdate, 0, 1, more)));
  EXPECT_TRUE(all_output(call).empty()) << "the connection has a window, too";
  call.receive(bytes_of(frame(kWindowUpdate, 0, 0, more)));
  EXPECT_EQ(payload(all_output(call)), kWindow - 5);
  EXPECT_FALSE(call.status());
}

TEST(GrpcCall, AGoodbyeEndsTheCallOnlyIfTheServerHasNotTakenIt) {
  const auto goodbye = [](char last_stream) {
    return frame(kGoAway, 0, 0, std::string("\0\0\0", 3) + last_stream + std::string(4, '\0'));
  };
  GrpcCall refused("h:1", "/s/m");
  all_output(refused);
  refused.receive(bytes_of(kHandshake + goodbye('\0')));
  ASSERT_TRUE(refused.status());
  EXPECT_EQ(refused.status()->code, kUnavailable);

  GrpcCall taken("h:1", "/s/m");
  all_output(taken);
  taken.receive(bytes_of(kHandshake + kAnswer + goodbye('\1')));
  all_output(taken);
  EXPECT_FALSE(taken.status());
  taken.receive(bytes_of(frame(kData, 0, 1, message("last"))));
  EXPECT_EQ(taken.take_messages(), std::vector<std::string>{"last"});
}

TEST(GrpcCall, EveryOtherEndIsAnErrorWithAReason) {
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"));
    all_output(call);
    ASSERT_TRUE(call.status());
    EXPECT_EQ(call.status()->code, kUnavailable);
    EXPECT_NE(call.status()->message.find("HTTP/2"), std::string::npos);
  }
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(bytes_of(kHandshake + frame(kReset, 0, 1, std::string("\0\0\0\7", 4))));
    ASSERT_TRUE(call.status());
    EXPECT_EQ(call.status()->message, "the server closed the stream: REFUSED_STREAM");
  }
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(bytes_of(kHandshake + kAnswer + frame(kData, 0, 1, "\1" + std::string(4, '\0'))));
    ASSERT_TRUE(call.status());
    EXPECT_NE(call.status()->message.find("compressed"), std::string::npos);
  }
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(
        bytes_of(kHandshake + kAnswer + frame(kData, 0, 1, std::string("\0\377\377\377\377", 5))));
    ASSERT_TRUE(call.status());
    EXPECT_NE(call.status()->message.find("64 MiB"), std::string::npos);
  }
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(bytes_of(kHandshake + frame(kHeaders, kEndHeaders, 1, field(":status", "502")) +
                          frame(kData, kEndStream, 1, "<html>")));
    ASSERT_TRUE(call.status());
    EXPECT_EQ(call.status()->code, kUnavailable);
  }
  {
    GrpcCall call("h:1", "/s/m");
    all_output(call);
    call.receive(bytes_of(kHandshake + kAnswer + frame(kData, kEndStream, 1, "")));
    ASSERT_TRUE(call.status());
    EXPECT_EQ(call.status()->message, "the server ended the call without a status of gRPC");
  }
  {
    GrpcCall call("h:1", "/s/m");
    call.connection_lost("connection refused");
    call.connection_lost("later");
    EXPECT_EQ(call.status()->message, "connection refused");
    call.send("ignored");
    call.receive(bytes_of("ignored"));
  }
}

TEST(ServerAddress, EveryAddressIsTriedFirstInItsTurn) {
  std::vector<SocketAddress> addresses(3);
  for (socklen_t i = 0; i < 3; ++i) addresses[i].size = i;
  for (size_t attempt = 0; attempt < 6; ++attempt) {
    const auto order = in_turn(addresses, attempt);
    ASSERT_EQ(order.size(), 3U);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(order[i].size, (attempt + i) % 3);
  }
  EXPECT_TRUE(in_turn({}, 1).empty());
}

TEST(ServerAddress, NumbersAreFoundAtOnceAndNonsenseIsAnError) {
  const AddressLookup numeric(*parse_host_and_port("127.0.0.1:7411"));
  ASSERT_TRUE(numeric.result());
  ASSERT_TRUE(numeric.result()->ok());
  EXPECT_EQ((**numeric.result()).size(), 1U);
}

}  // namespace
}  // namespace stripline::agent
