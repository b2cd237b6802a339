#include "runtime/decide/turn_block.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

TEST(TurnBlock, IsTheSameBehindItsWord) {
  for (const uint32_t arms : {0U, 0x80000001U, 0xffffffffU}) {
    const TurnBlock block{.arms = arms, .turns = kMostAhead, .length_log2 = 9, .rest = kBaseline};
    const TurnBlock again = TurnBlock::of(block.word());
    EXPECT_EQ(again.arms, arms);
    EXPECT_EQ(again.turns, kMostAhead);
    EXPECT_EQ(again.length_log2, 9U);
    EXPECT_EQ(again.rest, kBaseline);
  }
}

TEST(TurnBlock, HasExecutionsOfATurnByOneArm) {
  const TurnBlock block{.arms = 0b01, .turns = 2, .length_log2 = 1, .rest = 1};
  EXPECT_EQ(block.executions(), 4U);
  const Arm expected[] = {1, 1, kBaseline, kBaseline, 1, 1};
  for (uint64_t execution = 0; execution < 6; ++execution) {
    EXPECT_EQ(block.arm_of(execution), expected[execution]) << execution;
  }
  EXPECT_EQ(TurnBlock{}.executions(), 0U);
}

}  // namespace
}  // namespace stripline::decide
