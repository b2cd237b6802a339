#include "suites/targets/leftovers.h"

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/subprocess.h"
#include "base/unguessable.h"

namespace stripline::suites::tune {
namespace {

Result<Subprocess> sleeper(const std::string& launch) {
  SubprocessOptions options{.argv = {"sleep", "1000"}};
  options.environment[kLaunchVariable] = launch;
  return Subprocess::spawn(options);
}

TEST(Leftovers, ProcessesOfOneLaunchAreKilledAndNoOthers) {
  const std::string launch = unguessable_text();
  auto ours = sleeper(launch);
  auto other = sleeper(launch + "0");
  ASSERT_TRUE(ours.ok() && other.ok());
  EXPECT_EQ(kill_processes_of(launch), 1U);
  const auto ended = ours->wait();
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->signal, SIGKILL);
  EXPECT_FALSE(other->poll());
}

TEST(Leftovers, OnlyNewFilesThatAreNotMappedAreRemoved) {
  const std::string prefix = "stripline_leftovers_test_" + unguessable_text() + "_";
  const std::vector<std::string_view> prefixes = {prefix};
  const auto create = [&](const char* name) {
    const std::string path = "/dev/shm/" + prefix + name;
    return UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  };
  using Names = std::set<std::string>;
  const UniqueFd old = create("old");
  const Names before = shared_memory_files(prefixes);
  EXPECT_EQ(before, Names{prefix + "old"});
  const UniqueFd mapped = create("mapped");
  const UniqueFd left = create("left");
  ASSERT_TRUE(old && mapped && left);
  ASSERT_EQ(::ftruncate(mapped.get(), 4096), 0);
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_EQ(remove_shared_memory_files(prefixes, before), 1U);
  EXPECT_EQ(shared_memory_files(prefixes), (Names{prefix + "mapped", prefix + "old"}));
  ASSERT_EQ(::munmap(memory, 4096), 0);
  EXPECT_EQ(remove_shared_memory_files(prefixes, {}), 2U);
  EXPECT_TRUE(shared_memory_files(prefixes).empty());
}

}  // namespace
}  // namespace stripline::suites::tune
