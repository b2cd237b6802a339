// The client's side of a TLS connection as a protocol without a socket: bytes in, bytes out. The
// counterpart of what speaks over it (agent/grpc_call.h), so that one poll loop serves both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_st;

namespace stripline::pki {

struct TlsSettings {
  /// The name or address that the server's certificate must have.
  std::string host;
  /// The authority that must have signed the server's certificate: itself, in PEM, or its sha256,
  /// with which it is taken from what the server sends. One of the two is given.
  std::string authority_pem;
  std::string authority_sha256;
  /// The identity that this client shows, in PEM; empty: it shows no certificate.
  std::string certificate_pem;
  std::string key_pem;
};

/// TLS 1.2 or newer with HTTP/2 above it (ALPN "h2", without which the connection fails).
class TlsStream {
 public:
  /// Errors: invalid_argument or data_loss for settings that cannot be used.
  static Result<TlsStream> start(const TlsSettings& settings);
  TlsStream(TlsStream&&) noexcept;
  TlsStream& operator=(TlsStream&&) noexcept;
  ~TlsStream();

  /// Bytes from the connection. What is wrong with them ends the stream (failure()).
  void receive(std::span<const uint8_t> bytes);
  /// What they said: moved out. Bytes that came before a failure are still handed out.
  std::string take_plain();
  /// The peer has said that nothing more comes. Bytes that merely stop are a failure for the
  /// caller to report.
  bool ended() const { return ended_; }

  /// Encrypts, and returns how many bytes were taken: none before the handshake is done.
  size_t write(std::string_view plain);
  /// Says that nothing more will come.
  void finish();

  /// The bytes to write to the connection next; empty if none are waiting.
  std::string_view output();
  /// The first `bytes` of output() have been written.
  void consume_output(size_t bytes);

  bool established() const { return established_; }
  const std::optional<Error>& failure() const { return failure_; }

  /// The certificate of the authority that signed the peer's, in PEM; empty before established().
  std::string authority_pem() const;

 private:
  struct Free {
    void operator()(ssl_st* ssl) const;
  };
  explicit TlsStream(ssl_st* ssl) : ssl_(ssl) {}
  void advance();
  void check_established();
  void fail(const std::string& what);

  std::unique_ptr<ssl_st, Free> ssl_;
  std::string plain_;
  std::string output_;
  size_t output_offset_ = 0;
  bool established_ = false;
  bool ended_ = false;
  std::optional<Error> failure_;
};

}  // namespace stripline::pki
