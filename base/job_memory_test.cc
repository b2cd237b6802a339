#include "base/job_memory.h"

#include <string>

#include <gtest/gtest.h>

namespace stripline {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(JobMemory, WhatDoesNotFitIsRefusedWithTheSumTheLimitAndWhatToDo) {
  MemoryLimits limits;
  limits.total_bytes = 2048 * kMiB;
  limits.available_bytes = 1024 * kMiB;
  const JobMemory fits{.ranks = 3, .segment_bytes = 256 * kMiB, .runtime_bytes = 64 * kMiB};
  EXPECT_TRUE(check_job_memory(fits, limits).ok());
  const JobMemory large{.ranks = 4, .segment_bytes = 256 * kMiB, .runtime_bytes = 64 * kMiB};
  const Status refused = check_job_memory(large, limits);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().message(),
            "4 ranks need 1.2 GiB of memory, a segment of 256 MiB and 64 MiB of the runtime each, "
            "and this host has 1 GiB to give; ask for smaller segments (--segment, "
            "STRIPLINE_SEGMENT_BYTES) or fewer ranks");
  limits.group = GroupRoom{.free_bytes = 512 * kMiB, .folder = "/sys/fs/cgroup/memory/job"};
  const Status in_group = check_job_memory(fits, limits);
  ASSERT_FALSE(in_group.ok());
  EXPECT_NE(in_group.error().message().find(
                "the control group /sys/fs/cgroup/memory/job has 512 MiB to give"),
            std::string::npos)
      << in_group.error().message();
}

TEST(JobMemory, NothingOverflows) {
  MemoryLimits limits;
  EXPECT_TRUE(check_job_memory({.ranks = 5000, .segment_bytes = 256 * kMiB}, limits).ok())
      << "no limit is known";
  limits.total_bytes = limits.available_bytes = 1024 * kMiB;
  EXPECT_EQ(total_bytes({.ranks = uint64_t{1} << 40, .segment_bytes = uint64_t{1} << 40}),
            UINT64_MAX);
  EXPECT_FALSE(
      check_job_memory({.ranks = 2, .segment_bytes = uint64_t{1} << 63, .runtime_bytes = 1}, limits)
          .ok());
}

}  // namespace
}  // namespace stripline
