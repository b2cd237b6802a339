// Programs of threads, for builds with ThreadSanitizer (scripts/check.sh tsan): within a PE,
// between its threads and with the one that serves others. What PEs do to each other's memory it
// does not see, nor whatever reaches the same memory by two addresses, as static data are reached.
#include "shmem/tests/jobs.h"

namespace stripline {
namespace {

TEST(OpenShmemRaces, AreNoneBetweenThreadsThatComplete) {
  for (const auto& path : {kMapped, kTcp}) expect_passed("threads", path, {}, {}, {1, 2});
  expect_passed("threads", kTcp, {}, {{"STRIPLINE_COALESCE", "1"}}, {2});
  expect_passed("threads", kTcp, {}, {{"SHMEM_DEBUG", "1"}}, {2});
}

TEST(OpenShmemRaces, AreNoneInRandomOperations) {
  for (const auto& path : {kMapped, kTcp, kCma}) {
    expect_passed("shadow", path, {"5", "300", "2"}, {}, {2});
  }
  expect_passed("shadow", kTcp, {"6", "300", "2"}, {{"STRIPLINE_COALESCE", "1"}}, {3});
}

// The program's only thread meets that of the runtime.
TEST(OpenShmemRaces, AreNoneWithTheThreadThatServes) {
  expect_passed("litmus", kTcp, {"3"}, {}, {2});
  expect_passed("collectives", kTcp, {"multiple"}, {}, {2});
}

}  // namespace
}  // namespace stripline
