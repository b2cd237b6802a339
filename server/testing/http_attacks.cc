#include "server/testing/http_attacks.h"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

namespace stripline::server {
namespace {

RudeCallers one(const HttpDoor& door, const std::string& beginning, const std::string& unit) {
  RudeCallers callers;
  callers.push_back(std::make_unique<RudeCaller>(door));
  if (!beginning.empty()) callers.back()->send(beginning);
  callers.back()->pour(unit);
  return callers;
}

std::string post(const std::string& more) {
  return "POST /api/v1/nodes/a/cordon HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

}  // namespace

RudeCaller::RudeCaller(const HttpDoor& door, int receive_bytes, bool greets) {
  fd_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receive_bytes > 0) {
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  // A server that takes nothing more is waited for this long.
  const timeval patience{.tv_sec = 1, .tv_usec = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (!door.from.empty()) {
    ::inet_pton(AF_INET, door.from.c_str(), &address.sin_addr);
    if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  }
  address.sin_port = htons(static_cast<uint16_t>(door.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return;
  open_ = true;
  if (!door.tls || !greets) return;
  static SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  ssl_.reset(SSL_new(context));
  SSL_set_fd(ssl_.get(), fd_.get());
  open_ = SSL_connect(ssl_.get()) == 1;
}

bool RudeCaller::send(const std::string& text) {
  if (!open_) return false;
  if (ssl_) {
    open_ = SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size())) > 0;
    return open_;
  }
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(fd_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return open_ = false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

void RudeCaller::pour(const std::string& unit) {
  std::string block;
  while (block.size() < size_t{32} << 10) block += unit;
  for (size_t sent = 0; sent < kFloodBytes && send(block);) sent += block.size();
}

void RudeCaller::read_some() {
  std::array<char, 4096> buffer{};
  if (ssl_) {
    (void)SSL_read(ssl_.get(), buffer.data(), buffer.size());
  } else {
    (void)::recv(fd_.get(), buffer.data(), buffer.size(), 0);
  }
}

std::string request_for(const HttpDoor& door, const std::string& more) {
  return "GET " + door.path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

std::vector<HttpAttack> http_attacks() {
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
  return {
      {"a request line without end",
       [](const HttpDoor& door) { return one(door, "GET /", std::string(1000, 'a')); }},
      {"header lines without end",
       [](const HttpDoor& door) { return one(door, "GET / HTTP/1.1\r\n", "x-a: b\r\n"); }},
      {"one header line without end",
       [](const HttpDoor& door) {
         return one(door, "GET / HTTP/1.1\r\nx: ", std::string(1000, 'a'));
       }},
      {"empty lines without end", [](const HttpDoor& door) { return one(door, "", "\r\n"); }},
      {"chunks without end",
       [chunk](const HttpDoor& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n"), chunk);
       }},
      {"a chunk's line without end",
       [](const HttpDoor& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n") + "1;", std::string(1000, 'a'));
       }},
      {"trailers without end",
       [](const HttpDoor& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n") + "0\r\n", "x-a: b\r\n");
       }},
      {"a long body",
       [](const HttpDoor& door) {
         return one(door, post("Content-Length: 1000000000\r\n"), std::string(1000, 'a'));
       }},
      // 3 GiB of zeros, in brotli and gzip: what is claimed suffices, as no such body is to be
      // read.
      {"compressed bodies",
       [](const HttpDoor& door) {
         RudeCallers callers;
         for (const char* encoding : {"br", "gzip", "deflate", "zstd"}) {
           callers.push_back(std::make_unique<RudeCaller>(door));
           callers.back()->send(
               post("Content-Encoding: " + std::string(encoding) + "\r\nContent-Length: 2048\r\n") +
               std::string(2048, '\x5b'));
           callers.back()->read_some();
         }
         return callers;
       }},
      {"many ranges",
       [](const HttpDoor& door) {
         std::string ranges = "Range: bytes=0-";
         for (int i = 0; i < 2000; ++i) ranges += ",0-";
         RudeCallers callers;
         for (int i = 0; i < 20; ++i) {
           callers.push_back(std::make_unique<RudeCaller>(door, 4096));
           callers.back()->send(request_for(door, ranges + "\r\n"));
         }
         return callers;
       }},
      {"requests whose answers no one reads",
       [](const HttpDoor& door) {
         RudeCallers callers;
         for (int i = 0; i < 100; ++i) {
           callers.push_back(std::make_unique<RudeCaller>(door, 4096));
           std::string many;
           for (int k = 0; k < 200; ++k) many += request_for(door);
           callers.back()->send(many);
         }
         return callers;
       }},
      {"connections that say nothing",
       [](const HttpDoor& door) {
         RudeCallers callers;
         for (int i = 0; i < 300; ++i) {
           callers.push_back(std::make_unique<RudeCaller>(door, 0, false));
         }
         return callers;
       }},
      {"slow requests",
       [](const HttpDoor& door) {
         RudeCallers callers;
         for (int i = 0; i < 100; ++i) {
           callers.push_back(std::make_unique<RudeCaller>(door));
           callers.back()->send("GET /");
         }
         for (auto& caller : callers) caller->send("a");
         return callers;
       }},
      {"refused calls by ever new paths",
       [](const HttpDoor& door) {
         RudeCallers callers;
         callers.push_back(std::make_unique<RudeCaller>(door));
         for (int i = 0; i < 30000; ++i) {
           callers.back()->send("GET /api/v1/nodes/" + std::to_string(i) + std::string(900, 'a') +
                                " HTTP/1.1\r\nHost: localhost\r\n\r\n");
           callers.back()->read_some();
         }
         return callers;
       }},
      {"what is not HTTP",
       [](const HttpDoor& door) {
         std::string noise;
         for (int i = 0; i < 4000; ++i) noise += static_cast<char>(i * 131 % 251);
         RudeCallers callers;
         for (int i = 0; i < 50; ++i) {
           callers.push_back(std::make_unique<RudeCaller>(door, 0, i % 2 == 0));
           callers.back()->send(noise);
         }
         return callers;
       }},
  };
}

}  // namespace stripline::server
