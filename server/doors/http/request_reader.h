// The bytes of a connection as requests, within bounds. Pure: no sockets, no clock. What is kept of
// a request that is not whole yet is at most Bounds::head_bytes and Bounds::body_bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "server/doors/http/bounds.h"
#include "server/doors/http/message.h"

namespace stripline::server::http {

/// Why a request is not answered, for who has sent it.
struct Refusal {
  int status = kBadRequest;
  std::string why;  ///< one sentence
};

/// Reads one request. Refused are, besides what is no HTTP/1: what is beyond the bounds; other
/// methods than GET, HEAD and POST; bodies that are compressed, and other transfer encodings than
/// chunked; lengths that contradict each other; paths and queries that cannot be decoded.
///
/// Not thread-safe.
class RequestReader {
 public:
  enum class State {
    partial,  ///< more bytes are needed
    whole,    ///< request() is there
    refused   ///< refusal() says why; nothing that follows can be read
  };

  /// `bounds` must outlive it.
  explicit RequestReader(const Bounds& bounds);
  RequestReader(RequestReader&& other) noexcept;
  RequestReader& operator=(RequestReader&& other) noexcept;
  ~RequestReader();

  /// Takes what has come. Returns the number of bytes that were taken: all of them, unless the
  /// request is whole before, or refused.
  size_t take(std::string_view bytes);

  State state() const { return state_; }
  /// Nothing of a request has come yet.
  bool empty() const { return empty_; }
  /// Bytes that it keeps.
  size_t kept_bytes() const;
  /// The request, once it is whole; to be called once.
  Request request();
  /// Whether another may follow this one, which is whole, on the connection.
  bool keep_alive() const;
  /// Whether it, once whole, is of HTTP/1.0, which knows no chunks.
  bool is_old() const;
  const Refusal& refusal() const { return refusal_; }
  /// True once, when the caller waits to hear that his body is wanted (Expect: 100-continue).
  bool wants_to_be_asked();

 private:
  struct Parser;
  void refuse(int status, std::string why);
  void refuse_for(int error);
  bool line_fits();
  void look_at_head();

  const Bounds* bounds_;
  std::unique_ptr<Parser> parser_;
  std::string pending_;  // what the parser has not taken yet
  State state_ = State::partial;
  Refusal refusal_;
  bool empty_ = true;
  bool line_read_ = false;
  bool head_read_ = false;
  bool asks_ = false;
};

}  // namespace stripline::server::http
