// What goes before the body of an answer. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "server/doors/http/message.h"

namespace stripline::server::http {

enum class Framing {
  length,  ///< by Content-Length
  chunked,
  close  ///< until the connection is closed: for HTTP/1.0
};

struct Head {
  Framing framing = Framing::length;
  size_t body_bytes = 0;  ///< with Framing::length
  bool keep_alive = true;
  double now_unix_s = 0;
};

/// Status line and headers, with the empty line after them.
std::string head_of(const Response& response, const Head& head);

/// A refusal that no handler has to do with: plain text.
Response plain_refusal(int status, const std::string& why);

/// A piece as a chunk.
std::string chunk_of(const std::string& piece);
inline constexpr const char* kLastChunk = "0\r\n\r\n";

}  // namespace stripline::server::http
