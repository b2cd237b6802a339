#include "agent/run_load.h"

#include <chrono>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace stripline::agent {
namespace {

// A child that computes is the run's own, whatever else the host does.
TEST(RunLoad, TellsOwnRanksFromOthers) {
  RunLoad load;
  EXPECT_TRUE(load.facts().empty()) << "no run has begun";
  load.begin();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (std::chrono::steady_clock::now() < end) {
    }
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto facts = load.facts();
  if (facts.empty()) GTEST_SKIP() << "/proc does not say it here";
  EXPECT_EQ(facts.size(), 6U);
  EXPECT_GT(std::stod(facts.at("load.own")), 0);
  EXPECT_GT(std::stod(facts.at("load.processors")), 0);
  EXPECT_GE(std::stod(facts.at("load.in_use")), 0);
}

}  // namespace
}  // namespace stripline::agent
