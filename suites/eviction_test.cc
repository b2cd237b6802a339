#include "suites/eviction.h"

#include <vector>

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

TEST(Eviction, FindsACacheOfAPlausibleSize) {
  EXPECT_GE(last_level_cache_bytes(), size_t{64} << 10);
  EXPECT_LE(last_level_cache_bytes(), size_t{8} << 30);
}

TEST(Eviction, KeepsTheDataAndTakesAnyRange) {
  std::vector<unsigned char> memory(1000);
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<unsigned char>(i);
  Evictor evictor;
  evictor.evict(memory.data(), 0);
  evictor.evict(memory.data() + 3, 1);
  evictor.evict(memory.data() + 1, memory.size() - 1);
  for (size_t i = 0; i < memory.size(); ++i) {
    ASSERT_EQ(memory[i], static_cast<unsigned char>(i)) << i;
  }
}

}  // namespace
}  // namespace stripline::suites
