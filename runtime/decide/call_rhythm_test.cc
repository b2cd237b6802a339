#include "runtime/decide/call_rhythm.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace stripline::decide {
namespace {

// Adds calls named by letters until an iteration is found; how many that took, or 0.
size_t find(CallRhythm& rhythm, std::string_view calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    rhythm.add(static_cast<uint64_t>(calls[i]));
    if (rhythm.found()) return i + 1;
  }
  return 0;
}

std::string repeated(std::string_view calls, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += calls;
  return all;
}

TEST(CallRhythm, FindsOneCallThatRepeats) {
  CallRhythm rhythm(3);
  EXPECT_EQ(find(rhythm, "aaaaaaaa"), 4U);
  EXPECT_EQ(rhythm.anchor().id, 'a');
  EXPECT_EQ(rhythm.anchor().calls, 1U);
}

TEST(CallRhythm, TakesTheWholeIterationAndNotItsParts) {
  // A cycle over grids: fine ones more often than the coarsest.
  CallRhythm rhythm(3);
  const std::string iteration = "abcDcbaab";
  EXPECT_EQ(find(rhythm, "xy" + repeated(iteration, 6)), 2 + 4 * iteration.size());
  EXPECT_EQ(rhythm.anchor().id, 'D');
  EXPECT_EQ(rhythm.anchor().times, 1U);
  EXPECT_EQ(rhythm.anchor().calls, iteration.size());
  EXPECT_TRUE(rhythm.contains('b'));
  EXPECT_FALSE(rhythm.contains('x'));
}

TEST(CallRhythm, OfCallsThatAreMadeAsOftenTheNextIsTheAnchor) {
  CallRhythm rhythm(3);
  EXPECT_EQ(find(rhythm, repeated("abcdef", 5)), 24U);
  EXPECT_EQ(rhythm.anchor().id, 'a');
  EXPECT_EQ(rhythm.anchor().times, 1U);
}

TEST(CallRhythm, AnAnchorMayBeMadeSeveralTimes) {
  CallRhythm rhythm(3);
  EXPECT_EQ(find(rhythm, repeated("aabb", 5)), 16U);
  EXPECT_EQ(rhythm.anchor().id, 'a');
  EXPECT_EQ(rhythm.anchor().times, 2U);
  EXPECT_EQ(rhythm.anchor().calls, 4U);
}

TEST(CallRhythm, FindsNothingWhereNothingRepeats) {
  CallRhythm rhythm(3);
  for (uint64_t i = 0; i < uint64_t{3} * CallRhythm::kLongest; ++i) rhythm.add(i * i);
  EXPECT_FALSE(rhythm.found());
  // Too long.
  CallRhythm longer(3);
  for (uint64_t i = 0; i < uint64_t{6} * CallRhythm::kLongest; ++i)
    longer.add(i % (CallRhythm::kLongest + 1));
  EXPECT_FALSE(longer.found());
  CallRhythm longest(3);
  for (uint64_t i = 0; i < uint64_t{4} * CallRhythm::kLongest; ++i)
    longest.add(i % CallRhythm::kLongest);
  EXPECT_TRUE(longest.found());
}

}  // namespace
}  // namespace stripline::decide
