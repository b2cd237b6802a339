// What programs see of each other's operations: litmus tests of the rules of order, random
// operations against a sequential program, and threads.
#include "shmem/tests/jobs.h"

namespace stripline {
namespace {

TEST(OpenShmemOrder, KeepsTheRulesOfTheStandard) { expect_passed_on_all("litmus", {"40"}); }

TEST(OpenShmemOrder, AgreesWithASequentialProgram) {
  for (const char* const seed : {"1", "2"}) expect_passed_on_all("shadow", {seed, "2000"});
}

TEST(OpenShmemOrder, AgreesWithASequentialProgramOfThreads) {
  for (const auto& path : {kMapped, kTcp, kCma}) expect_passed("shadow", path, {"3", "1000", "2"});
}

TEST(OpenShmemOrder, CompletesWhatEachThreadHasStarted) {
  for (const auto& path : {kMapped, kTcp, kCma}) expect_passed("threads", path);
}

}  // namespace
}  // namespace stripline
