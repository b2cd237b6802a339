// Child processes of ranks: what they do or leave undone is not the job's.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/exit_codes.h"
#include "base/testing/processes.h"

namespace stripline {
namespace {

const std::vector<std::vector<std::string>> kPaths = {
    {"--fabric", "tcp", "--same-node", "network"},
    {"--fabric", "tcp"},
    {"--fabric", "emulated:opteron-vapi,compute=none", "--clock", "virtual"}};

Finished forks(const std::string& what, const std::vector<std::string>& path,
               const std::map<std::string, std::string>& environment = {}) {
  std::vector<std::string> command = {program("stripline-run"), "-n", "2", "--segment", "1M"};
  command.insert(command.end(), path.begin(), path.end());
  command.insert(command.end(), {"--", program("forks"), what});
  return run_program(std::move(command), 60, environment);
}

TEST(Forks, AChildThatEndsLeavesTheJobAlone) {
  for (const auto& path : kPaths) {
    for (const char* const what : {"exit", "return"}) {
      const Finished job = forks(what, path);
      EXPECT_EQ(job.exit_code, kExitOk) << what << " over " << path[1] << ": " << job.err;
      EXPECT_EQ(lines_with(job.out, "child: exit 0"), 1U) << what << ": " << job.out << job.err;
      EXPECT_EQ(lines_with(job.out, "still here"), 1U) << what << ": " << job.out;
      EXPECT_EQ(job.err, "") << what;
    }
  }
}

TEST(Forks, AChildThatCallsTheContextEndsItselfAlone) {
  for (const auto& path : kPaths) {
    // Puts and gets of mapped memory, too, which are stores and loads without a further question.
    for (const char* const what : {"progress", "put", "get", "local", "rpc", "clock", "barrier"}) {
      const Finished job = forks(what, path);
      EXPECT_EQ(job.exit_code, kExitOk) << what << " over " << path[1] << ": " << job.err;
      EXPECT_EQ(lines_with(job.out, "still here"), 1U) << what << ": " << job.out;
      EXPECT_EQ(lines_with(job.out, "child: exit 0"), 0U) << what << ": " << job.out;
      EXPECT_EQ(lines_with(job.err, "which rank 0 (process "), 1U) << what << ": " << job.err;
      EXPECT_EQ(lines_with(job.err, "calls its Context; a child process is not a rank"), 1U)
          << what << ": " << job.err;
    }
  }
}

TEST(Forks, AThreadOfTheRuntimeIsNotMissed) {
#if defined(__SANITIZE_ADDRESS__)
  // The C library's allocator is left unlocked to a child, but this one is not: where the thread of
  // the runtime holds a lock of it while the rank forks, the child waits for that lock for ever.
  GTEST_SKIP() << "AddressSanitizer's allocator does not outlive a fork beside another thread";
#endif
  for (const char* const what : {"exit", "return", "progress"}) {
    const Finished job = forks(what, kPaths[0], {{"STRIPLINE_PROGRESS", "thread"}});
    EXPECT_EQ(job.exit_code, kExitOk) << what << ": " << job.err;
    EXPECT_EQ(lines_with(job.out, "still here"), 1U) << what << ": " << job.out;
  }
}

// Its endpoint is not behind the lock of the Context.
TEST(Forks, AnInjectionContextIsTheParentsAlone) {
  const Finished returned = forks("inject-return", kPaths[0]);
  EXPECT_EQ(returned.exit_code, kExitOk) << returned.err;
  EXPECT_EQ(lines_with(returned.out, "child: exit 0"), 1U) << returned.out;
  EXPECT_EQ(lines_with(returned.out, "still here"), 1U) << returned.out;
  EXPECT_EQ(returned.err, "");
  const Finished puts = forks("inject", kPaths[0]);
  EXPECT_EQ(puts.exit_code, kExitOk) << puts.err;
  EXPECT_EQ(lines_with(puts.out, "child: exit 0"), 0U) << puts.out;
  EXPECT_EQ(lines_with(puts.out, "still here"), 1U) << puts.out;
  EXPECT_EQ(lines_with(puts.err, "calls its Context; a child process is not a rank"), 1U)
      << puts.err;
}

TEST(Forks, ProgramsOfARankAreNoRanks) {
  for (const char* const what : {"init", "system"}) {
    const Finished job = forks(what, kPaths[0]);
    EXPECT_EQ(job.exit_code, kExitOk) << what << ": " << job.err;
    EXPECT_EQ(lines_with(job.err, "this process was started by rank 0 of a job"), 1U)
        << what << ": " << job.err;
    EXPECT_EQ(lines_with(job.out, "still here"), 1U) << what << ": " << job.out;
  }
  const Finished popen = forks("popen", kPaths[0]);
  EXPECT_EQ(popen.exit_code, kExitOk) << popen.err;
  EXPECT_EQ(lines_with(popen.out, "popen: hello"), 1U) << popen.out;
  EXPECT_EQ(lines_with(popen.out, "still here"), 1U) << popen.out;
}

}  // namespace
}  // namespace stripline
