// What programs see of each other's operations: litmus tests of the rules of order, random
// operations against a sequential program, and threads.
//
// STRIPLINE_TEST_SHADOW (random operations of a job) and STRIPLINE_TEST_SHADOW_SEEDS make them
// long: scripts/check.sh openshmem-order.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "shmem/tests/jobs.h"

namespace stripline {
namespace {

const Variables kCoalesce = {{"STRIPLINE_COALESCE", "1"}};
const Variables kBulk = {{"STRIPLINE_BULK", "1"}};
const Variables kBoth = {{"STRIPLINE_COALESCE", "1"}, {"STRIPLINE_BULK", "1"}};

// Random operations with each seed (`few` of them in a test run), in jobs of these sizes; many
// seeds in a job of one size each.
void expect_sequential(const std::vector<Arguments>& paths, uint64_t threads,
                       const Variables& variables, const std::vector<int>& jobs_of,
                       uint64_t few = 2) {
  const uint64_t operations = test_size("STRIPLINE_TEST_SHADOW", 6000);
  const uint64_t seeds = test_size("STRIPLINE_TEST_SHADOW_SEEDS", few);
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const auto& path : paths) {
      for (size_t i = 0; i < jobs_of.size(); ++i) {
        if (seeds > 2 && i != seed % jobs_of.size()) continue;
        const auto pes = static_cast<uint64_t>(jobs_of[i]);
        const uint64_t each = std::max<uint64_t>(operations / (pes * threads), 1);
        expect_passed("shadow", path,
                      {std::to_string(seed), std::to_string(each), std::to_string(threads)},
                      variables, {jobs_of[i]});
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(OpenShmemOrder, KeepsTheRulesOfTheStandard) {
  expect_passed_on_all("litmus", {std::to_string(test_size("STRIPLINE_TEST_SHMEM_LITMUS", 40))});
}

TEST(OpenShmemOrder, AgreesWithASequentialProgram) {
  expect_sequential({kMapped, kTcp, kEmulated}, 1, {}, {1, 2, 3, 4});
  expect_sequential({kCma}, 1, {}, {1, 2, 3});
  expect_sequential({kNodes}, 1, {}, {4});
  expect_sequential({kShm}, 1, {}, {2, 3});
}

TEST(OpenShmemOrder, AgreesWithASequentialProgramOfThreads) {
  expect_sequential({kMapped, kTcp, kCma, kShm}, 2, {}, {2, 3}, 1);
}

TEST(OpenShmemOrder, CompletesWhatEachThreadHasStarted) {
  for (const auto& path : {kMapped, kTcp, kCma}) expect_passed("threads", path);
}

// What need not wait is the same program.

TEST(OpenShmemOrder, IsThatOfSingleAccessesWhereTheyNeedNotWait) {
  for (const auto& variables : {Variables{}, kCoalesce, kBulk, kBoth}) {
    for (const auto& path : {kMapped, kTcp, kEmulated}) {
      expect_passed("coalesce", path, {"1000"}, variables, {1, 2, 4});
    }
    expect_passed("coalesce", kCma, {"1000"}, variables, {1, 2});
    expect_passed("coalesce", kNodes, {"1000"}, variables, {4});
  }
  for (const auto& path : {kMapped, kTcp, kEmulated}) {
    expect_passed("coalesce", path, {"1000", "option"}, {}, {2, 3});
  }
  expect_passed("coalesce", kCma, {"1000", "option"}, {}, {3});
  expect_passed("coalesce", kNodes, {"1000", "option"}, {}, {4});
}

TEST(OpenShmemOrder, KeepsTheRulesOfTheStandardWhereAccessesNeedNotWait) {
  const std::string rounds = std::to_string(test_size("STRIPLINE_TEST_SHMEM_LITMUS", 20));
  for (const auto& path : {kTcp, kEmulated}) {
    expect_passed("litmus", path, {rounds}, kBoth, {2, 3});
    expect_passed("litmus", path, {rounds}, kCoalesce, {2, 4});
  }
  for (const auto& variables : {kBoth, kCoalesce}) {
    expect_passed("litmus", kCma, {rounds}, variables, {2});
    expect_passed("litmus", kNodes, {rounds}, variables, {4});
  }
  expect_passed("litmus", kShm, {rounds}, kBoth, {2, 3});
}

TEST(OpenShmemOrder, AgreesWithASequentialProgramWhereAccessesNeedNotWait) {
  for (const auto& variables : {kCoalesce, kBulk, kBoth}) {
    expect_sequential({kTcp, kEmulated}, 1, variables, {2, 3}, 1);
    expect_sequential({kCma}, 1, variables, {2}, 1);
    expect_sequential({kNodes}, 1, variables, {4}, 1);
  }
  expect_sequential({kShm}, 1, kBoth, {3}, 1);
  // What several threads add travels together.
  expect_sequential({kTcp}, 2, kCoalesce, {2, 3}, 1);
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
