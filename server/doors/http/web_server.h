// A small HTTP server for pages and for programs that read them. It knows nothing of what it
// serves: one handler answers every request. What callers may make it keep is bounded (bounds.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/doors/http/bounds.h"
#include "server/doors/http/message.h"

namespace stripline::server::http {

struct WebServerOptions {
  std::string host;
  uint16_t port = 0;  ///< 0: any free one
  /// PEM files to serve by TLS with, read again for each connection, so that renewed ones count;
  /// empty: plain text.
  std::filesystem::path certificate_file = {};
  std::filesystem::path key_file = {};
  /// Names under which it is reached, besides `host`, "localhost" and addresses (known_hosts.h).
  std::vector<std::string> names = {};
  /// Addresses that bring many callers: the bounds of an address do not hold for them.
  std::vector<std::string> proxies = {};
  Bounds bounds = {};
  size_t threads = 4;  ///< that call the handler; none of them waits for a caller
};

class WebServer {
 public:
  /// Sends the answer. To be called once, from any thread, before the server is destroyed.
  using Reply = std::function<void(Response)>;
  /// Called on several threads at a time. May keep `reply`, and call it later. What it throws is
  /// answered by kInternalError, unless it has replied.
  using Handler = std::function<void(Request request, Reply reply)>;

  /// Serves until it is destroyed. Errors: already_exists when another server has the port;
  /// invalid_argument, unavailable, when it cannot listen there; data_loss when the certificate
  /// cannot be read.
  static Result<WebServer> start(const WebServerOptions& options, Handler handler);
  WebServer(WebServer&& other) noexcept;
  WebServer& operator=(WebServer&&) = delete;
  /// Takes no more connections, waits a moment for answers and streams that are about to end, and
  /// for calls of the handler.
  ~WebServer();

  /// The real one.
  uint16_t port() const;

 private:
  class Impl;
  explicit WebServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::server::http
