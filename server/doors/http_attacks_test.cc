// What one caller who shows nothing can do to the server by its HTTP doors: each attack on the
// dashboard in plain text, on the dashboard by TLS and on the metrics' port of the real program.
// After each the server answers an honest caller, and has grown by little.
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <httplib.h>
#include <memory>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/exit_codes.h"
#include "server/testing/http_client.h"
#include "server/testing/server_process.h"

namespace stripline::server {
namespace {

constexpr size_t kMost = size_t{20} << 20;
// What an attack sends, if it is let: more than it may make the server keep.
constexpr size_t kFlood = size_t{64} << 20;

// Sanitizers keep what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryIsOurs = false;
#else
constexpr bool kMemoryIsOurs = true;
#endif

size_t resident_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  size_t total = 0;
  size_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

struct Door {
  std::string name;
  int port = 0;
  bool tls = false;
  std::string path;  // answered to whoever asks
};

// A connection of someone who does not keep to the rules.
class Caller {
 public:
  Caller(const Door& door, int receive_bytes = 0, bool greets = true) {
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

  // False when the server does not take it.
  bool send(const std::string& text) {
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

  // Until the server has had enough, or the flood is over.
  void pour(const std::string& unit) {
    std::string block;
    while (block.size() < size_t{32} << 10) block += unit;
    for (size_t sent = 0; sent < kFlood && send(block);) sent += block.size();
  }

  void read_some() {
    std::array<char, 4096> buffer{};
    if (ssl_) {
      (void)SSL_read(ssl_.get(), buffer.data(), buffer.size());
    } else {
      (void)::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    }
  }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  UniqueFd fd_;
  std::unique_ptr<SSL, Free> ssl_;
  bool open_ = false;
};

using Callers = std::vector<std::unique_ptr<Caller>>;

struct Attack {
  const char* name;
  // Connections that it keeps open meanwhile.
  std::function<Callers(const Door&)> act;
};

std::string request_for(const Door& door, const std::string& more = "") {
  return "GET " + door.path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

Callers one(const Door& door, const std::string& beginning, const std::string& unit) {
  Callers callers;
  callers.push_back(std::make_unique<Caller>(door));
  if (!beginning.empty()) callers.back()->send(beginning);
  callers.back()->pour(unit);
  return callers;
}

std::string post(const std::string& more) {
  return "POST /api/v1/nodes/a/cordon HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

std::vector<Attack> attacks() {
  const std::string chunk = "1000\r\n" + std::string(0x1000, 'x') + "\r\n";
  return {
      {"a request line without end",
       [](const Door& door) { return one(door, "GET /", std::string(1000, 'a')); }},
      {"header lines without end",
       [](const Door& door) { return one(door, "GET / HTTP/1.1\r\n", "x-a: b\r\n"); }},
      {"one header line without end",
       [](const Door& door) { return one(door, "GET / HTTP/1.1\r\nx: ", std::string(1000, 'a')); }},
      {"empty lines without end", [](const Door& door) { return one(door, "", "\r\n"); }},
      {"chunks without end",
       [chunk](const Door& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n"), chunk);
       }},
      {"a chunk's line without end",
       [](const Door& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n") + "1;", std::string(1000, 'a'));
       }},
      {"trailers without end",
       [](const Door& door) {
         return one(door, post("Transfer-Encoding: chunked\r\n") + "0\r\n", "x-a: b\r\n");
       }},
      {"a long body",
       [](const Door& door) {
         return one(door, post("Content-Length: 1000000000\r\n"), std::string(1000, 'a'));
       }},
      // 3 GiB of zeros, in brotli and gzip: what is claimed suffices, as no such body is to be
      // read.
      {"compressed bodies",
       [](const Door& door) {
         Callers callers;
         for (const char* encoding : {"br", "gzip", "deflate", "zstd"}) {
           callers.push_back(std::make_unique<Caller>(door));
           callers.back()->send(
               post("Content-Encoding: " + std::string(encoding) + "\r\nContent-Length: 2048\r\n") +
               std::string(2048, '\x5b'));
           callers.back()->read_some();
         }
         return callers;
       }},
      {"many ranges",
       [](const Door& door) {
         std::string ranges = "Range: bytes=0-";
         for (int i = 0; i < 2000; ++i) ranges += ",0-";
         Callers callers;
         for (int i = 0; i < 20; ++i) {
           callers.push_back(std::make_unique<Caller>(door, 4096));
           callers.back()->send(request_for(door, ranges + "\r\n"));
         }
         return callers;
       }},
      {"requests whose answers no one reads",
       [](const Door& door) {
         Callers callers;
         for (int i = 0; i < 100; ++i) {
           callers.push_back(std::make_unique<Caller>(door, 4096));
           std::string many;
           for (int k = 0; k < 200; ++k) many += request_for(door);
           callers.back()->send(many);
         }
         return callers;
       }},
      {"connections that say nothing",
       [](const Door& door) {
         Callers callers;
         for (int i = 0; i < 300; ++i) {
           callers.push_back(std::make_unique<Caller>(door, 0, false));
         }
         return callers;
       }},
      {"slow requests",
       [](const Door& door) {
         Callers callers;
         for (int i = 0; i < 100; ++i) {
           callers.push_back(std::make_unique<Caller>(door));
           callers.back()->send("GET /");
         }
         for (auto& caller : callers) caller->send("a");
         return callers;
       }},
      {"what is not HTTP",
       [](const Door& door) {
         std::string noise;
         for (int i = 0; i < 4000; ++i) noise += static_cast<char>(i * 131 % 251);
         Callers callers;
         for (int i = 0; i < 50; ++i) {
           callers.push_back(std::make_unique<Caller>(door, 0, i % 2 == 0));
           callers.back()->send(noise);
         }
         return callers;
       }},
  };
}

class HttpAttacksTest : public ServerE2eTest {
 protected:
  void SetUp() override {
    ServerE2eTest::SetUp();
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes where no one may read any more
  }

  int port_after(const ServerProcess& server, const std::string& mark) {
    EXPECT_TRUE(eventually([&] { return server.log().find(mark) != std::string::npos; }))
        << server.log();
    const std::string log = server.log();
    return std::atoi(log.substr(log.find(mark) + mark.size()).c_str());
  }

  void withstand(ServerProcess& server, const std::vector<Door>& doors) {
    for (const Door& door : doors) {
      ASSERT_EQ(honest(door), 200) << door.name;
      // What the server needs once: threads, tables of OpenSSL.
      for (int i = 0; i < 64; ++i) Caller(door).send(request_for(door));
      ASSERT_EQ(honest(door), 200) << door.name;
      for (const Attack& attack : attacks()) {
        const size_t before = resident_bytes(server.pid());
        {
          const Callers callers = attack.act(door);
          EXPECT_EQ(honest(door), 200) << door.name << ", during " << attack.name;
        }
        ASSERT_TRUE(server.running()) << attack.name << ": " << server.log();
        const size_t after = resident_bytes(server.pid());
        const size_t grown = after > before ? after - before : 0;
        std::printf("%-10s %-40s %+7.1f MB\n", door.name.c_str(), attack.name,
                    (static_cast<double>(after) - static_cast<double>(before)) / 1e6);
        if (kMemoryIsOurs) {
          EXPECT_LT(grown, kMost) << door.name << ": " << attack.name;
        }
      }
    }
  }

  // The status that someone who does nothing wrong is answered.
  static int honest(const Door& door) {
    httplib::Client client = http_client((door.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") +
                                         std::to_string(door.port));
    client.enable_server_certificate_verification(false);
    const auto answer = client.Get(door.path);
    return answer ? answer->status : -1;
  }
};

TEST_F(HttpAttacksTest, InPlainText) {
  const auto server =
      serve("127.0.0.1:0", "", {"--http-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"});
  const int metrics = port_after(*server, "metrics on http://127.0.0.1:");
  const int pages = port_after(*server, "dashboard on http://127.0.0.1:");
  withstand(*server, {{"pages", pages, false, "/"}, {"metrics", metrics, false, "/metrics"}});
}

TEST_F(HttpAttacksTest, ByTls) {
  const Finished made = run_program(
      {program("stripline-server"), "init", "--data-dir", data(), "--host", "127.0.0.1"},
      kTestPatienceS);
  ASSERT_EQ(made.exit_code, kExitOk) << made.err;
  ServerProcess server(folder_.path(), {"--listen", "127.0.0.1:0", "--data-dir", data(),
                                        "--http-listen", "127.0.0.1:0"});
  const int pages = port_after(server, "dashboard on https://127.0.0.1:");
  withstand(server, {{"TLS", pages, true, "/"}});
}

TEST_F(HttpAttacksTest, OtherSitesCannotAskAServerWithoutTokens) {
  const auto server = serve("127.0.0.1:0", "", {"--http-listen", "127.0.0.1:0"});
  const int port = port_after(*server, "dashboard on http://127.0.0.1:");
  httplib::Client client = http_client(port);
  const auto cordon = [&](const httplib::Headers& headers, const char* type = "application/json") {
    const auto answer = client.Post("/api/v1/nodes/a/cordon", headers, "{}", type);
    return answer ? answer->status : -1;
  };
  EXPECT_EQ(cordon({}), 404) << "there is no such node";
  EXPECT_EQ(cordon({{"Host", "evil.example:8000"}, {"Origin", "http://evil.example:8000"}}), 421);
  EXPECT_EQ(cordon({{"Origin", "http://evil.example"}}), 403);
  EXPECT_EQ(cordon({{"Origin", "null"}}), 403);
  EXPECT_EQ(cordon({}, "application/jsonx"), 415);
  EXPECT_EQ(cordon({}, "application/json; charset=utf-8"), 404);
}

}  // namespace
}  // namespace stripline::server
