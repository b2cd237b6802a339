// What one caller of an HTTP door may have it keep, and for how long. A request that goes beyond is
// refused before more of it is read.
#pragma once

#include <cstddef>

namespace stripline::server::http {

struct Bounds {
  size_t line_bytes = size_t{8} << 10;   ///< the request line: method, path and query
  size_t head_bytes = size_t{16} << 10;  ///< the request line and all header lines together
  size_t fields = 64;                    ///< header lines
  size_t body_bytes = size_t{64} << 10;  ///< the body, however it is framed

  /// A request has come whole this long after its first byte; the first one of a connection, with
  /// the handshake of TLS, this long after the connection was made.
  double request_s = 10;
  double idle_s = 15;   ///< between two requests
  double write_s = 20;  ///< until the caller has taken a piece of an answer (kPieceBytes at most)

  size_t connections = 512;                  ///< at a time; as many may wait for a seat (seats.h)
  size_t connections_of_address = 64;        ///< of them, from one address (seats.h)
  size_t streams = 256;                      ///< of them, with event streams
  size_t streams_of_address = 32;            ///< of them, from one address, which has seats left
  size_t answers_bytes = size_t{128} << 20;  ///< in memory, of answers that are not sent yet
  /// Bytes of unsent answers to one caller; a single answer may have more.
  size_t answers_bytes_of_payer = size_t{32} << 20;
};

/// What is written to a connection at once.
inline constexpr size_t kPieceBytes = size_t{64} << 10;

}  // namespace stripline::server::http
