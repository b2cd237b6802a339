#include "suites/pattern.h"

#include <vector>

#include <gtest/gtest.h>

namespace stripline::suites {
namespace {

TEST(Pattern, AgreesWithItselfAtEverySize) {
  for (size_t size = 0; size < 40; ++size) {
    std::vector<std::byte> bytes(size);
    fill_pattern(bytes, 7);
    EXPECT_FALSE(first_mismatch(bytes, 7)) << size;
  }
}

TEST(Pattern, NamesTheFirstByteThatDiffers) {
  std::vector<std::byte> bytes(100);
  fill_pattern(bytes, 1);
  for (const size_t at : {size_t{0}, size_t{7}, size_t{8}, size_t{63}, size_t{99}}) {
    std::vector<std::byte> spoiled = bytes;
    spoiled[at] ^= std::byte{1};
    EXPECT_EQ(first_mismatch(spoiled, 1), at);
  }
}

TEST(Pattern, TellsStaleShiftedAndMissingData) {
  std::vector<std::byte> bytes(256);
  fill_pattern(bytes, 1);
  EXPECT_TRUE(first_mismatch(bytes, 2)) << "data of another seed";
  EXPECT_TRUE(first_mismatch(std::span(bytes).subspan(8), 1)) << "shifted by a word";
  std::vector<std::byte> nothing(256);
  EXPECT_TRUE(first_mismatch(nothing, 1)) << "never written";
}

}  // namespace
}  // namespace stripline::suites
