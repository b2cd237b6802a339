// The service under accidents: the server, agents, workers and PostgreSQL are killed at random
// moments, the server is stopped, its disk is full or read-only, its clock is set, and a backup
// takes the place of its database while agents measure. Afterwards every sample that was
// acknowledged is stored once, every run has been finished, and nothing is left behind.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/assert_ok.h"
#include "server/clock.h"
#include "server/store/postgres_store.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"
#include "server/testing/http_client.h"
#include "server/testing/postgres_server.h"
#include "server/testing/service_test.h"
#include "tests/e2e/processes.h"
#include "tests/e2e/stepped_clock.h"
#include "tests/e2e/stored_samples.h"

namespace stripline::e2e {
namespace {

using server::AutoAgent;

// From a kill to the end of the campaigns, for slow machines and sanitizers.
constexpr double kPatienceS = 120;

// How many kills scripts/check.sh crashes asks for; a test run has time for two.
int kills_asked_for() {
  const char* text = std::getenv("STRIPLINE_TEST_CRASHES");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? std::max(1, std::atoi(text)) : 2;
}
bool has_time() { return kills_asked_for() >= 20; }

class Crashes : public server::ServiceTest {
 protected:
  void SetUp() override {}

  std::filesystem::path data() const { return folder_ / "data"; }
  std::filesystem::path database() const { return data() / "stripline.db"; }

  // `prefix`: what starts the server.
  void serve(const std::vector<std::string>& prefix = {},
             const std::vector<std::string>& options = {}) {
    ServerSetup setup;
    setup.prefix = prefix;
    setup.door = Door::anyone;
    setup.options.insert(setup.options.end(), {"--max-failures", "20"});
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    if (postgres_) {
      setup.options.insert(setup.options.end(),
                           {"--store", postgres_->url(), "--takeover-time", "2"});
    }
    process_.emplace(folder_, setup);
    ASSERT_FALSE(process_->address().empty()) << process_->log();
    connect(process_->address());
  }

  void restart() {
    process_->restart();
    ASSERT_FALSE(process_->address().empty()) << process_->log();
  }

  // Why the server says that it can store nothing; empty: it can.
  std::string storage_failure() {
    v1::ServerStatus status;
    grpc::ClientContext context;
    (void)fleet_->GetServerStatus(&context, {}, &status);
    return status.storage_failure();
  }

  // What those see who watch the server at its port for metrics: the status of /readyz, and the
  // figure of outages.
  std::pair<int, std::string> watched() const {
    const std::string mark = "metrics on http://127.0.0.1:";
    const std::string log = process_->log();
    const size_t at = log.find(mark);
    if (at == std::string::npos) return {-1, log};
    httplib::Client client = server::http_client(std::atoi(log.c_str() + at + mark.size()));
    const auto ready = client.Get("/readyz");
    const auto figures = client.Get("/metrics");
    if (!ready || !figures) return {-1, "no answer"};
    const std::string name = "\nstripline_storage_failing ";
    const size_t figure = figures->body.find(name);
    if (figure == std::string::npos) return {ready->status, figures->body};
    return {ready->status, figures->body.substr(figure + name.size(), 1)};
  }

  // An agent whose acknowledged samples go to the ledger, a batch for each point.
  std::unique_ptr<AutoAgent> sampler(const std::string& node) const {
    AutoAgent::Options options;
    options.batch_delay_s = 0.08;
    options.series_per_batch = 1;
    return std::make_unique<AutoAgent>(process_->address(), node, options);
  }
  void start_samplers() {
    x_ = sampler("x");
    y_ = sampler("y");
    ASSERT_TRUE(connected({"x", "y"}));
  }
  void keep_ledger(const AutoAgent& agent) {
    for (const auto& [batch, data] : agent.acknowledged()) ledger_.emplace(batch, data);
  }
  void keep_ledgers() {
    keep_ledger(*x_);
    keep_ledger(*y_);
  }

  std::string sample(uint32_t runs = 2) {
    v1::CampaignSpec spec = small_spec(runs);
    spec.add_only_nodes("nodes/x");
    spec.add_only_nodes("nodes/y");
    return created(spec).name();
  }

  std::string measure() {
    v1::CampaignSpec spec;
    spec.set_fabric("emulated:opteron-vapi");
    spec.add_experiments("micro.latency");
    spec.set_runs(2);
    spec.set_time_budget_s(600);
    spec.add_only_nodes("nodes/a");
    spec.add_only_nodes("nodes/b");
    return created(spec).name();
  }

  bool succeeds(const std::string& campaign) {
    v1::Campaign::State state = v1::Campaign::STATE_UNSPECIFIED;
    stripline::eventually(
        [&] {
          state = get(campaign).state();
          return state >= v1::Campaign::SUCCEEDED;
        },
        kPatienceS);
    if (state == v1::Campaign::SUCCEEDED) return true;
    ADD_FAILURE() << campaign << " is " << v1::Campaign::State_Name(state) << ": "
                  << get(campaign).message();
    return false;
  }

  // True once `batches` batches of the campaign have been acknowledged.
  bool measures(const std::string& campaign, size_t batches) {
    return stripline::eventually(
        [&] {
          keep_ledgers();
          return static_cast<size_t>(std::ranges::count_if(ledger_, [&](const auto& entry) {
                   return std::get<0>(entry.first).starts_with(campaign + "/");
                 })) >= batches;
        },
        kPatienceS);
  }

  Result<std::unique_ptr<server::Store>> open_store() const {
    return postgres_ ? server::open_postgres_store(postgres_->url())
                     : server::open_sqlite_store(database());
  }

  // The server has to be gone.
  void expect_everything_is_stored() {
    if (!postgres_) {
      ASSERT_OK_AND_ASSIGN(auto file, server::SqliteDatabase::open(database()));
      EXPECT_EQ(*file.query_text("PRAGMA integrity_check"), "ok");
      EXPECT_EQ(*file.query_text("SELECT count(*) FROM pragma_foreign_key_check"), "0");
    }
    ASSERT_OK_AND_ASSIGN(const auto store, open_store());
    expect_all_is_stored(*store, ledger_);
  }

  std::optional<server::PostgresServer> postgres_;  // the store, if it is not a file
  std::optional<ServerProcess> process_;
  std::unique_ptr<AutoAgent> x_;
  std::unique_ptr<AutoAgent> y_;
  Ledger ledger_;
};

// Accidents to a service of two agents of the test and two real ones, each pair with a campaign.
class RandomKills : public Crashes, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) != "PostgreSQL") return;
    const std::string why = server::PostgresServer::missing();
    if (!why.empty()) GTEST_SKIP() << why;
    postgres_.emplace();
  }

  void start() {
    serve();
    start_samplers();
    a_.emplace(folder_, process_->address(), "a");
    b_.emplace(folder_, process_->address(), "b");
    ASSERT_TRUE(connected({"a", "b"})) << a_->log() << b_->log();
  }

  void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 1000)); }

  void kill_something() {
    switch (random_() % (postgres_ ? 6 : 5)) {
      case 0:
      case 1:
        process_->kill();
        pause();
        return restart();
      case 2:
        return replace_agent(random_() % 2 == 0 ? a_ : b_, random_() % 2 == 0);
      case 3:
        return kill_worker(random_() % 2 == 0 ? *a_ : *b_);
      case 4:
        return random_() % 2 == 0 ? replace_sampler(x_, "x") : replace_sampler(y_, "y");
      case 5:
        postgres_->kill();
        pause();
        return postgres_->start();
    }
  }

  void replace_agent(std::optional<AgentProcess>& agent, bool at_once) {
    const std::string node = &agent == &a_ ? "a" : "b";
    const auto workers = agent->workers();
    seen_workers_.insert(workers.begin(), workers.end());
    agent->kill();
    if (!at_once) pause();
    agent.emplace(folder_, process_->address(), node);
  }
  void kill_worker(AgentProcess& agent) {
    std::vector<pid_t> workers;  // between two runs there are none
    stripline::eventually([&] { return !(workers = agent.workers()).empty(); }, 2);
    seen_workers_.insert(workers.begin(), workers.end());
    if (!workers.empty()) ::kill(workers[random_() % workers.size()], SIGKILL);
  }
  void replace_sampler(std::unique_ptr<AutoAgent>& agent, const std::string& node) {
    keep_ledger(*agent);
    agent.reset();
    agent = sampler(node);
  }

  void expect_nothing_is_left() {
    EXPECT_TRUE(nodes_become_idle(process_->address(), {"a", "b", "x", "y"}, kPatienceS))
        << process_->log();
    EXPECT_TRUE(stripline::eventually(
        [&] {
          return a_->workers().empty() && b_->workers().empty() &&
                 std::ranges::none_of(seen_workers_, [](pid_t pid) { return ::kill(pid, 0) == 0; });
        },
        kPatienceS))
        << "workers are left";
    keep_ledgers();
    x_.reset();
    y_.reset();
    a_.reset();
    b_.reset();
    process_->stop();
    std::string job;  // as all of this server's begin
    {
      ASSERT_OK_AND_ASSIGN(const auto store, open_store());
      job = "stripline-s" + store->installation_id();
    }
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
      EXPECT_FALSE(file.path().filename().string().starts_with(job)) << file.path() << " is left";
    }
    for (const auto& file : std::filesystem::directory_iterator(data())) {
      EXPECT_TRUE(file.path().filename().string().starts_with("stripline.db"))
          << file.path() << " is left";
    }
  }

  std::mt19937 random_;
  std::optional<AgentProcess> a_;
  std::optional<AgentProcess> b_;
  std::set<pid_t> seen_workers_;
};

INSTANTIATE_TEST_SUITE_P(Stores, RandomKills, testing::Values("SQLite", "PostgreSQL"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(RandomKills, LoseNothing) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random_.seed(seed);
  ASSERT_NO_FATAL_FAILURE(start());
  const int kills = kills_asked_for();
  for (int done = 0; done < kills;) {
    ASSERT_TRUE(connected({"a", "b", "x", "y"})) << process_->log();
    const std::string sampled = sample();
    const std::string measured = measure();
    ASSERT_FALSE(HasFailure());
    // While campaigns recover from a kill there may be another.
    for (unsigned together = 1 + random_() % 2; together > 0 && done < kills; --together, ++done) {
      pause();
      ASSERT_NO_FATAL_FAILURE(kill_something());
    }
    ASSERT_TRUE(succeeds(sampled) && succeeds(measured)) << process_->log();
  }
  ASSERT_NO_FATAL_FAILURE(expect_nothing_is_left());
  expect_everything_is_stored();
  std::printf("%d kills, %zu batches in the ledger\n", kills, ledger_.size());
}

// Agents beat all the while, unheard.
TEST_F(Crashes, AServerThatWasStoppedLosesNothing) {
  ASSERT_NO_FATAL_FAILURE(serve());
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::string campaign = sample();
  ASSERT_TRUE(measures(campaign, 2));
  process_->signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(has_time() ? 20 : 3));
  process_->signal(SIGCONT);
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
  keep_ledgers();
  for (const auto& [batch, data] : ledger_) EXPECT_EQ(std::get<1>(batch), 1U) << "measured again";
  process_->stop();
  expect_everything_is_stored();
}

// No node is given up while nothing can be stored, and campaigns are not charged for it.
TEST_F(Crashes, AFullDiskLosesNothing) {
  std::filesystem::create_directories(data());
  const std::string mount = "mount -t tmpfs -o size=2M tmpfs " + data().string();
  if (run_program({"unshare", "-rm", "sh", "-c", mount}).exit_code != 0) {
    GTEST_SKIP() << "no mounts of one's own here";
  }
  ASSERT_NO_FATAL_FAILURE(serve({"unshare", "-rm", "sh", "-c", mount + R"( && exec "$@")", "sh"},
                                {"--metrics-listen", "127.0.0.1:0"}));
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::pair<int, std::string> stores(200, "0");
  const std::pair<int, std::string> fails(503, "1");
  EXPECT_TRUE(stripline::eventually([&] { return watched() == stores; }, kPatienceS))
      << process_->log();
  const std::string campaign = sample();
  ASSERT_TRUE(measures(campaign, 2));
  const std::filesystem::path disk =
      "/proc/" + std::to_string(process_->pid()) + "/root" + data().string();
  std::ofstream(disk / "filler") << std::string(size_t{4} << 20, 'x');
  ASSERT_TRUE(stripline::eventually(
      [&] { return process_->log().find("cannot store samples") != std::string::npos; },
      kPatienceS));
  // It is said all the while, though small steps can be stored.
  ASSERT_TRUE(stripline::eventually([&] { return !storage_failure().empty(); }, kPatienceS));
  ASSERT_TRUE(stripline::eventually([&] { return watched() == fails; }, kPatienceS))
      << watched().first << " " << watched().second;
  const double end_s = steady_seconds() + (has_time() ? 60 : 7);
  while (steady_seconds() < end_s) {
    ASSERT_NE(storage_failure(), "") << process_->log();
    ASSERT_EQ(watched(), fails) << process_->log();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  const Finished shown = cli(process_->address(), {"campaign", "show", campaign});
  EXPECT_NE(shown.err.find("the server can store nothing since "), std::string::npos) << shown.err;
  std::filesystem::remove(disk / "filler");
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
  EXPECT_TRUE(stripline::eventually([&] { return storage_failure().empty(); }, kPatienceS));
  EXPECT_TRUE(stripline::eventually([&] { return watched() == stores; }, kPatienceS));
  keep_ledgers();
  for (const auto& [batch, data] : ledger_) EXPECT_EQ(std::get<1>(batch), 1U) << "measured again";
  // What is on that disk goes with the server.
  const Finished saved = run_program({"nsenter", "-t", std::to_string(process_->pid()), "-U", "-m",
                                      "--preserve-credentials", program("stripline-server"),
                                      "--data-dir", data(), "--backup", folder_ / "saved"});
  ASSERT_EQ(saved.exit_code, kExitOk) << saved.err;
  process_->stop();
  std::filesystem::rename(folder_ / "saved", database());
  expect_everything_is_stored();
}

// What would be written into a file that has no name any more is refused, and so is a start without
// the database that was there.
TEST_F(Crashes, ADatabaseThatIsRemovedIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(serve());
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::filesystem::path away = folder_ / "away";
  std::filesystem::rename(database(), away);
  ASSERT_TRUE(stripline::eventually(
      [&] { return storage_failure().find("was removed or replaced") != std::string::npos; },
      kPatienceS))
      << process_->log();
  v1::Campaign none;
  EXPECT_EQ(create(small_spec(), none).error_code(), grpc::StatusCode::UNAVAILABLE);
  std::filesystem::rename(away, database());
  ASSERT_TRUE(stripline::eventually([&] { return storage_failure().empty(); }, kPatienceS));
  const std::string campaign = sample();
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
  process_->stop();

  const std::vector<std::string> start = {program("stripline-server"), "--insecure-listen",
                                          "127.0.0.1:0", "--data-dir", data()};
  std::filesystem::rename(database(), away);
  const Finished missing = run_program(start, kPatienceS);
  EXPECT_EQ(missing.exit_code, kExitBadInput) << missing.err;
  EXPECT_NE(missing.err.find("restore a backup"), std::string::npos) << missing.err;
  std::ofstream(database()).flush();
  const Finished empty = run_program(start, kPatienceS);
  EXPECT_EQ(empty.exit_code, kExitBadInput) << empty.err;
  EXPECT_NE(empty.err.find("is empty"), std::string::npos) << empty.err;
}

// Leases and timeouts go by a clock that no one sets.
TEST_F(Crashes, AClockThatIsSetLosesNothing) {
  SteppedClock clock(folder_);
  ASSERT_NO_FATAL_FAILURE(serve(clock.prefix()));
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const AgentProcess a(folder_, process_->address(), "a", clock.prefix());
  const AgentProcess b(folder_, process_->address(), "b", clock.prefix());
  std::vector<double> steps_s{kDay_s, -2 * kDay_s};
  if (has_time()) steps_s.insert(steps_s.end(), {kDay_s, -kDay_s, 2 * kDay_s});
  for (const double step_s : steps_s) {
    const std::string sampled = sample();
    const std::string measured = measure();
    EXPECT_TRUE(clock.shows(get(sampled).create_time())) << get(sampled).create_time();
    ASSERT_TRUE(measures(sampled, 1));
    clock.step(step_s);
    ASSERT_TRUE(succeeds(sampled) && succeeds(measured)) << process_->log();
  }
  keep_ledgers();
  for (const auto& [batch, data] : ledger_) EXPECT_EQ(std::get<1>(batch), 1U) << "measured again";
  EXPECT_EQ(process_->log().find("lost"), std::string::npos) << process_->log();
  process_->stop();
  expect_everything_is_stored();
}

// A server that cannot write does not begin; agents wait for one that can.
TEST_F(Crashes, AReadOnlyDiskLosesNothing) {
  ASSERT_NO_FATAL_FAILURE(serve());
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::string campaign = sample();
  ASSERT_TRUE(measures(campaign, 2));
  process_->kill();
  const std::string mount = "mount --bind \"$0\" \"$0\" && mount -o remount,ro,bind \"$0\"";
  if (run_program({"unshare", "-rm", "sh", "-c", mount, data()}).exit_code == 0) {
    const Finished refused = run_program(
        {"unshare", "-rm", "sh", "-c", mount + R"( && shift 0 && exec "$@" --data-dir "$0")",
         data(), program("stripline-server"), "--insecure-listen", "127.0.0.1:0"},
        kPatienceS);
    EXPECT_EQ(refused.exit_code, kExitUnavailable) << refused.err;
    EXPECT_NE(refused.err.find(data().string()), std::string::npos) << refused.err;
  }
  ASSERT_NO_FATAL_FAILURE(restart());
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
  keep_ledgers();
  for (const auto& [batch, data] : ledger_) EXPECT_EQ(std::get<1>(batch), 1U) << "measured again";
  process_->stop();
  expect_everything_is_stored();
}

// What was stored after the backup is gone. What agents still send of that time takes the place of
// nothing that is measured now.
TEST_F(Crashes, ARestoredBackupTakesWhatIsMeasuredThen) {
  ASSERT_NO_FATAL_FAILURE(serve());
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::string campaign = sample(3);
  ASSERT_TRUE(measures(campaign, 3));
  const std::string copy = folder_ / "copy";
  keep_ledgers();
  const Ledger before = ledger_;
  const Finished saved =
      run_program({program("stripline-server"), "--data-dir", data(), "--backup", copy});
  ASSERT_EQ(saved.exit_code, kExitOk) << saved.err;
  ASSERT_TRUE(measures(campaign, before.size() + 3));
  process_->kill();
  for (const char* of : {"", "-wal", "-shm"}) {
    std::filesystem::remove(database().string() + of);
  }
  std::filesystem::rename(copy, database());
  ASSERT_NO_FATAL_FAILURE(restart());
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
  keep_ledgers();
  // Attempts of after the restore are above all those of before it.
  std::erase_if(ledger_, [&](const auto& entry) {
    return std::get<1>(entry.first) < (uint64_t{1} << 32) && !before.contains(entry.first);
  });
  EXPECT_GT(ledger_.size(), before.size());
  process_->stop();
  expect_everything_is_stored();
}

}  // namespace
}  // namespace stripline::e2e
