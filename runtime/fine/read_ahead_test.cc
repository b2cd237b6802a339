#include "runtime/fine/read_ahead.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace stripline::fine {
namespace {

constexpr double kOne = 10e-6;
constexpr double kBlock = 15e-6;

// Fetches as many reads as it is asked, `served` of which follow each block. The time that they
// take.
double read(ReadAhead& ahead, uint32_t reads, uint32_t served) {
  double seconds = 0;
  for (uint32_t i = 0; i < reads; ++i) {
    if (!ahead.pays()) {
      seconds += kOne;
      ahead.fetched_one(kOne);
      continue;
    }
    seconds += kBlock;
    ahead.fetched_block(kBlock);
    for (uint32_t hit = 0; hit < served; ++hit) ahead.served();
  }
  return seconds;
}

TEST(ReadAhead, CostsASmallShareWhereNothingIsReadAgain) {
  ReadAhead ahead;
  const double seconds = read(ahead, 10000, 0);
  EXPECT_GT(seconds, 10000 * kOne);  // it keeps trying
  EXPECT_LT(seconds, 10000 * kOne * (1 + 1.1 * ReadAhead::kShare));
}

TEST(ReadAhead, FetchesBlocksOnlyWhereTheyServe) {
  ReadAhead ahead;
  EXPECT_FALSE(ahead.pays());
  EXPECT_NEAR(read(ahead, 1000, 10), 1000 * kBlock, 100 * kBlock);
  EXPECT_TRUE(ahead.pays());
  // A program that changes what it does stops soon.
  const double seconds = read(ahead, 10000, 0);
  EXPECT_LT(seconds, 10000 * kOne * (1 + 1.1 * ReadAhead::kShare) + 64 * kOne);
}

// All blocks together, however many there are.
TEST(ReadAhead, RefreshesOldBlocksInASmallShareOfTheTime) {
  ReadAhead ahead;
  read(ahead, 100, 10);
  EXPECT_FALSE(ahead.refreshes(0, 100 * kBlock));
  uint32_t refreshed = 0;
  for (uint32_t i = 0; i < 10000; ++i) {
    refreshed += ahead.refreshes(-1, i * kBlock) ? 1 : 0;
  }
  EXPECT_NEAR(refreshed, 10000 / 200, 2);
}

TEST(ReadAhead, IsNotStoppedByOneInterruption) {
  ReadAhead ahead;
  read(ahead, 100, 10);
  ahead.fetched_block(1.0);
  EXPECT_TRUE(ahead.pays());
}

}  // namespace
}  // namespace stripline::fine
