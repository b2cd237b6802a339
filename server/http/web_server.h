// A small HTTP server with threads of its own, for pages and for programs that read them. It knows
// nothing of what it serves: one handler answers every request.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace stripline::server::http {

inline constexpr int kOk = 200;
inline constexpr int kNotModified = 304;
inline constexpr int kBadRequest = 400;
inline constexpr int kUnauthorised = 401;
inline constexpr int kForbidden = 403;
inline constexpr int kNotFound = 404;
inline constexpr int kConflict = 409;
inline constexpr int kWrongType = 415;
inline constexpr int kTooManyRequests = 429;
inline constexpr int kInternalError = 500;
inline constexpr int kNotImplemented = 501;
inline constexpr int kUnavailable = 503;

/// What a POST may bring with it.
inline constexpr size_t kMostBodyBytes = size_t{64} << 10;

struct Request {
  bool post = false;                         ///< else GET
  std::string path;                          ///< "/api/v1/nodes", decoded
  std::map<std::string, std::string> query;  ///< decoded; of a name that comes twice, one
  std::string bearer;                        ///< what Authorization shows, without "Bearer "
  std::string if_none_match;                 ///< an entity tag
  std::string peer;                          ///< the address it comes from
  std::string type;                          ///< of the body: "application/json"
  std::string body;
};

struct Response {
  int status = kOk;
  std::string type = "application/json";
  std::string body;
  std::string etag = {};  ///< empty: none, and the answer must not be kept
  /// In place of a body: called for one piece after the other, each of which is sent at once, until
  /// it gives nullopt. May wait for a second, then should give an empty piece, so that an end is
  /// noticed.
  std::function<std::optional<std::string>()> next_piece = {};
};

struct WebServerOptions {
  std::string host;
  uint16_t port = 0;  ///< 0: any free one
  /// PEM files to serve by TLS with, read again for each connection, so that renewed ones count;
  /// empty: plain text.
  std::filesystem::path certificate_file = {};
  std::filesystem::path key_file = {};
  size_t threads = 64;       ///< connections at a time; others wait until one is idle
  size_t most_streams = 32;  ///< of them, those with `next_piece`; others get kTooManyRequests
};

class WebServer {
 public:
  using Handler = std::function<Response(const Request&)>;

  /// Serves until it is destroyed. `handler` is called on several threads at a time. Errors:
  /// already_exists when another server has the port; invalid_argument, unavailable, when it
  /// cannot listen there; data_loss when the certificate cannot be read.
  static Result<WebServer> start(const WebServerOptions& options, Handler handler);
  WebServer(WebServer&& other) noexcept;
  WebServer& operator=(WebServer&&) = delete;
  /// Ends all streams, and waits for answers in progress.
  ~WebServer();

  /// The real one.
  uint16_t port() const;

 private:
  class Impl;
  explicit WebServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::server::http
