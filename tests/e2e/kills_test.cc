// Ranks that are killed at random moments: the job ends, on all ranks, and says whose end it was.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

constexpr size_t kRanks = 4;
/// From the death of a rank to the end of the job.
constexpr double kLimitSeconds = 10;

int tries() {
  const char* text = std::getenv("STRIPLINE_TEST_KILL_TRIES");  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? std::atoi(text) : 3;
}

/// The rank of a process that the launcher has started; empty if it has gone or is not one yet.
std::string rank_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string environment{std::istreambuf_iterator<char>(file), {}};
  const std::string name = "STRIPLINE_RANK=";
  const size_t at = ('\0' + environment).find('\0' + name);
  if (at == std::string::npos) return {};
  const size_t begin = at + name.size();
  return environment.substr(begin, environment.find('\0', begin) - begin);
}

using Words = std::vector<std::string>;

/// By which method the ranks communicate, and the program with its arguments.
class Kills : public ::testing::TestWithParam<std::tuple<Words, Words>> {};

TEST_P(Kills, EndTheJobOnAllRanks) {
  const auto& [path, command] = GetParam();
  std::random_device device;
  const auto seed = device();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  double slowest_s = 0;
  for (int turn = 0; turn < tries(); ++turn) {
    const TempFolder folder;
    Words argv = {program("stripline-run"), "-n", std::to_string(kRanks), "--segment", "1M"};
    argv.insert(argv.end(), path.begin(), path.end());
    argv.insert(argv.end(), {"--", program(command.front())});
    argv.insert(argv.end(), command.begin() + 1, command.end());
    Program job(folder, "job", argv);
    std::vector<pid_t> ranks;
    ASSERT_TRUE(eventually(
        [&] {
          ranks = children_of(job.process().pid());
          std::erase_if(ranks, [](pid_t pid) { return rank_of(pid).empty(); });
          return ranks.size() == kRanks;
        },
        20))
        << job.err();
    // While they join, and after.
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 1200));
    const pid_t victim = ranks[random() % kRanks];
    const std::string rank = rank_of(victim);
    // While libfabric loads, some of its providers handle the other deadly signals themselves.
    const double killed_s = steady_seconds();
    ASSERT_EQ(::kill(victim, SIGKILL), 0) << job.err();
    const Finished ended = job.finish(kLimitSeconds);
    slowest_s = std::max(slowest_s, steady_seconds() - killed_s);
    EXPECT_EQ(ended.exit_code, kExitRankDied) << ended.err;
    EXPECT_NE(ended.err.find("rank " + rank + " on "), std::string::npos) << ended.err;
    EXPECT_NE(ended.err.find("was killed by signal 9"), std::string::npos) << ended.err;
    for (const pid_t pid : ranks) EXPECT_TRUE(rank_of(pid).empty()) << "process " << pid;
    if (HasFailure()) return;
  }
  RecordProperty("slowest_ms", static_cast<int>(slowest_s * 1e3));
  std::printf("%d kills, the slowest end after %.2f s\n", tries(), slowest_s);
}

INSTANTIATE_TEST_SUITE_P(
    Paths, Kills,
    ::testing::Combine(::testing::Values(Words{"--fabric", "tcp", "--same-node", "network"},
                                         Words{"--fabric", "tcp", "--same-node", "mapped"},
                                         Words{"--fabric", "tcp", "--same-node", "cma"},
                                         Words{"--fabric", "tcp", "--same-node", "network",
                                               "--bulk", "--coalesce"},
                                         Words{"--fabric", "shm", "--same-node", "network"},
                                         Words{"--fabric", "emulated:opteron-vapi,compute=none",
                                               "--clock", "virtual"}),
                       // The first one: everything, with regions and without. The last one:
                       // OpenSHMEM's operations of all kinds, for longer than a turn.
                       ::testing::Values(Words{"churn"}, Words{"gathers"},
                                         Words{"osh_shadow", "1", "100000000"})),
    [](const auto& test) {
      const Words& path = std::get<0>(test.param);
      return path[1].substr(0, path[1].find(':')) + "_" + path[3] +
             (path.size() > 4 ? "_regions_" : "_") + std::get<1>(test.param).front();
    });

}  // namespace
}  // namespace stripline::e2e
