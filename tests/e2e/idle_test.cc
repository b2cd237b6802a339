// An agent without work is asleep: it shares its node with whatever the owner runs there.
#include <chrono>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "tests/e2e/processes.h"

namespace stripline::e2e {
namespace {

// How often the threads of a process have gone to sleep, which is how often they were awake.
long sleeps_of(pid_t pid) {
  long sleeps = 0;
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream status(task.path() / "status");
    constexpr std::string_view kKey = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(kKey)) sleeps += std::stol(line.substr(kKey.size()));
    }
  }
  return sleeps;
}

void expect_sleep(pid_t pid) {
  constexpr int kSeconds = 12;
  const long before = sleeps_of(pid);
  std::this_thread::sleep_for(std::chrono::seconds(kSeconds));
  const long wakes = sleeps_of(pid) - before;
  EXPECT_LT(wakes, kSeconds);
  EXPECT_GT(wakes, 0) << "no heartbeat in " << kSeconds << " s";
  testing::Test::RecordProperty("wakes_per_second",
                                std::to_string(static_cast<double>(wakes) / kSeconds));
}

TEST(IdleAgent, WakesLessThanOnceASecond) {
  const TempFolder folder;
  ServerSetup setup;
  setup.options.clear();  // the heartbeat that users get
  const ServerProcess server(folder, setup);
  AgentProcess agent(folder, server.address(), "a");
  ASSERT_TRUE(nodes_become_idle(server.address(), {"a"}, 20)) << agent.log();
  expect_sleep(agent.pid());
}

TEST(IdleAgent, WakesLessThanOnceASecondOverTls) {
  const TempFolder folder;
  const std::string token = initialise(folder);
  ASSERT_FALSE(token.empty());
  ServerSetup setup;
  setup.door = Door::tls;
  setup.options.clear();
  const ServerProcess server(folder, setup);
  ASSERT_EQ(
      cli(server.address(), {"login", "--token-file", (folder / "data").string() + "/admin.token"})
          .exit_code,
      kExitOk);
  const auto agent =
      start_agent(folder, server.address(), "a", {"--enroll", secret_file(folder, "token", token)});
  ASSERT_TRUE(nodes_become_idle(server.address(), {"a"}, 20)) << agent->err();
  expect_sleep(agent->process().pid());
}

}  // namespace
}  // namespace stripline::e2e
