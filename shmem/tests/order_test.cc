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

// What need not wait is the same program.

const Variables kCoalesce = {{"STRIPLINE_COALESCE", "1"}};
const Variables kBulk = {{"STRIPLINE_BULK", "1"}};
const Variables kBoth = {{"STRIPLINE_COALESCE", "1"}, {"STRIPLINE_BULK", "1"}};

TEST(OpenShmemOrder, IsThatOfSingleAccessesWhereTheyNeedNotWait) {
  for (const auto& path : {kMapped, kTcp, kCma, kEmulated}) {
    for (const auto& variables : {Variables{}, kCoalesce, kBulk, kBoth}) {
      expect_passed("coalesce", path, {"1000"}, variables, {1, 2, 4});
    }
    expect_passed("coalesce", path, {"1000", "option"}, {}, {2, 3});
  }
}

TEST(OpenShmemOrder, KeepsTheRulesOfTheStandardWhereAccessesNeedNotWait) {
  for (const auto& path : {kTcp, kCma, kEmulated}) {
    expect_passed("litmus", path, {"20"}, kBoth, {2, 3});
    expect_passed("litmus", path, {"20"}, kCoalesce, {2, 4});
  }
}

TEST(OpenShmemOrder, AgreesWithASequentialProgramWhereAccessesNeedNotWait) {
  for (const auto& path : {kTcp, kCma, kEmulated}) {
    for (const auto& variables : {kCoalesce, kBulk, kBoth}) {
      expect_passed("shadow", path, {"8", "2000"}, variables, {2, 3});
    }
  }
  // What several threads add travels together.
  expect_passed("shadow", kTcp, {"9", "1000", "2"}, kCoalesce, {2, 3});
  expect_passed("threads", kTcp, {}, kCoalesce, {2, 3});
}

// Private contexts of a PE have one queue together, or none, and go by that of the PE.
TEST(OpenShmemOrder, IsThatOfContextsThatShareAQueue) {
  const auto expect = [](const Arguments& command, const char* queues) {
    const Finished ended = job(2, kTcp, command, {{"STRIPLINE_INJECTION_QUEUES", queues}});
    EXPECT_EQ(ended.exit_code, kExitOk) << ended.err;
    EXPECT_NE(ended.out.find(": passed"), std::string::npos) << ended.out;
    EXPECT_EQ(lines_with(ended.err, "private contexts share one queue"), 2U) << ended.err;
  };
  expect(osh("threads"), "0");
  expect(osh("shadow", {"6", "1000", "2"}), "0");
  expect(osh("shadow", {"7", "1000", "2"}), "1");
}

}  // namespace
}  // namespace stripline
