#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class AmTest : public bootstrap::RanksTest {};

TEST_P(AmTest, ShortOnesCarryTheirValueAndMayBeAnswered) {
  on_ranks(3, 2, [](Context& context) {
    struct Question {
      rank_t asker;
      double value;
    };
    double sum = 0;
    size_t answers = 0;
    const short_am<double> answer(context, [&](rank_t, const double& value) {
      sum += value;
      ++answers;
    });
    const short_am<Question> ask(context, [&](rank_t source, const Question& question) {
      EXPECT_EQ(source, question.asker);
      answer.send(source, question.value * 2);
    });
    for (int i = 0; i < 50; ++i) {
      for (rank_t target = 0; target < 3; ++target) {
        ask.send(target, {context.rank_me(), static_cast<double>(i)});
      }
    }
    EXPECT_TRUE(context.wait_until([&] { return answers == 150; }, 60));
    EXPECT_EQ(sum, 3 * 2 * 49 * 50 / 2);
    context.barrier();
  });
}

TEST_P(AmTest, LongOnesFindTheirDataInPlace) {
  on_ranks(3, 2, [](Context& context) {
    constexpr size_t kWords = 20000;
    // A part for each sender.
    const auto mine = context.new_symmetric_array<uint32_t>(3 * kWords);
    ASSERT_TRUE(mine.ok());
    size_t arrived = 0;
    size_t wrong = 0;
    const long_am message(
        context, [&](rank_t source, std::span<const std::byte> payload, std::span<std::byte> data) {
          size_t words = 0;
          if (payload.size() < sizeof words) return;
          std::memcpy(&words, payload.data(), sizeof words);
          const uint32_t* values = context.local(*mine) + source * kWords;
          if (data.data() != reinterpret_cast<const std::byte*>(values)) ++wrong;
          if (data.size() != words * sizeof(uint32_t)) ++wrong;
          for (size_t i = 0; i < words; ++i)
            wrong += values[i] == size_t{source} * 7 + i + words ? 0 : 1;
          ++arrived;
        });
    size_t rounds = 0;
    const size_t most = message.max_payload_bytes();
    // Around what a message holds, with the shortest and with the longest payload.
    const size_t head = sizeof(size_t);
    const std::vector<size_t> sizes = {0, 1, 100, (most - head) / 4, (most - head) / 4 + 1, kWords};
    for (const size_t words : sizes) {
      for (const size_t payload_bytes : {head, most}) {
        std::vector<std::byte> payload(payload_bytes);
        std::memcpy(payload.data(), &words, sizeof words);
        std::vector<uint32_t> data(words);
        std::iota(data.begin(), data.end(), context.rank_me() * 7 + static_cast<uint32_t>(words));
        for (rank_t target = 0; target < 3; ++target) {
          message.send(target, payload, std::span<const uint32_t>(data),
                       context.on_rank(*mine, target) +
                           static_cast<std::ptrdiff_t>(context.rank_me() * kWords));
        }
        // Free to change as soon as it was sent.
        std::fill(data.begin(), data.end(), 0);
        // The next ones go to the same place.
        ++rounds;
        EXPECT_TRUE(context.wait_until([&] { return arrived == 3 * rounds; }, 60));
        context.barrier();
      }
    }
    EXPECT_EQ(wrong, 0U);
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, AmTest, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class LongAmDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(LongAmDeathTest, DataAreForTheTargetAndWithinItsSegment) {
  const std::vector<uint64_t> data(4);
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const long_am message(context, [](rank_t, auto, auto) {});
                         message.send(1, {}, std::span<const uint64_t>(data),
                                      global_ptr<uint64_t>(0, 0));
                       }),
              ::testing::ExitedWithCode(2), "with data for another rank");
  EXPECT_EXIT(on_ranks(2,
                       [&](Context& context) {
                         const long_am message(context, [](rank_t, auto, auto) {});
                         message.send(1, {}, std::span<const uint64_t>(data),
                                      global_ptr<uint64_t>(1, (size_t{8} << 20) - 8));
                       }),
              ::testing::ExitedWithCode(2),
              "long_am::send of 32 bytes at offset .* is out of bounds");
}

// Data of both sizes, which are put, carried in a message, or copied to memory in reach.
TEST_F(LongAmDeathTest, DataAndPayloadAreSomewhere) {
  const auto fabrics = fabrics_under_test();
  const auto mapped = std::ranges::find(fabrics, "mapped", &bootstrap::FabricUnderTest::same_node);
  ASSERT_NE(mapped, fabrics.end());
  for (const bootstrap::FabricUnderTest& fabric : {fabrics[1], *mapped}) {
    for (const size_t elements : {size_t{4}, size_t{1} << 16}) {
      EXPECT_EXIT(on_ranks(
                      2,
                      [elements](Context& context) {
                        const long_am message(context, [](rank_t, auto, auto) {});
                        message.send(1, {},
                                     std::span(static_cast<const uint64_t*>(nullptr), elements),
                                     global_ptr<uint64_t>(1, 0));
                      },
                      fabric),
                  ::testing::ExitedWithCode(2),
                  "long_am_test.cc:[0-9]+: long_am::send of [0-9]+ bytes with a null pointer");
    }
    EXPECT_EXIT(on_ranks(
                    2,
                    [](Context& context) {
                      const long_am message(context, [](rank_t, auto, auto) {});
                      const uint64_t one = 1;
                      message.send(1, std::span(static_cast<const std::byte*>(nullptr), 8),
                                   std::span(&one, 1), global_ptr<uint64_t>(1, 0));
                    },
                    fabric),
                ::testing::ExitedWithCode(2),
                "long_am_test.cc:[0-9]+: long_am::send of 8 bytes with a null pointer");
  }
}

}  // namespace
}  // namespace stripline
