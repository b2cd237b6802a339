#include "runtime/fine/write_run.h"

#include <array>
#include <cstring>

#include <gtest/gtest.h>

namespace stripline::fine {
namespace {

bool add(WriteRun& run, rank_t rank, uint64_t offset, uint64_t value) {
  std::array<std::byte, sizeof(value)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(value));
  return run.add(rank, offset, bytes.data(), bytes.size());
}

uint64_t word(const WriteRun& run, size_t index) {
  uint64_t value = 0;
  std::memcpy(&value, run.data() + index * sizeof(value), sizeof(value));
  return value;
}

TEST(WriteRun, TakesWhatFollowsAndWhatLiesWithin) {
  WriteRun run;
  EXPECT_TRUE(run.empty());
  EXPECT_TRUE(add(run, 3, 80, 1));
  EXPECT_TRUE(add(run, 3, 88, 2));
  EXPECT_TRUE(add(run, 3, 80, 7)) << "written twice";
  EXPECT_FALSE(add(run, 3, 104, 3)) << "a gap";
  EXPECT_FALSE(add(run, 3, 72, 3)) << "before it";
  EXPECT_FALSE(add(run, 3, 92, 3)) << "partly beyond it";
  EXPECT_FALSE(add(run, 2, 96, 3)) << "another rank";
  EXPECT_EQ(run.rank(), 3U);
  EXPECT_EQ(run.begin(), 80U);
  EXPECT_EQ(run.end(), 96U);
  EXPECT_EQ(word(run, 0), 7U);
  EXPECT_EQ(word(run, 1), 2U);
  run.clear();
  EXPECT_TRUE(add(run, 2, 0, 5));
  EXPECT_EQ(run.size(), 8U);
}

TEST(WriteRun, OverlapsItsOwnBytes) {
  WriteRun run;
  EXPECT_FALSE(run.overlaps(0, 0, 100));
  EXPECT_TRUE(add(run, 1, 8, 1));
  EXPECT_TRUE(run.overlaps(1, 15, 16));
  EXPECT_TRUE(run.overlaps(1, 0, 9));
  EXPECT_FALSE(run.overlaps(1, 16, 24));
  EXPECT_FALSE(run.overlaps(1, 0, 8));
  EXPECT_FALSE(run.overlaps(2, 8, 16));
}

TEST(WriteRun, IsBounded) {
  WriteRun run;
  uint64_t offset = 0;
  while (add(run, 0, offset, offset)) offset += 8;
  EXPECT_EQ(run.size(), WriteRun::kMaxBytes);
}

}  // namespace
}  // namespace stripline::fine
