// What one caller who shows nothing can try against a door of HTTP: for tests of the doors, and for
// the server under load.
#pragma once

#include <functional>
#include <memory>
#include <openssl/ssl.h>
#include <string>
#include <vector>

#include "base/subprocess.h"

namespace stripline::server {

/// A port of HTTP on this host.
struct HttpDoor {
  std::string name;
  int port = 0;
  bool tls = false;
  std::string path;       ///< answered to whoever asks
  std::string from = {};  ///< an address of this host to connect from; empty: the usual one
};

/// A connection of someone who does not keep to the rules. The process has to ignore SIGPIPE:
/// OpenSSL writes where no one may read any more.
class RudeCaller {
 public:
  /// `receive_bytes`: of the socket's buffer; 0: the usual size. `greets`: begins with TLS where
  /// the door expects it.
  explicit RudeCaller(const HttpDoor& door, int receive_bytes = 0, bool greets = true);

  /// False when the server does not take it within a second.
  bool send(const std::string& text);
  /// The unit again and again, until the server has had enough, or kFloodBytes are sent.
  void pour(const std::string& unit);
  /// Up to 4 KiB of what has come, within a second.
  void read_some();

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  UniqueFd fd_;
  std::unique_ptr<SSL, Free> ssl_;
  bool open_ = false;
};

/// What an attack sends, if it is let: more than it may make the server keep.
inline constexpr size_t kFloodBytes = size_t{64} << 20;

using RudeCallers = std::vector<std::unique_ptr<RudeCaller>>;

struct HttpAttack {
  const char* name;
  /// Returns the connections that it keeps open, for as long as the caller likes.
  std::function<RudeCallers(const HttpDoor&)> act;
};

/// Every attack, each with a few connections.
std::vector<HttpAttack> http_attacks();

/// "GET PATH HTTP/1.1" with these header lines beside Host, each ended by "\r\n".
std::string request_for(const HttpDoor& door, const std::string& more = "");

}  // namespace stripline::server
