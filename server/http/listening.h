// What the HTTP servers of this program have in common: how they take a port, and how they end.
// Includes the library: for .cc files.
#pragma once

#include <cstdint>
#include <httplib.h>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"

namespace stripline::server::http {

/// Runs a server of the library on a thread of its own. The server must outlive it.
class Listening {
 public:
  explicit Listening(httplib::Server& server) : server_(server) {}
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  /// Waits for answers in progress.
  ~Listening();

  /// `threads` connections at a time, each request with a body of at most `most_body_bytes`; `what`
  /// ("metrics") is for messages. Gives the port. Errors: already_exists when another server has
  /// it, invalid_argument or unavailable when it cannot listen there.
  Result<uint16_t> start(const std::string& host, uint16_t port, size_t threads,
                         size_t most_body_bytes, std::string_view what);

 private:
  httplib::Server& server_;
  std::thread thread_;
};

}  // namespace stripline::server::http
