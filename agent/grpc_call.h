// One bidirectional gRPC call over one HTTP/2 connection, as a protocol without a socket: bytes in,
// bytes and messages out. Why not gRPC's own library: it keeps two threads with timers that wake at
// least once a second each for as long as a channel exists (timer_generic.cc looks ahead by one
// second at most), and an idle agent is to wake less than that in all. HTTP/2 itself is nghttp2's.
// The mapping of gRPC onto it is that of gRPC's "PROTOCOL-HTTP2" document, without compression.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct nghttp2_session;

namespace stripline::agent {

/// How a call ended: a canonical gRPC code (0 is OK), its message, and the serialised details of
/// the trailer grpc-status-details-bin.
struct GrpcStatus {
  int code = 0;
  std::string message;
  std::string details;
};

class GrpcCall {
 public:
  struct Options {
    bool secure = false;  ///< What is below encrypts.
    std::string bearer;   ///< Shown as authorization; empty: none.
  };
  /// `authority` is "host:port", `path` "/package.Service/Method".
  GrpcCall(const std::string& authority, const std::string& path)
      : GrpcCall(authority, path, Options{}) {}
  GrpcCall(const std::string& authority, const std::string& path, const Options& options);
  ~GrpcCall();
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

  /// Queues a serialised message. Ignored after finish() and after the end.
  void send(std::string_view message);
  /// Nothing more will be sent after what is queued.
  void finish();

  /// True if HTTP/2 has taken all messages that were queued.
  bool is_drained() const { return outbox_.empty(); }

  /// Bytes from the connection. What is wrong with them ends the call (status()).
  void receive(std::span<const uint8_t> bytes);
  /// The connection has ended or failed. Without effect once the call has ended.
  void connection_lost(const std::string& why);

  /// The bytes to write to the connection next; empty if none are waiting.
  std::string_view output();
  /// The first `bytes` of output() have been written.
  void consume_output(size_t bytes);

  /// Whole messages received since the last call, serialised.
  std::vector<std::string> take_messages();

  /// Set once the call has ended.
  const std::optional<GrpcStatus>& status() const { return status_; }

 private:
  struct Callbacks;
  friend struct Callbacks;

  void on_header(std::string_view name, std::string_view value);
  bool answered_ok() const;
  void on_data(std::string_view bytes);
  void on_end(uint32_t error_code);
  void fail(int code, std::string message);

  struct Deleter {
    void operator()(nghttp2_session* session) const;
  };
  std::unique_ptr<nghttp2_session, Deleter> session_;
  int32_t stream_ = -1;
  std::deque<std::string> outbox_;  // framed messages that HTTP/2 has not taken yet
  size_t outbox_offset_ = 0;        // taken bytes of the first one
  bool finishing_ = false;
  std::string output_;
  size_t output_offset_ = 0;
  std::string inbox_;  // bytes of messages that are not complete
  std::vector<std::string> messages_;
  std::map<std::string, std::string, std::less<>> headers_;  // and trailers
  std::optional<GrpcStatus> status_;
};

}  // namespace stripline::agent
