#include "runtime/machine/preflight.h"

#include <gtest/gtest.h>

namespace stripline::machine {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

HostRoom roomy() {
  MemoryLimits memory;
  memory.total_bytes = memory.available_bytes = 65536 * kMiB;
  return {.memory = memory,
          .shm_free_bytes = 32768 * kMiB,
          .lockable_bytes = std::nullopt,
          .processors = 8};
}

TEST(Preflight, RoomyHostIsFine) {
  for (const char* fabric : {"tcp", "shm", "verbs", "emulated:opteron-vapi,compute=none"}) {
    const auto result =
        check_host({.fabric = fabric, .ranks = 4, .segment_bytes = 256 * kMiB}, roomy());
    EXPECT_FALSE(result.refusal.has_value()) << fabric;
    EXPECT_TRUE(result.warnings.empty()) << fabric;
  }
}

TEST(Preflight, RanksThatNeedMoreOpenFilesThanAllowedAreRefused) {
  HostRoom room = roomy();
  room.descriptors = 256;
  for (const char* fabric : {"tcp", "shm", "emulated:modern-rdma"}) {
    JobPlan plan{.fabric = fabric, .ranks = 112, .segment_bytes = kMiB};
    EXPECT_FALSE(check_host(plan, room).refusal.has_value()) << fabric;
    plan.ranks = 128;
    const auto refused = check_host(plan, room).refusal;
    ASSERT_TRUE(refused.has_value()) << fabric;
    EXPECT_EQ(refused->code(), ErrorCode::resource_exhausted);
    EXPECT_NE(refused->message().find("128 ranks need 288 open files"), std::string::npos)
        << refused->message();
  }
}

// A rank has a connection to each peer, wherever that runs.
TEST(Preflight, RanksOfOtherHostsCountAsPeers) {
  HostRoom room = roomy();
  room.descriptors = 256;
  JobPlan plan{.ranks = 2, .job_ranks = 112, .segment_bytes = kMiB};
  EXPECT_FALSE(check_host(plan, room).refusal.has_value());
  plan.job_ranks = 128;
  const auto refused = check_host(plan, room).refusal;
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->message().find("128 ranks need 288 open files"), std::string::npos)
      << refused->message();
}

TEST(Preflight, EmulatedSegmentsMustFitIntoSharedMemory) {
  HostRoom room = roomy();
  room.shm_free_bytes = 64 * kMiB;  // a container's default
  JobPlan plan{.fabric = "emulated:modern-rdma", .ranks = 4, .segment_bytes = 16 * kMiB};
  EXPECT_FALSE(check_host(plan, room).refusal.has_value());
  ++plan.ranks;
  const auto refused = check_host(plan, room);
  ASSERT_TRUE(refused.refusal.has_value());
  EXPECT_EQ(refused.refusal->code(), ErrorCode::resource_exhausted);
  const std::string& message = refused.refusal->message();
  EXPECT_NE(message.find("5 segments of 16 MiB do not fit into /dev/shm, which has 64 MiB free"),
            std::string::npos)
      << message;
  EXPECT_NE(message.find("--shm-size"), std::string::npos) << message;
  plan.segment_bytes = uint64_t{1} << 63;
  EXPECT_TRUE(check_host(plan, room).refusal.has_value());
  room.shm_free_bytes.reset();
  plan = {.fabric = "emulated:modern-rdma", .ranks = 1, .segment_bytes = 1};
  EXPECT_NE(check_host(plan, room).refusal->message().find("/dev/shm, which is not there"),
            std::string::npos);
}

TEST(Preflight, ShmProviderWantsRoomPerRankAndPerProcessor) {
  HostRoom room = roomy();
  room.shm_free_bytes = 64 * kMiB;
  const JobPlan plan{.fabric = "shm", .ranks = 2, .segment_bytes = kMiB};
  EXPECT_EQ(check_host(plan, room).warnings.size(), 1U);  // 8 processors
  room.processors = 4;
  EXPECT_TRUE(check_host(plan, room).warnings.empty());
  const auto many = check_host({.fabric = "shm", .ranks = 5, .segment_bytes = kMiB}, room);
  ASSERT_EQ(many.warnings.size(), 1U);
  EXPECT_NE(many.warnings[0].find("80 MiB of /dev/shm, which has 64 MiB free"), std::string::npos)
      << many.warnings[0];
  EXPECT_FALSE(many.refusal.has_value());
}

TEST(Preflight, RanksThatNeedMoreMemoryThanThereIsAreRefused) {
  HostRoom room = roomy();
  room.memory.available_bytes = 1500 * kMiB;
  JobPlan plan{.ranks = 4, .segment_bytes = 256 * kMiB};
  EXPECT_FALSE(check_host(plan, room).refusal);
  plan.ranks = 5;  // whose segments alone would fit
  auto result = check_host(plan, room);
  ASSERT_TRUE(result.refusal);
  EXPECT_EQ(result.refusal->code(), ErrorCode::resource_exhausted);
  EXPECT_NE(result.refusal->message().find("5 ranks need 1.7 GiB of memory, a segment of 256 MiB"),
            std::string::npos)
      << result.refusal->message();
  EXPECT_NE(result.refusal->message().find("--overcommit"), std::string::npos);
  EXPECT_FALSE(check_host({.fabric = "shm", .ranks = 5, .segment_bytes = 256 * kMiB}, room).refusal)
      << "it takes less";
  plan.overcommit = true;
  result = check_host(plan, room);
  EXPECT_FALSE(result.refusal);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("5 ranks need 1.7 GiB"), std::string::npos);
  room.memory = {};
  plan.overcommit = false;
  EXPECT_FALSE(check_host(plan, room).refusal) << "nothing is known";
}

TEST(Preflight, HeapsOfOpenShmemProgramsCount) {
  HostRoom room = roomy();
  room.memory.available_bytes = 1500 * kMiB;
  const JobPlan smaller = plan_job(4, {{"SHMEM_SYMMETRIC_SIZE", "1k"}});
  EXPECT_EQ(smaller.segment_bytes, 256 * kMiB) << "the program need not be one of OpenSHMEM";
  EXPECT_FALSE(check_host(smaller, room).refusal);
  const JobPlan larger =
      plan_job(4, {{"SHMEM_SYMMETRIC_SIZE", "0.5g"}, {"SMA_SYMMETRIC_SIZE", "1k"}});
  EXPECT_EQ(larger.segment_bytes, 512 * kMiB);
  const auto result = check_host(larger, room);
  ASSERT_TRUE(result.refusal);
  EXPECT_NE(result.refusal->message().find("smaller segments (SHMEM_SYMMETRIC_SIZE) or fewer"),
            std::string::npos)
      << result.refusal->message();
  EXPECT_EQ(plan_job(4, {{"SMA_SYMMETRIC_SIZE", "1g"}}).segment_bytes, 1024 * kMiB);
  EXPECT_EQ(plan_job(4, {{"SMA_SYMMETRIC_SIZE", "much"}}).segment_bytes, 256 * kMiB);
}

TEST(Preflight, LockLimitMattersWhereMemoryIsLocked) {
  HostRoom room = roomy();
  room.lockable_bytes = 8 * kMiB;
  for (const char* fabric : {"tcp", "tcp;ofi_rxm", "shm", "udp", "emulated:modern-rdma"}) {
    EXPECT_FALSE(locks_memory(fabric)) << fabric;
    const JobPlan plan{.fabric = fabric, .ranks = 1, .segment_bytes = 16 * kMiB};
    EXPECT_TRUE(check_host(plan, room).warnings.empty()) << fabric;
  }
  for (const char* fabric : {"verbs", "verbs;ofi_rxm", "efa", "cxi"}) {
    EXPECT_TRUE(locks_memory(fabric)) << fabric;
    const auto result =
        check_host({.fabric = fabric, .ranks = 1, .segment_bytes = 16 * kMiB}, room);
    ASSERT_EQ(result.warnings.size(), 1U) << fabric;
    EXPECT_NE(result.warnings[0].find("may lock 8 MiB"), std::string::npos) << result.warnings[0];
    EXPECT_NE(result.warnings[0].find("LimitMEMLOCK=infinity"), std::string::npos);
    EXPECT_NE(result.warnings[0].find("--ulimit memlock=-1"), std::string::npos);
  }
}

TEST(Preflight, ReadsThisHost) {
  const HostRoom room = HostRoom::read();
  EXPECT_GT(room.memory.allocatable_bytes(), 0U);
  EXPECT_GE(room.processors, 1U);
}

}  // namespace
}  // namespace stripline::machine
