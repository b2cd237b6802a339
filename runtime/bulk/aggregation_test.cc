#include "runtime/bulk/aggregation.h"

#include <array>
#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace stripline::bulk {
namespace {

using Direction = Aggregation::Direction;

TEST(RangeSet, AgreesWithATableOfNumbers) {
  std::mt19937_64 random(3);
  RangeSet set;
  std::array<bool, 300> table{};
  for (int i = 0; i < 3000; ++i) {
    if (i % 200 == 0) {
      set.clear();
      table.fill(false);
    }
    const uint64_t begin = random() % 280;
    const uint64_t end = begin + random() % 20;
    bool expected = false;
    for (uint64_t k = begin; k < end; ++k) expected = expected || table.at(k);
    ASSERT_EQ(set.overlaps(begin, end), expected) << begin << " to " << end;
    if (random() % 4 != 0) continue;
    set.add(begin, end);
    for (uint64_t k = begin; k < end; ++k) table.at(k) = true;
  }
}

class AggregationTest : public ::testing::Test {
 protected:
  Piece piece(rank_t rank, uint64_t offset, size_t here, uint64_t bytes) {
    return {rank, offset, memory_.data() + here, bytes};
  }
  std::array<std::byte, 4096> memory_{};
  Aggregation burst_;
};

TEST_F(AggregationTest, KeepsPiecesByRankInOrder) {
  EXPECT_TRUE(burst_.empty());
  burst_.add(Direction::put, piece(2, 0, 0, 8));
  burst_.add(Direction::get, piece(1, 0, 8, 8));
  burst_.add(Direction::put, piece(2, 100, 16, 8));
  burst_.add(Direction::get, piece(2, 200, 24, 8));
  const auto batches = burst_.take();
  EXPECT_TRUE(burst_.empty());
  ASSERT_EQ(batches.size(), 3U);
  EXPECT_EQ(batches[0].direction, Direction::get);
  EXPECT_EQ(batches[0].pieces.front().rank, 1U);
  EXPECT_EQ(batches[1].direction, Direction::get);
  EXPECT_EQ(batches[1].pieces.front().rank, 2U);
  EXPECT_EQ(batches[2].direction, Direction::put);
  ASSERT_EQ(batches[2].pieces.size(), 2U);
  EXPECT_EQ(batches[2].pieces[1].offset, 100U);
  EXPECT_FALSE(burst_.depends(Direction::put, piece(2, 0, 0, 8))) << "what was taken is forgotten";
}

TEST_F(AggregationTest, PutsDependOnWhatIsReadAndStoredThere) {
  burst_.add(Direction::put, piece(1, 100, 0, 100));
  burst_.add(Direction::get, piece(1, 300, 200, 100));
  EXPECT_TRUE(burst_.depends(Direction::put, piece(1, 199, 1000, 1)));
  EXPECT_TRUE(burst_.depends(Direction::put, piece(1, 300, 1000, 1)));
  EXPECT_FALSE(burst_.depends(Direction::put, piece(1, 200, 1000, 100)));
  EXPECT_FALSE(burst_.depends(Direction::put, piece(2, 100, 1000, 100))) << "another rank";
  EXPECT_TRUE(burst_.depends(Direction::get, piece(1, 100, 1000, 1)));
  EXPECT_FALSE(burst_.depends(Direction::get, piece(1, 300, 1000, 100))) << "both read it";
}

TEST_F(AggregationTest, AndOnTheMemoryHere) {
  burst_.add(Direction::put, piece(1, 100, 0, 100));
  burst_.add(Direction::get, piece(2, 300, 200, 100));
  EXPECT_FALSE(burst_.depends(Direction::put, piece(3, 0, 50, 8))) << "both read it";
  EXPECT_TRUE(burst_.depends(Direction::put, piece(3, 0, 250, 8))) << "it is not here yet";
  EXPECT_TRUE(burst_.depends(Direction::get, piece(3, 0, 50, 8))) << "it has not been sent yet";
  EXPECT_TRUE(burst_.depends(Direction::get, piece(3, 0, 250, 8)));
  EXPECT_FALSE(burst_.depends(Direction::get, piece(3, 0, 100, 100)));
  const std::byte* const at = memory_.data();
  EXPECT_TRUE(burst_.depends_on_copy(at + 200, at + 1000, 8));
  EXPECT_TRUE(burst_.depends_on_copy(at + 1000, at + 200, 8));
  EXPECT_TRUE(burst_.depends_on_copy(at + 1000, at + 0, 8));
  EXPECT_FALSE(burst_.depends_on_copy(at + 0, at + 1000, 8));
}

TEST_F(AggregationTest, HasABound) {
  for (size_t i = 0; i < Aggregation::kMaxPieces; ++i) {
    EXPECT_FALSE(burst_.full());
    burst_.add(Direction::put, piece(1, 16 * i, 0, 8));
  }
  EXPECT_TRUE(burst_.full());
}

}  // namespace
}  // namespace stripline::bulk
