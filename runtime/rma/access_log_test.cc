#include "runtime/rma/access_log.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

OpenAccess access(Access kind, rank_t target, uint64_t offset, uint64_t bytes,
                  std::byte* memory = nullptr) {
  OpenAccess one;
  one.call = "test";
  one.access = kind;
  one.target = target;
  one.offset = offset;
  one.bytes = bytes;
  one.memory = memory;
  return one;
}

TEST(AccessLog, OnlyGetsAndOnlyAtomicsMayMeet) {
  AccessLog log;
  log.open(1, access(Access::get, 0, 100, 10));
  log.open(2, access(Access::put, 0, 200, 10));
  log.open(3, access(Access::atomic, 0, 300, 8));
  EXPECT_EQ(log.conflict(Access::get, 0, 100, 10), nullptr);
  EXPECT_NE(log.conflict(Access::put, 0, 109, 1), nullptr);
  EXPECT_NE(log.conflict(Access::atomic, 0, 96, 8), nullptr);
  EXPECT_NE(log.conflict(Access::get, 0, 0, 201), nullptr);
  EXPECT_NE(log.conflict(Access::put, 0, 209, 100), nullptr);
  EXPECT_EQ(log.conflict(Access::atomic, 0, 300, 8), nullptr);
  EXPECT_NE(log.conflict(Access::get, 0, 304, 8), nullptr);
  // Beside them, and at another rank.
  EXPECT_EQ(log.conflict(Access::put, 0, 110, 90), nullptr);
  EXPECT_EQ(log.conflict(Access::put, 0, 0, 100), nullptr);
  EXPECT_EQ(log.conflict(Access::put, 1, 0, 1000), nullptr);
  EXPECT_EQ(log.close(2).size(), 1U);
  EXPECT_EQ(log.close(2).size(), 0U);
  EXPECT_EQ(log.conflict(Access::put, 0, 200, 10), nullptr);
}

TEST(AccessLog, PrivateMemoryIsReadByPutsOnly) {
  AccessLog log;
  std::vector<std::byte> memory(100);
  log.open(1, access(Access::put, 0, 0, 10, memory.data()));
  log.open(2, access(Access::get, 0, 50, 10, memory.data() + 50));
  EXPECT_EQ(log.local_conflict(false, memory.data(), 50), nullptr);
  EXPECT_NE(log.local_conflict(true, memory.data() + 9, 1), nullptr);
  EXPECT_NE(log.local_conflict(false, memory.data() + 59, 1), nullptr);
  EXPECT_EQ(log.local_conflict(true, memory.data() + 10, 40), nullptr);
}

TEST(AccessLog, PutsThatContinueEachOtherAreOne) {
  AccessLog log;
  std::vector<std::byte> memory(100, std::byte{7});
  const auto put = [&](uint64_t offset, size_t at) {
    OpenAccess one = access(Access::put, 3, offset, 8, memory.data() + at);
    one.checksum = checksum({one.memory, one.bytes});
    log.open(AccessLog::of_target(3), std::move(one));
  };
  put(0, 0);
  put(8, 8);
  put(16, 32);  // not from where the last one came
  put(24, 40);
  EXPECT_NE(log.conflict(Access::get, 3, 15, 1), nullptr);
  EXPECT_NE(log.conflict(Access::get, 3, 31, 1), nullptr);
  const auto closed = log.close(AccessLog::of_target(3));
  ASSERT_EQ(closed.size(), 2U);
  EXPECT_EQ(closed.front().bytes, 16U);
  EXPECT_EQ(closed.front().checksum, checksum({memory.data(), 16}));
  EXPECT_EQ(closed.back().offset, 16U);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(log.conflict(Access::put, 3, 0, 100), nullptr);
}

TEST(AccessLog, HasRoomForSoMany) {
  AccessLog log;
  for (size_t i = 0; i < AccessLog::kCapacity; ++i) {
    ASSERT_TRUE(log.has_room());
    log.open(i % 10, access(Access::get, 0, i * 16, 8));
  }
  EXPECT_FALSE(log.has_room());
  log.close(3);
  EXPECT_TRUE(log.has_room());
  OpenAccess large = access(Access::get, 0, 0, AccessLog::kFetchedBytes);
  large.fetched.resize(AccessLog::kFetchedBytes - 1);
  log.open(3, std::move(large));
  EXPECT_TRUE(log.has_room_for(1));
  EXPECT_FALSE(log.has_room_for(2));
  log.close(3);
  EXPECT_TRUE(log.has_room_for(2));
}

// Against the same question asked of a plain list.
TEST(AccessLog, RandomRangesAgreeWithAList) {
  std::mt19937_64 random(7);
  AccessLog log;
  struct Known {
    AccessLog::Token token;
    Access access;
    uint64_t offset;
    uint64_t bytes;
  };
  std::vector<Known> list;
  const Access kinds[] = {Access::get, Access::put, Access::atomic};
  for (int step = 0; step < 20000; ++step) {
    const Access kind = kinds[random() % 3];
    const uint64_t bytes = 1 + random() % (random() % 10 == 0 ? 3000 : 16);
    const uint64_t offset = random() % 20000;
    bool expected = false;
    for (const Known& one : list) {
      expected = expected || (one.offset < offset + bytes && offset < one.offset + one.bytes &&
                              (one.access != kind || kind == Access::put));
    }
    ASSERT_EQ(log.conflict(kind, 2, offset, bytes) != nullptr, expected) << step;
    if (!expected) {
      const AccessLog::Token token = random() % 40;
      log.open(token, access(kind, 2, offset, bytes));
      list.push_back({token, kind, offset, bytes});
    }
    if (random() % 4 == 0) {
      const AccessLog::Token token = random() % 40;
      log.close(token);
      std::erase_if(list, [token](const Known& one) { return one.token == token; });
    }
  }
}

}  // namespace
}  // namespace stripline::rma
