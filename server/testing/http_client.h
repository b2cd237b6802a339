// A client of HTTP for tests.
#pragma once

#include <ctime>
#include <httplib.h>
#include <string>

namespace stripline::server {

// A client of `url` (scheme, host and port) that gives up after a minute, in seconds: httplib's own
// 5 s are less than an answer can take in a sanitized build on a loaded host.
inline httplib::Client http_client(const std::string& url) {
  constexpr time_t kPatienceS = 60;
  httplib::Client client(url);
  client.set_connection_timeout(kPatienceS);
  client.set_read_timeout(kPatienceS);
  client.set_write_timeout(kPatienceS);
  return client;
}

// A client of a port of this host, without TLS, that waits as long.
inline httplib::Client http_client(int port) {
  return http_client("http://127.0.0.1:" + std::to_string(port));
}

}  // namespace stripline::server
