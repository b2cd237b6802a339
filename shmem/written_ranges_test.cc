#include "shmem/written_ranges.h"

#include <gtest/gtest.h>

namespace stripline::shmem {
namespace {

TEST(WrittenRanges, AreOfOnePeEach) {
  WrittenRanges written(3);
  EXPECT_FALSE(written.overlap(1, 0, UINT64_MAX));
  written.add(1, 8, 16);
  EXPECT_TRUE(written.overlap(1, 15, 20));
  EXPECT_TRUE(written.overlap(1, 0, 9));
  EXPECT_FALSE(written.overlap(1, 16, 24));
  EXPECT_FALSE(written.overlap(1, 0, 8));
  EXPECT_FALSE(written.overlap(2, 8, 16));
  written.add(2, 8, 8);
  EXPECT_FALSE(written.overlap(2, 0, UINT64_MAX));
}

TEST(WrittenRanges, DoNotHoldWhatLiesBetween) {
  WrittenRanges written(1);
  for (uint64_t i = 0; i < WrittenRanges::kMostRanges; ++i) written.add(0, 100 * i, 100 * i + 8);
  for (uint64_t i = 0; i < WrittenRanges::kMostRanges; ++i) {
    EXPECT_TRUE(written.overlap(0, 100 * i + 4, 100 * i + 5)) << i;
    EXPECT_FALSE(written.overlap(0, 100 * i + 8, 100 * i + 100)) << i;
  }
}

TEST(WrittenRanges, WrittenInOrderAreOne) {
  WrittenRanges written(1);
  for (uint64_t i = 0; i < 1000; ++i) written.add(0, 8 * i, 8 * i + 8);
  written.add(0, 100000, 100008);
  EXPECT_TRUE(written.overlap(0, 7992, 8000));
  EXPECT_FALSE(written.overlap(0, 8000, 100000));
}

TEST(WrittenRanges, OfTooManyAreAllBetweenTheLowestAndTheHighest) {
  WrittenRanges written(1);
  for (uint64_t i = 1; i <= WrittenRanges::kMostRanges + 1; ++i) {
    written.add(0, 100 * i, 100 * i + 8);
  }
  written.add(0, 40, 48);
  EXPECT_TRUE(written.overlap(0, 150, 158));
  EXPECT_TRUE(written.overlap(0, 47, 50));
  EXPECT_FALSE(written.overlap(0, 0, 40));
  written.clear();
  written.add(0, 100, 108);
  written.add(0, 900, 908);
  EXPECT_FALSE(written.overlap(0, 150, 158));
}

TEST(WrittenRanges, AreForgottenPeByPe) {
  WrittenRanges written(2);
  written.add(0, 0, 8);
  written.add(1, 0, 8);
  written.clear(0);
  written.clear(0);
  EXPECT_FALSE(written.overlap(0, 0, 8));
  EXPECT_TRUE(written.overlap(1, 0, 8));
  written.clear();
  EXPECT_FALSE(written.overlap(1, 0, 8));
}

}  // namespace
}  // namespace stripline::shmem
