#include "suites/kernels/nas/nas_random.h"

#include <gtest/gtest.h>

namespace stripline::suites::nas {
namespace {

// The product modulo 2^46 with 128 bits, which nothing is cut from before the modulus.
uint64_t product(uint64_t a, uint64_t b) {
  const auto wide = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(wide % (uint64_t{1} << 46));
}

TEST(NasRandom, FollowsTheRecurrence) {
  uint64_t multiplier = 1;
  for (int i = 0; i < 13; ++i) multiplier *= 5;
  ASSERT_EQ(NasRandom::kMultiplier, multiplier);

  NasRandom random;
  uint64_t x = 314159265;
  for (int i = 0; i < 10000; ++i) {
    x = product(x, multiplier);
    ASSERT_EQ(random.next(), static_cast<double>(x) / static_cast<double>(uint64_t{1} << 46)) << i;
    ASSERT_EQ(random.state(), x) << i;
  }
}

TEST(NasRandom, SkipsAsIfItHadDrawn) {
  for (const uint64_t count : {0, 1, 2, 3, 64, 1000, 4097}) {
    NasRandom drawn;
    for (uint64_t i = 0; i < count; ++i) drawn.next();
    NasRandom skipped;
    skipped.skip(count);
    EXPECT_EQ(skipped.state(), drawn.state()) << count;
  }
}

TEST(NasRandom, HasTheFullPeriod) {
  // For an odd seed and a = 5 modulo 8 the period is 2^44.
  NasRandom random;
  random.skip(uint64_t{1} << 43);
  EXPECT_NE(random.state(), NasRandom::kSeed);
  random.skip(uint64_t{1} << 43);
  EXPECT_EQ(random.state(), NasRandom::kSeed);
}

}  // namespace
}  // namespace stripline::suites::nas
