// The real program: how it starts, refuses to start, stops, and what it still knows after kill -9.
#include <csignal>
#include <cstdlib>
#include <future>
#include <map>
#include <sstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grpcpp/generic/generic_stub.h>

#include "base/exit_codes.h"
#include "server/testing/deaf_peer.h"
#include "server/testing/server_process.h"
#include "stripline/v1/common.pb.h"

namespace stripline::server {
namespace {

TEST_F(ServerE2eTest, RefusesToServeWithoutBeingToldHow) {
  ServerProcess server(folder_.path(), {"--data-dir", data()});
  EXPECT_EQ(server.exit_code(), kExitUsage);
  EXPECT_NE(server.log().find("--dev"), std::string::npos);
  EXPECT_NE(server.log().find("--insecure-listen"), std::string::npos);
  EXPECT_NE(server.log().find("stripline-server init"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(data()));
}

TEST_F(ServerE2eTest, DevServesLoopbackOnly) {
  ServerProcess server(folder_.path(), {"--dev", "--listen", "0.0.0.0:0", "--data-dir", data()});
  EXPECT_EQ(server.exit_code(), kExitUsage);
  EXPECT_NE(server.log().find("loopback"), std::string::npos);
}

TEST_F(ServerE2eTest, AWrongOptionIsAUsageError) {
  ServerProcess server(folder_.path(), {"--dev", "--no-such-option"});
  EXPECT_EQ(server.exit_code(), kExitUsage);
}

TEST_F(ServerE2eTest, StopsOnSigterm) {
  const auto server = serve("127.0.0.1:0");
  AutoAgent agent(address_, "a");
  ASSERT_TRUE(connected({"a"}));
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
}

// What cannot be written to a peer that reads nothing does not keep the server.
TEST_F(ServerE2eTest, StopsThoughAPeerReadsNothing) {
  const auto server = serve("127.0.0.1:0");
  const UniqueFd deaf = connect_deaf_peer(parse_listen_address(address_)->port);
  ASSERT_TRUE(deaf);
  const AutoAgent agent(address_, "a");
  EXPECT_TRUE(connected({"a"})) << "others are served";
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
}

TEST_F(ServerE2eTest, StopsThoughItsLogIsAFullPipe) {
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd full(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(full);
  const auto server =
      serve("127.0.0.1:0", "exec \"$0\" \"$@\" 2>" + pipe.string(), {"--drain-time", "1"});
  while (::write(full.get(), "x", 1) == 1) {
  }
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
}

TEST_F(ServerE2eTest, AnswersHealthChecks) {
  const auto server = serve("127.0.0.1:0");
  // Debian ships no health.proto. An empty message is a HealthCheckRequest for the whole server,
  // and the answer's only field is number 1, a varint, as in stripline.v1.Status; SERVING is 1.
  grpc::TemplatedGenericStub<v1::Status, v1::Status> stub(channel_);
  grpc::ClientContext context;
  v1::Status request;
  v1::Status response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/grpc.health.v1.Health/Check", grpc::StubOptions(), &request, &response,
                 [&](const grpc::Status& status) { done.set_value(status); });
  const grpc::Status status = done.get_future().get();
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(response.code(), 1);
}

TEST_F(ServerE2eTest, ServesAgainAfterMoreConnectionsThanItHasDescriptors) {
  const auto server = serve("127.0.0.1:0", R"(ulimit -n 64; exec "$0" "$@")");
  std::vector<UniqueFd> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(connect_raw());
  ASSERT_TRUE(eventually([&] {
    return server->log().find("connections are refused") != std::string::npos;
  })) << server->log();
  idle.clear();
  const AutoAgent agent(address_, "a");
  EXPECT_TRUE(connected({"a"})) << server->log();
  EXPECT_TRUE(server->running());
}

// What it opens must not become its standard output.
TEST_F(ServerE2eTest, StartsWithoutStandardStreams) {
  const auto server = serve("127.0.0.1:0", R"(exec "$0" "$@" <&- >&- 2>&-)");
  const AutoAgent agent(address_, "a");
  EXPECT_TRUE(connected({"a"}));
  EXPECT_EQ(read_file(data() / "stripline.db.lock"), std::to_string(server->pid()) + "\n");
}

TEST_F(ServerE2eTest, NothingButItsOwnLinesReachesTheLog) {
  const auto server = serve("127.0.0.1:0", "", {"--log-format", "json"});
  // gRPC has something to say about a Hello that is none, and about streams that break.
  {
    const AutoAgent agent(address_, "a");
    EXPECT_TRUE(connected({"a"}));
  }
  const auto connection = connect_raw();
  const std::string noise = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(100, '\xff');
  EXPECT_EQ(::write(connection.get(), noise.data(), noise.size()),
            static_cast<ssize_t>(noise.size()));
  char ignored = 0;
  while (::read(connection.get(), &ignored, 1) > 0) {
  }
  server->signal(SIGTERM);
  EXPECT_EQ(server->exit_code(), kExitOk);
  std::istringstream log(server->log());
  for (std::string line; std::getline(log, line);) {
    if (line.starts_with("stripline-server listening on ")) continue;  // on stdout
    EXPECT_TRUE(parse_json(line, "log").ok()) << line;
  }
}

TEST_F(ServerE2eTest, ASecondServerOnThePortIsTurnedAway) {
  const auto first = serve("127.0.0.1:0");
  ServerProcess second(folder_.path(), open_to_all(address_, folder_.path() / "other"));
  EXPECT_EQ(second.exit_code(), kExitConflict);
  EXPECT_NE(second.log().find("cannot listen on " + address_), std::string::npos) << second.log();
  EXPECT_TRUE(first->running());
}

TEST_F(ServerE2eTest, ASecondServerOnTheDatabaseIsTurnedAway) {
  const auto first = serve("127.0.0.1:0");
  ServerProcess second(folder_.path(), open_to_all("127.0.0.1:0", data()));
  EXPECT_EQ(second.exit_code(), kExitConflict);
  EXPECT_NE(second.log().find("in use by another stripline-server"), std::string::npos)
      << second.log();
  EXPECT_NE(second.log().find("process "), std::string::npos) << second.log();
  EXPECT_TRUE(first->running());
}

TEST_F(ServerE2eTest, ADamagedDatabaseIsRefused) {
  {
    const auto server = serve("127.0.0.1:0");
    server->signal(SIGTERM);
    EXPECT_EQ(server->exit_code(), kExitOk);
  }
  std::filesystem::resize_file(data() / "stripline.db",
                               std::filesystem::file_size(data() / "stripline.db") / 2);
  ServerProcess server(folder_.path(), open_to_all("127.0.0.1:0", data()));
  EXPECT_EQ(server.exit_code(), kExitBadInput);
  EXPECT_NE(server.log().find("damaged or truncated"), std::string::npos) << server.log();
}

// Its agents have beaten all the while.
TEST_F(ServerE2eTest, AServerThatWasStoppedForAWhileGivesNobodyUp) {
  const auto server = serve("127.0.0.1:0");
  AutoAgent::Options slow;
  slow.batch_delay_s = 0.2;
  slow.series_per_batch = 1;
  const AutoAgent a(address_, "a", slow);
  const AutoAgent b(address_, "b", slow);
  ASSERT_TRUE(connected({"a", "b"}));
  const std::string name = created(small_spec()).name();
  ASSERT_TRUE(eventually([&] { return get(name).state() == v1::Campaign::RUNNING; }));
  server->signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(3));  // lease and silence are a second
  server->signal(SIGCONT);
  EXPECT_EQ(watch(name).back().campaign().state(), v1::Campaign::SUCCEEDED);
  for (const Json& series : exported(name)) EXPECT_EQ(series.at("fence"), 1);
}

TEST_F(ServerE2eTest, KillingTheServerLosesNoAcknowledgedSample) {
  auto server = serve("127.0.0.1:0");
  AutoAgent::Options slow;
  slow.batch_delay_s = 0.01;
  slow.series_per_batch = 8;
  AutoAgent a(address_, "a", slow);
  AutoAgent b(address_, "b", slow);
  ASSERT_TRUE(connected({"a", "b"}));
  v1::CampaignSpec spec;
  spec.set_fabric("tcp");
  spec.set_runs(6);
  spec.set_time_budget_s(3600);
  const std::string name = created(spec).name();
  for (uint32_t kills = 1; kills <= 3; ++kills) {
    // In the middle of a run: some of its batches are acknowledged, others in progress.
    const size_t before = a.acknowledged().size();
    ASSERT_TRUE(eventually([&] { return a.acknowledged().size() >= before + 10; }));
    server->kill();
    server = serve(address_);
  }
  const v1::Campaign end = watch(name).back().campaign();
  ASSERT_EQ(end.state(), v1::Campaign::SUCCEEDED) << end.message();

  std::map<std::pair<std::string, uint64_t>, size_t> stored;
  std::map<std::string, size_t> fitted;
  for (const Json& series : exported(name)) {
    ++stored[{series.at("assignment"), series.at("fence")}];
    if (!series.at("orphan").get<bool>()) ++fitted[series.at("assignment")];
  }
  std::map<std::pair<std::string, uint64_t>, size_t> acknowledged;
  for (const auto& [batch, data] : a.acknowledged()) {
    ++acknowledged[{std::get<0>(batch), std::get<1>(batch)}];
  }
  EXPECT_GE(acknowledged.size(), 6U);
  for (const auto& [attempt, batches] : acknowledged) {
    EXPECT_GE(stored[attempt], (batches - 1) * slow.series_per_batch + 1)
        << attempt.first << " fence " << attempt.second;
    EXPECT_EQ(attempt.second, 1U) << attempt.first << " was begun again";
  }
  // Each run's points were fitted once.
  ASSERT_EQ(fitted.size(), 6U);
  for (const auto& [assignment, series] : fitted) {
    EXPECT_EQ(series, end.points_total() / 6) << assignment;
  }
}

}  // namespace
}  // namespace stripline::server
