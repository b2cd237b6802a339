// The service under accidents: the server, agents and workers are killed at random moments, the
// server is stopped, its disk is full or read-only, and a backup takes the place of its database
// while agents measure. Afterwards every sample that was acknowledged is stored once, every run has
// been finished, and nothing is left behind.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "server/fit_job.h"
#include "server/sqlite.h"
#include "server/sqlite_store.h"
#include "server/testing/service_test.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

using server::AutoAgent;
using Ledger = std::map<AutoAgent::Batch, std::string>;

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
  void serve(const std::vector<std::string>& prefix = {}) {
    ServerSetup setup;
    setup.prefix = prefix;
    setup.dev = false;
    setup.options.insert(setup.options.end(), {"--max-failures", "20"});
    process_.emplace(folder_, setup);
    ASSERT_FALSE(process_->address().empty()) << process_->log();
    connect(process_->address());
  }

  void restart() {
    process_->restart();
    ASSERT_FALSE(process_->address().empty()) << process_->log();
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

  // True once so many batches of the campaign have been acknowledged.
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

  // The server has to be gone.
  void expect_everything_is_stored() {
    {
      auto file = server::SqliteDatabase::open(database());
      ASSERT_TRUE(file.ok()) << file.error().message();
      EXPECT_EQ(*file->query_text("PRAGMA integrity_check"), "ok");
      EXPECT_EQ(*file->query_text("SELECT count(*) FROM pragma_foreign_key_check"), "0");
    }
    auto opened = server::open_sqlite_store(database());
    ASSERT_TRUE(opened.ok()) << opened.error().message();
    server::Store& store = **opened;
    const auto campaigns = store.campaigns(0, 100'000);
    ASSERT_TRUE(campaigns.ok()) << campaigns.error().message();
    for (const auto& campaign : *campaigns) expect_campaign_is_whole(store, campaign);
    for (const auto& [batch, data] : ledger_) {
      const auto& [assignment, fence, seq] = batch;
      const auto same = store.has_batch(*server::parse_run_name(assignment), fence, seq, data);
      ASSERT_TRUE(same.ok()) << same.error().message();
      EXPECT_EQ(*same, true) << "acknowledged: batch " << seq << " of " << assignment << ", fence "
                             << fence << (*same ? " is another one" : " is lost");
    }
  }

  // Each point of each run has been measured once in the attempt that counts.
  static void expect_campaign_is_whole(server::Store& store,
                                       const server::CampaignRecord& campaign) {
    EXPECT_EQ(campaign.state, server::CampaignState::succeeded) << campaign.message;
    std::map<uint32_t, std::multiset<std::string>> points;
    uint64_t samples = 0;
    const auto runs = store.runs(campaign.number);
    const auto batches = store.batches(campaign.number, 0, 100'000);
    ASSERT_TRUE(runs.ok() && batches.ok());
    for (const server::BatchRecord& batch : *batches) {
      samples += batch.samples;
      const server::RunRecord& run = runs->at(batch.run.run - 1);
      EXPECT_EQ(batch.orphan, batch.fence != run.fence) << server::run_name(batch.run);
      if (batch.orphan) continue;
      const auto series = server::series_of_batch(batch.data);
      ASSERT_TRUE(series.ok()) << series.error().message();
      for (const auto& one : *series) points[batch.run.run].insert(point_key(one.point));
    }
    EXPECT_EQ(samples, campaign.samples) << server::campaign_name(campaign.number);
    for (const server::RunRecord& run : *runs) {
      EXPECT_EQ(run.state, server::RunState::finished) << server::run_name(run.key);
      const auto& measured = points[run.key.run];
      EXPECT_EQ(measured.size(), run.points_total) << server::run_name(run.key);
      EXPECT_EQ(std::set<std::string>(measured.begin(), measured.end()).size(), run.points_total)
          << "a point of " << server::run_name(run.key) << " was stored twice";
    }
  }

  std::optional<ServerProcess> process_;
  std::unique_ptr<AutoAgent> x_;
  std::unique_ptr<AutoAgent> y_;
  Ledger ledger_;
};

// Accidents to a service of two agents of the test and two real ones, each pair with a campaign.
class RandomKills : public Crashes {
 protected:
  void start() {
    serve();
    start_samplers();
    a_.emplace(folder_, process_->address(), "a");
    b_.emplace(folder_, process_->address(), "b");
    ASSERT_TRUE(connected({"a", "b"})) << a_->log() << b_->log();
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

  void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(random_() % 1000)); }

  void kill_something() {
    switch (random_() % 5) {
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
      const auto store = server::open_sqlite_store(database());
      ASSERT_TRUE(store.ok()) << store.error().message();
      job = "stripline-s" + (*store)->installation_id();
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

TEST_F(RandomKills, LoseNothing) {
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

// Nobody is given up while nothing can be stored, and campaigns are not charged for it.
TEST_F(Crashes, AFullDiskLosesNothing) {
  std::filesystem::create_directories(data());
  const std::string mount = "mount -t tmpfs -o size=2M tmpfs " + data().string();
  if (run_program({"unshare", "-rm", "sh", "-c", mount}).exit_code != 0) {
    GTEST_SKIP() << "no mounts of one's own here";
  }
  ASSERT_NO_FATAL_FAILURE(serve({"unshare", "-rm", "sh", "-c", mount + R"( && exec "$@")", "sh"}));
  ASSERT_NO_FATAL_FAILURE(start_samplers());
  const std::string campaign = sample();
  ASSERT_TRUE(measures(campaign, 2));
  const std::filesystem::path disk =
      "/proc/" + std::to_string(process_->pid()) + "/root" + data().string();
  std::ofstream(disk / "filler") << std::string(size_t{4} << 20, 'x');
  ASSERT_TRUE(stripline::eventually(
      [&] { return process_->log().find("cannot store samples") != std::string::npos; },
      kPatienceS));
  std::this_thread::sleep_for(std::chrono::seconds(has_time() ? 60 : 1));
  std::filesystem::remove(disk / "filler");
  ASSERT_TRUE(succeeds(campaign)) << process_->log();
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
