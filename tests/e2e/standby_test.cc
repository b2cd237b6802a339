// Two servers on one PostgreSQL database: one serves, the other stands by and takes over when the
// first dies, is stopped, or the database goes away under it. Nothing that was acknowledged is
// lost, and a server that was replaced stores nothing any more.
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "server/doors/listen_address.h"
#include "server/store/postgres_store.h"
#include "server/testing/deaf_peer.h"
#include "server/testing/postgres_server.h"
#include "server/testing/service_test.h"
#include "tests/e2e/processes.h"
#include "tests/e2e/stored_samples.h"

namespace stripline::e2e {
namespace {

using server::AutoAgent;
using server::connect_deaf_peer;
using server::PostgresServer;

// For slow machines and sanitizers.
constexpr double kPatienceS = 60;

class StandbyTest : public server::ServiceTest {
 protected:
  void SetUp() override {
    if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
    database_.emplace();
    first_.emplace(first_folder_, setup());
    ASSERT_FALSE(first_->address().empty()) << first_->log();
    second_.emplace(second_folder_, setup());
    ASSERT_FALSE(second_->address().empty()) << second_->log();
    ASSERT_TRUE(stands_by(*second_, *first_)) << second_->log();
    both_ = first_->address() + "," + second_->address();
    connect(first_->address());
  }
  void TearDown() override {
    x_.reset();
    y_.reset();
    first_.reset();
    second_.reset();
    database_.reset();
  }

  ServerSetup setup() const {
    ServerSetup setup;
    setup.door = Door::anyone;
    setup.options.insert(setup.options.end(), {"--store", database_->url(), "--takeover-time", "4",
                                               "--max-failures", "20"});
    return setup;
  }

  static bool stands_by(ServerProcess& server, const ServerProcess& serving) {
    return stripline::eventually(
        [&] {
          return server.log().find("stands by: the server at " + serving.address() + " serves") !=
                 std::string::npos;
        },
        kPatienceS);
  }

  static int port_of(const ServerProcess& server) {
    return server::parse_listen_address(server.address())->port;
  }

  // True if the server serves within the limit. Calls go to it from now on.
  bool serves(const ServerProcess& server, double limit_s = kPatienceS) {
    connect(server.address());
    return stripline::eventually(
        [&] {
          v1::ListCampaignsResponse response;
          grpc::ClientContext context;
          return campaigns_->ListCampaigns(&context, {}, &response).ok();
        },
        limit_s);
  }

  void start_samplers() {
    AutoAgent::Options options;
    options.batch_delay_s = 0.05;
    options.series_per_batch = 1;
    x_ = std::make_unique<AutoAgent>(both_, "x", options);
    y_ = std::make_unique<AutoAgent>(both_, "y", options);
    ASSERT_TRUE(connected({"x", "y"}));
  }
  void keep_ledgers() {
    for (const auto* agent : {&x_, &y_}) {
      for (const auto& [batch, data] : (*agent)->acknowledged()) ledger_.emplace(batch, data);
    }
  }
  bool measures(size_t batches) {
    const size_t before = ledger_.size();
    return stripline::eventually(
        [&] {
          keep_ledgers();
          return ledger_.size() >= before + batches;
        },
        kPatienceS);
  }
  bool succeeds(const std::string& campaign) {
    const bool ended = stripline::eventually(
        [&] { return get(campaign).state() >= v1::Campaign::SUCCEEDED; }, kPatienceS);
    keep_ledgers();
    return ended && get(campaign).state() == v1::Campaign::SUCCEEDED;
  }

  // No server may be left.
  void expect_everything_is_stored() {
    const auto store = server::open_postgres_store(database_->url());
    ASSERT_TRUE(store.ok()) << store.error().message();
    expect_all_is_stored(**store, ledger_);
  }

  TempFolder first_folder_;
  TempFolder second_folder_;
  std::optional<PostgresServer> database_;
  std::optional<ServerProcess> first_;
  std::optional<ServerProcess> second_;
  std::string both_;
  std::unique_ptr<AutoAgent> x_;
  std::unique_ptr<AutoAgent> y_;
  Ledger ledger_;
};

TEST_F(StandbyTest, SaysThatItStandsByAndWhoServes) {
  const Finished refused = cli(second_->address(), {"nodes"});
  EXPECT_EQ(refused.exit_code, kExitUnavailable);
  EXPECT_NE(refused.err.find("the server at " + first_->address() + " serves"), std::string::npos)
      << refused.err;
  // Whoever knows both finds the one that serves.
  const Finished found = cli(second_->address() + "," + first_->address(), {"nodes"});
  EXPECT_EQ(found.exit_code, kExitOk) << found.err;
  // One that ends in good order is followed at once.
  first_->stop();
  EXPECT_TRUE(serves(*second_)) << second_->log();
  const Finished followed = cli(both_, {"nodes"});
  EXPECT_EQ(followed.exit_code, kExitOk) << followed.err;
}

TEST_F(StandbyTest, EndsThoughAPeerReadsNothing) {
  const UniqueFd deaf = connect_deaf_peer(port_of(*second_));
  ASSERT_TRUE(deaf);
  EXPECT_EQ(second_->stop(), kExitOk) << second_->log();
}

// It serves, or ends so that the service manager starts it again.
TEST_F(StandbyTest, TakesOverThoughAPeerReadsNothing) {
  const UniqueFd deaf = connect_deaf_peer(port_of(*second_));
  ASSERT_TRUE(deaf);
  EXPECT_EQ(first_->stop(), kExitOk) << first_->log();
  ASSERT_TRUE(
      stripline::eventually([&] { return !second_->running() || serves(*second_, 0); }, kPatienceS))
      << second_->log();
  if (!second_->running()) second_->restart();
  EXPECT_TRUE(serves(*second_)) << second_->log();
}

TEST_F(StandbyTest, TakesOverFromAServerThatIsKilled) {
  start_samplers();
  const std::string campaign = created(small_spec(3)).name();
  ASSERT_TRUE(measures(3));
  const double killed_s = steady_seconds();
  first_->kill();
  ASSERT_TRUE(serves(*second_)) << second_->log();
  std::printf("taken over %.2f s after kill -9\n", steady_seconds() - killed_s);
  ASSERT_TRUE(succeeds(campaign)) << second_->log();
  // The work goes on where it was.
  for (const auto& [batch, data] : ledger_) EXPECT_EQ(std::get<1>(batch), 1U) << "measured again";
  second_->stop();
  expect_everything_is_stored();
}

TEST_F(StandbyTest, AServerThatWasStoppedStoresNothingOnceItIsReplaced) {
  start_samplers();
  const std::string campaign = created(small_spec(3)).name();
  ASSERT_TRUE(measures(3));
  const double stopped_s = steady_seconds();
  first_->signal(SIGSTOP);
  ASSERT_TRUE(serves(*second_)) << second_->log();
  std::printf("taken over %.2f s after SIGSTOP, with a takeover time of 4 s\n",
              steady_seconds() - stopped_s);
  first_->signal(SIGCONT);
  ASSERT_TRUE(stands_by(*first_, *second_)) << first_->log();
  EXPECT_NE(first_->log().find("another server has taken over"), std::string::npos)
      << first_->log();
  ASSERT_TRUE(succeeds(campaign)) << second_->log();
  // The servers change places again.
  second_->kill();
  ASSERT_TRUE(serves(*first_)) << first_->log();
  EXPECT_EQ(get(campaign).state(), v1::Campaign::SUCCEEDED);
  first_->stop();
  expect_everything_is_stored();
}

TEST_F(StandbyTest, ADatabaseThatIsKilledLosesNothing) {
  second_->stop();
  start_samplers();
  const std::string campaign = created(small_spec(3)).name();
  ASSERT_TRUE(measures(3));
  database_->kill();
  EXPECT_TRUE(stripline::eventually(
      [&] {
        v1::ListCampaignsResponse response;
        grpc::ClientContext context;
        return campaigns_->ListCampaigns(&context, {}, &response).error_code() ==
                   grpc::StatusCode::UNAVAILABLE &&
               first_->log().find("not ready: ") != std::string::npos;
      },
      kPatienceS))
      << first_->log();
  database_->start();
  ASSERT_TRUE(serves(*first_)) << first_->log();
  ASSERT_TRUE(succeeds(campaign)) << first_->log();
  first_->stop();
  expect_everything_is_stored();
}

TEST_F(StandbyTest, TheCommandFollowsACampaignToTheNextServer) {
  start_samplers();
  const std::string campaign = created(small_spec(3)).name();
  ASSERT_TRUE(measures(2));
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first_->kill();
  });
  const Finished watched = cli(both_, {"campaign", "watch", campaign});
  killer.join();
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err;
  EXPECT_NE(watched.out.find("succeeded"), std::string::npos) << watched.err << watched.out;
}

TEST_F(StandbyTest, TheCommandRunsACampaignOnToTheNextServer) {
  start_samplers();
  std::thread killer([&] {
    EXPECT_TRUE(measures(2));
    first_->kill();
  });
  const Finished ran = cli(
      both_, {"campaign", "run", "--fabric", "tcp", "--experiment", "kernel.loop", "--runs", "3"});
  killer.join();
  EXPECT_EQ(ran.exit_code, kExitOk) << ran.err << second_->log();
  EXPECT_NE(ran.out.find("succeeded"), std::string::npos) << ran.err << ran.out;
  ASSERT_TRUE(serves(*second_)) << second_->log();
  v1::ListCampaignsResponse all;
  grpc::ClientContext context;
  ASSERT_TRUE(campaigns_->ListCampaigns(&context, {}, &all).ok());
  EXPECT_EQ(all.campaigns_size(), 1) << "it is created once";
}

// It cancels its calls when it ends: for whoever follows, that is no end.
TEST_F(StandbyTest, TheCommandFollowsACampaignAwayFromAServerThatEnds) {
  start_samplers();
  const std::string campaign = created(small_spec(3)).name();
  ASSERT_TRUE(measures(2));
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    first_->signal(SIGTERM);
    first_->signal(SIGTERM);  // at once, not when its run has ended
  });
  const Finished watched = cli(both_, {"campaign", "watch", campaign});
  ends.join();
  EXPECT_EQ(watched.exit_code, kExitOk) << watched.err;
  EXPECT_NE(watched.out.find("succeeded"), std::string::npos) << watched.err << watched.out;
}

// As an administrator sets the two up: one authority, the folder with its keys on both machines.
TEST(StandbyPair, TakesOverOverTls) {
  if (const std::string why = PostgresServer::missing(); !why.empty()) GTEST_SKIP() << why;
  const PostgresServer database;
  const TempFolder first_folder;
  const TempFolder second_folder;
  const std::string token = initialise(first_folder, {"--store", database.url()});
  ASSERT_FALSE(token.empty());
  std::filesystem::create_directory(second_folder / "data");
  std::filesystem::copy(first_folder / "data" / "tls", second_folder / "data" / "tls",
                        std::filesystem::copy_options::recursive);
  ServerSetup setup;
  setup.door = Door::tls;
  setup.options.insert(setup.options.end(), {"--store", database.url(), "--takeover-time", "4"});
  ServerProcess first(first_folder, setup);
  ASSERT_FALSE(first.address().empty()) << first.log();
  ServerProcess second(second_folder, setup);
  ASSERT_FALSE(second.address().empty()) << second.log();
  const std::string both = first.address() + "," + second.address();
  const Finished login =
      cli(both, {"login", "--token-file", (first_folder / "data").string() + "/admin.token"});
  ASSERT_EQ(login.exit_code, kExitOk) << login.err;

  const auto a =
      start_agent(first_folder, both, "a", {"--enroll", secret_file(first_folder, "a", token)});
  const Finished made = cli(both, {"token", "create", "--role", "agent", "b"});
  ASSERT_EQ(made.exit_code, kExitOk) << made.err;
  const auto b =
      start_agent(first_folder, both, "b", {"--enroll", secret_file(first_folder, "b", made.out)});
  ASSERT_TRUE(nodes_become_idle(both, {"a", "b"}, kPatienceS)) << a->err() << b->err();

  first.kill();
  ASSERT_TRUE(nodes_become_idle(both, {"a", "b"}, kPatienceS))
      << second.log() << a->err() << b->err();
  const Finished campaign =
      cli(both, {"campaign", "run", "--fabric", "emulated:opteron-vapi", "--runs", "1",
                 "--experiment", "micro.latency", "--time-budget", "60"});
  EXPECT_EQ(campaign.exit_code, kExitOk) << campaign.err << second.log() << a->err();
}

}  // namespace
}  // namespace stripline::e2e
