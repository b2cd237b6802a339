// A short run of each program, for builds with sanitizers: over tcp, where every access goes
// through the runtime.
#include "shmem/tests/jobs.h"

namespace stripline {
namespace {

void expect_passed_here(const std::string& name, const Arguments& arguments = {}) {
  expect_passed(name, kTcp, arguments, {}, {2, 3});
}

TEST(InstrumentedOpenShmem, SharesStaticDataAndTheHeap) { expect_passed_here("symmetric_data"); }
TEST(InstrumentedOpenShmem, PutsGetsAndCounts) { expect_passed_here("operations"); }
TEST(InstrumentedOpenShmem, HasCollectiveOperations) {
  expect_passed_here("collectives");
  expect_passed_here("collectives", {"multiple"});
}
TEST(InstrumentedOpenShmem, KeepsTheRulesOfOrder) { expect_passed_here("litmus", {"5"}); }
TEST(InstrumentedOpenShmem, AgreesWithASequentialProgram) {
  expect_passed_here("shadow", {"4", "500"});
  expect_passed_here("shadow", {"5", "300", "2"});
}
TEST(InstrumentedOpenShmem, CompletesWhatEachThreadHasStarted) { expect_passed_here("threads"); }
TEST(InstrumentedOpenShmem, NeedsNotWait) {
  for (const char* const variable : {"STRIPLINE_COALESCE", "STRIPLINE_BULK"}) {
    expect_passed("coalesce", kTcp, {"300"}, {{variable, "1"}}, {2, 3});
  }
}
TEST(InstrumentedOpenShmem, HasOverloadsAndOldNames) {
  expect_passed_here("overloads");
  expect_passed_here("c99");
}

TEST(InstrumentedOpenShmem, EndsAsTheProgramDoes) {
  for (const char* const good : {"", "exit", "fork", "twice", "global 0"}) {
    const Finished ended = job(3, kTcp, osh("endings", {good}));
    EXPECT_EQ(ended.exit_code, kExitOk) << good << ": " << ended.err;
  }
}

}  // namespace
}  // namespace stripline
