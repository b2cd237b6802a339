#include "runtime/rma/bounce_ring.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace stripline::rma {
namespace {

TEST(BounceRing, CopiesDoNotOverlapWhateverTheirSizes) {
  constexpr size_t kCapacity = 1000;
  BounceRing ring(kCapacity);
  std::mt19937 random(3);
  std::deque<std::pair<std::byte*, size_t>> live;
  size_t refused = 0;
  for (uint32_t i = 0; i < 20000; ++i) {
    const size_t bytes = 1 + random() % (i % 7 == 0 ? kCapacity : 60);
    std::byte* memory = ring.acquire(bytes, {i, 0});
    while (memory == nullptr) {
      ++refused;
      ASSERT_FALSE(ring.empty());
      // What was written is still there.
      const auto [first, size] = live.front();
      for (size_t k = 0; k < size; ++k) {
        ASSERT_EQ(first[k], static_cast<std::byte>(ring.oldest().slot));
      }
      live.pop_front();
      ring.release_oldest();
      memory = ring.acquire(bytes, {i, 0});
    }
    std::memset(memory, static_cast<int>(i & 0xff), bytes);
    live.emplace_back(memory, bytes);
  }
  EXPECT_GT(refused, 1000U);
}

TEST(BounceRing, AllOfItCanBeUsed) {
  BounceRing ring(100);
  std::byte* const whole = ring.acquire(100, {1, 0});
  ASSERT_NE(whole, nullptr);
  EXPECT_EQ(ring.acquire(1, {2, 0}), nullptr);
  ring.release_oldest();
  EXPECT_EQ(ring.acquire(60, {3, 0}), whole);
  EXPECT_EQ(ring.acquire(40, {4, 0}), whole + 60);
  EXPECT_EQ(ring.acquire(1, {5, 0}), nullptr);
  ring.release_oldest();
  EXPECT_EQ(ring.acquire(60, {5, 0}), whole);
  EXPECT_EQ(ring.oldest().slot, 4U);
}

}  // namespace
}  // namespace stripline::rma
