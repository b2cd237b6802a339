#include "base/random.h"

#include <algorithm>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace stripline {
namespace {

TEST(Random, IsSplitMix64) {
  // The first values of the reference implementation from this seed.
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317U);
  EXPECT_EQ(random.next(), 3203168211198807973U);
}

TEST(Random, HashesTellNumbersAndTheirOrderApart) {
  std::set<uint64_t> hashes;
  for (uint64_t a = 0; a < 30; ++a) {
    for (uint32_t b = 0; b < 30; ++b) hashes.insert(hash_of(a, b));
  }
  EXPECT_EQ(hashes.size(), 900U);
  Hash grown(7);
  grown.add(8);
  EXPECT_EQ(grown.value(), hash_of(7, 8));
}

TEST(Random, ShufflingDependsOnTheSeedAlone) {
  std::vector<int> values(100);
  std::iota(values.begin(), values.end(), 0);
  auto a = values;
  auto b = values;
  auto c = values;
  shuffle(a, 1);
  shuffle(b, 1);
  shuffle(c, 2);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, values);
  EXPECT_TRUE(std::ranges::is_permutation(a, values));
}

TEST(Random, DerivedSeedsDiffer) {
  std::set<uint64_t> seeds;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (uint64_t index = 0; index < 10; ++index) seeds.insert(derive_seed(seed, index));
  }
  EXPECT_EQ(seeds.size(), 100U);
}

}  // namespace
}  // namespace stripline
