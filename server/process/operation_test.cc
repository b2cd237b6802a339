// What an operator does with the program: settings, signals, the service manager, health checks.
#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <httplib.h>
#include <sys/un.h>

#include <grpcpp/generic/generic_stub.h>

#include "base/exit_codes.h"
#include "server/testing/http_client.h"
#include "server/testing/saboteur.h"
#include "server/testing/server_process.h"
#include "stripline/v1/common.pb.h"

namespace stripline::server {
namespace {

class OperationTest : public ServerE2eTest {
 protected:
  std::string write(const std::string& text) const {
    const auto path = folder_ / "server.toml";
    std::ofstream(path) << text;
    return path.string();
  }

  static Finished server(std::vector<std::string> arguments,
                         const std::map<std::string, std::string>& environment = {}) {
    arguments.insert(arguments.begin(), program("stripline-server"));
    return run_program(std::move(arguments), kTestPatienceS, environment);
  }

  // 1: SERVING, 2: NOT_SERVING. Debian ships no health.proto: the name is the request's only field,
  // as in GetNodeRequest, and the answer's only field is number 1, a varint, as in Status.
  int health(const std::string& service) {
    grpc::TemplatedGenericStub<v1::GetNodeRequest, v1::Status> stub(channel_);
    grpc::ClientContext context;
    v1::GetNodeRequest request;
    request.set_name(service);
    v1::Status response;
    std::promise<grpc::Status> done;
    stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request,
                   &response, [&](const grpc::Status& status) { done.set_value(status); });
    const grpc::Status status = done.get_future().get();
    return status.ok() ? response.code() : -static_cast<int>(status.error_code());
  }

  // Two agents that take a while for a run, and a campaign of several.
  std::string slow_campaign() {
    add_slow_agents();
    std::string name = created(small_spec(3)).name();
    EXPECT_TRUE(eventually([&] { return get(name).points_done() > 0; }));
    return name;
  }

  void add_slow_agents() {
    AutoAgent::Options slow;
    slow.batch_delay_s = 0.1;
    slow.series_per_batch = 1;
    start_agents(slow);
  }

  // Another server, with a folder of its own.
  std::unique_ptr<ServerProcess> serve_beside(const std::vector<std::string>& more) {
    auto arguments = open_to_all("127.0.0.1:0", folder_ / "other");
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<ServerProcess>(folder_.path(), std::move(arguments));
  }
};

TEST_F(OperationTest, SettingsComeFromOptionsEnvironmentAndFile) {
  const std::string file = write("lease = '20s'\nheartbeat = 4\ndev = true\n");
  const Finished printed = server({"--config", file, "--log-level", "debug", "--print-config"},
                                  {{"STRIPLINE_SERVER_HEARTBEAT", "3"}});
  EXPECT_EQ(printed.exit_code, kExitOk) << printed.err;
  for (const char* line :
       {"log-level = 'debug'  # command line\n", "heartbeat = '3'  # STRIPLINE_SERVER_HEARTBEAT\n",
        "lease = '20'  # '", "dev = true  # '", "# listen = '127.0.0.1:7411'  # default\n"}) {
    EXPECT_NE(printed.out.find(line), std::string::npos) << line << "in\n" << printed.out;
  }
  EXPECT_EQ(server({"--config", file, "--check-config"}).exit_code, kExitOk);
  EXPECT_FALSE(std::filesystem::exists(data())) << "checking starts nothing";
}

TEST_F(OperationTest, WrongSettingsAreNamed) {
  const std::string file = write("[store]\nx = 1\n");
  const struct {
    std::string text;
    std::string complaint;
  } cases[] = {{"heartbeats = 3\n",
                "line 1, heartbeats: there is no such setting; did you mean "
                "heartbeat?"},
               {"dev = true\nlease = 'soon'\n", "line 2, lease: "},
               {"dev = true\ninsecure-listen = '1.2.3.4:5'\n", "--dev and --insecure-listen"},
               {"backup = 'x'\n", "command line alone"},
               {"dev = true\nhttp-proxies = '192.0.2.1, head:80'\n",
                "--http-proxies: 'head:80' is not an address"},
               {"dev = \n", "line 1: "}};
  for (const auto& wrong : cases) {
    write(wrong.text);
    const Finished checked = server({"--config", file, "--check-config"});
    EXPECT_EQ(checked.exit_code, kExitUsage) << wrong.text;
    EXPECT_NE(checked.err.find(wrong.complaint), std::string::npos) << checked.err;
  }
  const Finished unknown = server({"--check-config"}, {{"STRIPLINE_SERVER_LISTN", "x"}});
  EXPECT_EQ(unknown.exit_code, kExitUsage);
  EXPECT_NE(unknown.err.find("did you mean STRIPLINE_SERVER_LISTEN?"), std::string::npos)
      << unknown.err;
}

TEST_F(OperationTest, HangingUpReadsTheLogLevelAgain) {
  const std::string file = write("log-level = 'error'\n");
  const auto server = serve("127.0.0.1:0", "", {"--config", file});
  {
    const AutoAgent agent(address_, "a");
    EXPECT_TRUE(connected({"a"}));
  }
  EXPECT_EQ(server->log().find("nodes/a connected"), std::string::npos) << server->log();

  write("log-level = 'loud'\n");
  server->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return server->log().find("the settings stay as they were: ") != std::string::npos;
  })) << server->log();
  write("log-level = 'info'\n");
  server->signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return server->log().find("read the log level") != std::string::npos;
  })) << server->log();
  const AutoAgent agent(address_, "b");
  EXPECT_TRUE(connected({"b"}));
  EXPECT_NE(server->log().find("nodes/b connected"), std::string::npos) << server->log();
}

TEST_F(OperationTest, SigtermWaitsForTheActiveRunAndStartsNoOther) {
  auto server = serve("127.0.0.1:0");
  const std::string name = slow_campaign();
  server->signal(SIGTERM);
  EXPECT_TRUE(eventually([&] { return health("readiness") == 2 || !server->running(); }));
  EXPECT_EQ(server->exit_code(), kExitOk);
  EXPECT_NE(server->log().find("draining"), std::string::npos) << server->log();
  agents_.clear();
  server = serve("127.0.0.1:0");
  EXPECT_EQ(get(name).runs_done(), 1U) << server->log();
}

TEST_F(OperationTest, DrainingEndsWithItsLimitOrASecondSignal) {
  auto server = serve("127.0.0.1:0", "", {"--drain-time", "0.05"});
  const std::string name = slow_campaign();
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
  agents_.clear();

  server = serve("127.0.0.1:0", "", {"--drain-time", "1h"});
  add_slow_agents();
  ASSERT_TRUE(eventually([&] { return server->log().find("started on") != std::string::npos; }));
  server->signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return server->log().find("draining") != std::string::npos; }));
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
}

TEST_F(OperationTest, TellsItsServiceManager) {
  const auto path = folder_ / "notify";
  const UniqueFd manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto said = [&](const std::string& what) {
    return eventually([&] {
      std::array<char, 512> text{};
      const ssize_t size = ::recv(manager.get(), text.data(), text.size(), MSG_DONTWAIT);
      return size > 0 && std::string(text.data(), static_cast<size_t>(size)).starts_with(what);
    });
  };
  const auto server = serve("127.0.0.1:0", "", {}, {{"NOTIFY_SOCKET", path.string()}});
  EXPECT_TRUE(said("READY=1\nSTATUS=listening on " + address_));
  server->signal(SIGHUP);
  EXPECT_TRUE(said("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_TRUE(said("READY=1"));
  server->signal(SIGTERM);
  EXPECT_TRUE(said("STOPPING=1"));
  EXPECT_EQ(server->exit_code(), kExitOk);
}

TEST_F(OperationTest, IsNotReadyWhileNothingCanBeStored) {
  const auto server = serve("127.0.0.1:0");
  EXPECT_EQ(health(""), 1);
  EXPECT_EQ(health("readiness"), 1);
  EXPECT_EQ(health("stripline.v1.Campaigns"), 1);
  EXPECT_EQ(health("stripline.v1.Weather"), -static_cast<int>(grpc::StatusCode::NOT_FOUND));
  Saboteur saboteur(data());
  saboteur.run("ALTER TABLE nodes RENAME TO away; ALTER TABLE meta RENAME TO away2");
  const AutoAgent agent(address_, "a");
  EXPECT_TRUE(eventually([&] { return health("readiness") == 2; })) << server->log();
  EXPECT_EQ(health("stripline.v1.Campaigns"), 2);
  EXPECT_EQ(health(""), 1) << "it lives";
  saboteur.run("ALTER TABLE away RENAME TO nodes; ALTER TABLE away2 RENAME TO meta");
  EXPECT_TRUE(eventually([&] { return health("readiness") == 1; })) << server->log();
}

TEST_F(OperationTest, DeletesOldCampaignsWhenToldTo) {
  std::string name;
  {
    const auto server = serve("127.0.0.1:0");
    const AutoAgent a(address_, "a");
    const AutoAgent b(address_, "b");
    ASSERT_TRUE(connected({"a", "b"}));
    name = created(small_spec()).name();
    watch(name);
    EXPECT_FALSE(exported(name).empty());
    server->signal(SIGTERM);
    EXPECT_EQ(server->exit_code(), kExitOk);
  }
  Saboteur(data()).run("UPDATE campaigns SET updated = 1");
  const auto server = serve("127.0.0.1:0", "", {"--keep-for", "90d"});
  EXPECT_TRUE(eventually([&] {
    v1::GetCampaignRequest request;
    request.set_name(name);
    v1::Campaign campaign;
    grpc::ClientContext context;
    return reason_of(campaigns_->GetCampaign(&context, request, &campaign)) == "CAMPAIGN_NOT_FOUND";
  })) << server->log();
  EXPECT_NE(server->log().find(name + " is deleted, with "), std::string::npos) << server->log();
}

TEST_F(OperationTest, TellsFiguresByHttp) {
  const auto server = serve("127.0.0.1:0", "", {"--metrics-listen", "127.0.0.1:0"});
  const std::string mark = "metrics on http://127.0.0.1:";
  ASSERT_TRUE(eventually([&] { return server->log().find(mark) != std::string::npos; }));
  const int port = std::atoi(server->log().substr(server->log().find(mark) + mark.size()).c_str());
  slow_campaign();
  httplib::Client client = http_client(port);
  const auto says = [&](const std::string& line) {
    const auto answer = client.Get("/metrics");
    return answer && answer->body.find("\n" + line) != std::string::npos;
  };
  EXPECT_TRUE(says("stripline_sessions 2\n"));
  EXPECT_TRUE(says("stripline_runs_active 1\n"));
  EXPECT_TRUE(says("stripline_ready 1\n"));
  EXPECT_FALSE(says("stripline_commit_seconds_count 0\n"));
  EXPECT_FALSE(says("stripline_samples_stored_total 0\n"));
  EXPECT_FALSE(says("process_resident_memory_bytes 0\n"));
  EXPECT_EQ(client.Get("/readyz")->status, 200);
  // A second agent of a name, which may go on trying for days, is counted and logged once.
  EXPECT_TRUE(says("stripline_calls_refused_total 0\n"));
  for (int attempt = 0; attempt < 2; ++attempt) {
    AgentClient other(address_, test_hello("a", "another"));
    EXPECT_EQ(reason_of(other.finish()), "NODE_IN_USE");
  }
  EXPECT_TRUE(eventually([&] { return says("stripline_calls_refused_total 2\n"); }));
  const std::string line =
      "refused a session of nodes/a from 127.0.0.1: another agent of host 'a' is connected";
  ASSERT_TRUE(eventually([&] { return server->log().find(line) != std::string::npos; }));
  const std::string log = server->log();
  EXPECT_EQ(log.find(line), log.rfind(line)) << log;
  const auto other = serve_beside({"--metrics-listen", "127.0.0.1:" + std::to_string(port)});
  EXPECT_EQ(other->exit_code(), kExitConflict) << other->log();
}

}  // namespace
}  // namespace stripline::server
