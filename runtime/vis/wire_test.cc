// Messages of packed transfers: what is written is read back, and what is not well formed or leaves
// the segment is refused.
#include "runtime/vis/wire.h"

#include <algorithm>
#include <array>
#include <random>

#include <gtest/gtest.h>

#include "runtime/vis/cursor.h"

namespace stripline::vis::wire {
namespace {

constexpr uint64_t kSegment = 10000;

std::vector<std::byte> written(const Side& side, uint64_t begin, uint64_t bytes) {
  std::vector<std::byte> message(strided_places_bytes(side));
  EXPECT_EQ(write_strided_places(side, begin, bytes, message.data()),
            message.data() + message.size());
  return message;
}

bool reads(const std::vector<std::byte>& message, size_t dimensions, Part& part) {
  std::span<const std::byte> left(message);
  const Head head{.dimensions = static_cast<uint8_t>(dimensions)};
  return read_strided_places(left, head, kSegment, part) && left.empty();
}

TEST(Wire, StridedPlacesAreReadBack) {
  const Side side{100, 8, {{10, 16}, {5, 400}}};
  Part part;
  ASSERT_TRUE(reads(written(side, 24, 64), 2, part));
  EXPECT_EQ(part.side.base, 100);
  EXPECT_EQ(part.side.bytes, 8U);
  EXPECT_EQ(part.side.dimensions, side.dimensions);
  EXPECT_EQ(part.begin, 24U);
  EXPECT_EQ(part.bytes, 64U);
}

TEST(Wire, PlacesOutOfBoundsAreRefused) {
  Part part;
  const auto accepted = [&](const Side& side, uint64_t begin, uint64_t bytes) {
    return reads(written(side, begin, bytes), side.dimensions.size(), part);
  };
  EXPECT_TRUE(accepted({0, kSegment, {}}, 0, kSegment));
  EXPECT_FALSE(accepted({1, kSegment, {}}, 0, 1));
  EXPECT_FALSE(accepted({0, 0, {}}, 0, 0));
  EXPECT_FALSE(accepted({-8, 8, {}}, 0, 8));
  EXPECT_FALSE(accepted({0, 8, {}}, 4, 5));
  EXPECT_FALSE(accepted({0, 8, {}}, 9, 0));
  EXPECT_FALSE(accepted({0, 8, {}}, ~uint64_t{0}, 2));
  EXPECT_TRUE(accepted({0, 8, {{10, 1110}}}, 0, 80));
  EXPECT_FALSE(accepted({0, 8, {{10, 1111}}}, 0, 80));
  EXPECT_FALSE(accepted({5000, 8, {{2, -16}}}, 0, 16));
  EXPECT_FALSE(accepted({0, 8, {{1, 0}}}, 0, 8));
  EXPECT_FALSE(accepted({0, 8, {{uint64_t{1} << 62, 0}, {8, 0}}}, 0, 8));
  std::vector<std::byte> cut = written({0, 8, {{2, 16}}}, 0, 16);
  cut.pop_back();
  EXPECT_FALSE(reads(cut, 1, part));
  EXPECT_FALSE(reads(cut, 255, part));
}

TEST(Wire, WordsOutOfBoundsAreRefused) {
  const auto accepted = [](uint64_t offset, uint64_t bytes) {
    const uint64_t word = word_of(offset, bytes);
    std::span<const std::byte> message = std::as_bytes(std::span(&word, 1));
    Place place;
    return read_place(message, kSegment, place) && place.offset == offset && place.bytes == bytes &&
           message.empty();
  };
  EXPECT_TRUE(accepted(kSegment - 8, 8));
  EXPECT_TRUE(accepted(kSegment, 0));
  EXPECT_FALSE(accepted(kSegment - 8, 9));
  EXPECT_FALSE(accepted(uint64_t{1} << 40, 0));
  Place place;
  const std::array<std::byte, 7> cut{};
  std::span<const std::byte> message(cut);
  EXPECT_FALSE(read_place(message, kSegment, place));
}

// Whatever is accepted stays within the segment.
TEST(Wire, DamagedPlacesNeverLeadOutside) {
  std::mt19937_64 random(5);
  size_t accepted = 0;
  for (int round = 0; round < 100000; ++round) {
    Side side{static_cast<int64_t>(random() % 3000), 1 + random() % 32, {}};
    for (size_t i = random() % 4; i > 0; --i) {
      side.dimensions.push_back({2 + random() % 6, static_cast<int64_t>(random() % 300)});
    }
    std::vector<std::byte> message = written(side, random() % 64, random() % 64);
    for (size_t i = random() % 3; i > 0; --i) {
      message[random() % message.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    }
    Part part;
    if (!reads(message, side.dimensions.size(), part)) continue;
    ++accepted;
    SideCursor cursor;
    cursor.start(part.side, part.begin);
    for (uint64_t left = std::min<uint64_t>(part.bytes, 4096); left > 0;) {
      const vis::Run run = cursor.next(left);
      ASSERT_GT(run.count * run.bytes, 0U);
      const int64_t last = run.offset + run.stride * static_cast<int64_t>(run.count - 1);
      ASSERT_GE(run.offset, 0);
      ASSERT_GE(run.stride, 0);
      ASSERT_LE(last + static_cast<int64_t>(run.bytes), static_cast<int64_t>(kSegment));
      left -= run.count * run.bytes;
    }
  }
  EXPECT_GT(accepted, 20000U);
}

TEST(Wire, SignalsAreReadBackAndFlagsAreWordsOfTheSegment) {
  const auto reads_signal = [](const Signal& signal, size_t bytes, uint64_t segment_bytes,
                               Signal& read) {
    std::span<const std::byte> message =
        std::as_bytes(std::span(&signal, 1)).first(std::min(bytes, sizeof signal));
    return read_signal(message, segment_bytes, read) && message.empty();
  };
  const Signal signal{.offset = 64, .value = 7, .messages = 3};
  Signal read;
  ASSERT_TRUE(reads_signal(signal, sizeof signal, 72, read));
  EXPECT_EQ(read.offset, 64U);
  EXPECT_EQ(read.value, 7U);
  EXPECT_EQ(read.messages, 3U);
  EXPECT_FALSE(reads_signal(signal, sizeof signal - 1, 72, read));
  EXPECT_FALSE(reads_signal(signal, sizeof signal, 71, read));
  EXPECT_FALSE(reads_signal({.offset = 0}, sizeof signal, 7, read));
  EXPECT_FALSE(reads_signal({.offset = 60}, sizeof signal, 72, read));
  EXPECT_FALSE(reads_signal({.offset = UINT64_MAX - 7}, sizeof signal, 72, read));
}

}  // namespace
}  // namespace stripline::vis::wire
