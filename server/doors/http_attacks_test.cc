// What one caller who shows nothing can do to the server by its HTTP doors: each attack on the
// dashboard in plain text, on the dashboard by TLS and on the metrics' port of the real program.
// After each the server answers an honest caller, and has grown by little.
#include "server/testing/http_attacks.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <httplib.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "base/exit_codes.h"
#include "server/testing/http_client.h"
#include "server/testing/server_process.h"

namespace stripline::server {
namespace {

constexpr size_t kMax = size_t{20} << 20;

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

  void withstand(ServerProcess& server, const std::vector<HttpDoor>& doors) {
    for (const HttpDoor& door : doors) {
      ASSERT_EQ(honest(door), 200) << door.name;
      // What the server needs once: threads, tables of OpenSSL.
      for (int i = 0; i < 64; ++i) RudeCaller(door).send(request_for(door));
      ASSERT_EQ(honest(door), 200) << door.name;
      for (const HttpAttack& attack : http_attacks()) {
        const size_t before = resident_bytes(server.pid());
        {
          const RudeCallers callers = attack.act(door);
          EXPECT_EQ(honest(door), 200) << door.name << ", during " << attack.name;
        }
        ASSERT_TRUE(server.running()) << attack.name << ": " << server.log();
        const size_t after = resident_bytes(server.pid());
        const size_t grown = after > before ? after - before : 0;
        std::printf("%-10s %-40s %+7.1f MB\n", door.name.c_str(), attack.name,
                    (static_cast<double>(after) - static_cast<double>(before)) / 1e6);
        if (kMemoryIsOurs) {
          EXPECT_LT(grown, kMax) << door.name << ": " << attack.name;
        }
      }
    }
  }

  // The status that someone who does nothing wrong is answered.
  static int honest(const HttpDoor& door) {
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
