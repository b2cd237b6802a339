#include "runtime/fabric/ofi/message_ring.h"

#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace stripline::fabric::ofi {
namespace {

std::vector<std::byte> message_of(size_t bytes, uint64_t seed) {
  std::vector<std::byte> message(bytes);
  for (size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(seed * 31 + i);
  return message;
}

TEST(MessageRingTest, IsEmptyThenHoldsWhatWasWritten) {
  const auto memory = std::make_unique<RingMemory>();
  RingWriter writer(memory.get());
  RingReader reader(memory.get());
  EXPECT_TRUE(reader.empty());
  const auto message = message_of(13, 1);
  ASSERT_TRUE(writer.write(message));
  ASSERT_TRUE(writer.write({}));
  ASSERT_FALSE(reader.empty());
  const auto got = reader.front();
  EXPECT_TRUE(std::equal(got.begin(), got.end(), message.begin(), message.end()));
  reader.pop();
  ASSERT_FALSE(reader.empty());
  EXPECT_TRUE(reader.front().empty());
  reader.pop();
  EXPECT_TRUE(reader.empty());
}

TEST(MessageRingTest, TakesNoMoreThanItHoldsAndGoesOnWhenRead) {
  const auto memory = std::make_unique<RingMemory>();
  RingWriter writer(memory.get());
  RingReader reader(memory.get());
  // The largest message, and one of each length around where the buffer ends.
  for (size_t bytes : {RingMemory::kLargest, RingMemory::kLargest - 1, size_t{4088}, size_t{1}}) {
    for (int turn = 0; turn < 200; ++turn) {
      size_t written = 0;
      while (writer.write(message_of(bytes, written))) ++written;
      ASSERT_GE(written, 3U);
      ASSERT_LE(written * bytes, RingMemory::kBufferBytes);
      // Part of it, so that the next turn begins elsewhere.
      const size_t taken = written - (turn % 2 == 0 ? 1 : 0);
      for (size_t i = 0; i < taken; ++i) {
        ASSERT_FALSE(reader.empty());
        ASSERT_EQ(reader.front().size(), bytes);
        reader.pop();
      }
      while (!reader.empty()) reader.pop();
    }
  }
}

TEST(MessageRingTest, CarriesRandomMessagesBetweenThreads) {
  constexpr int kMessages = 20000;
  const auto memory = std::make_unique<RingMemory>();
  const auto length = [](std::mt19937& random) {
    return random() % 50 == 0 ? random() % RingMemory::kLargest : random() % 200;
  };
  std::thread sender([&] {
    RingWriter writer(memory.get());
    std::mt19937 random(7);
    for (int i = 0; i < kMessages; ++i) {
      const auto message = message_of(length(random), static_cast<uint64_t>(i));
      while (!writer.write(message)) std::this_thread::yield();
    }
  });
  RingReader reader(memory.get());
  std::mt19937 random(7);
  int wrong = 0;
  for (int i = 0; i < kMessages; ++i) {
    while (reader.empty()) std::this_thread::yield();
    const auto expected = message_of(length(random), static_cast<uint64_t>(i));
    const auto got = reader.front();
    wrong += std::equal(got.begin(), got.end(), expected.begin(), expected.end()) ? 0 : 1;
    reader.pop();
  }
  sender.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(reader.empty());
}

}  // namespace
}  // namespace stripline::fabric::ofi
