#include "runtime/am/active_messages.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

template <typename T>
T value_of(std::span<const std::byte> payload) {
  T value{};
  EXPECT_EQ(payload.size(), sizeof value);
  std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

class ActiveMessagesTest : public bootstrap::RanksTest {};

TEST_P(ActiveMessagesTest, PayloadsOfAllSizesArriveInOrder) {
  on_ranks(3, 8, [](Context& context) {
    std::vector<size_t> sizes = {0, 1, 7, 8, 100, 1000, context.am_max_bytes()};
    std::vector<size_t> next(3);
    size_t wrong = 0;
    const uint32_t handler =
        context.register_am([&](rank_t source, std::span<const std::byte> payload) {
          const size_t index = next[source]++;
          if (payload.size() != sizes[index % sizes.size()]) ++wrong;
          for (size_t i = 0; i < payload.size(); ++i) {
            if (payload[i] != static_cast<std::byte>(i * 7 + index + source)) ++wrong;
          }
        });
    const size_t count = 5 * sizes.size();
    for (size_t index = 0; index < count; ++index) {
      std::vector<std::byte> payload(sizes[index % sizes.size()]);
      for (size_t i = 0; i < payload.size(); ++i) {
        payload[i] = static_cast<std::byte>(i * 7 + index + context.rank_me());
      }
      for (rank_t target = 0; target < 3; ++target) context.am_send(target, handler, payload);
    }
    EXPECT_TRUE(context.wait_until([&] { return next == std::vector<size_t>(3, count); }, 60));
    EXPECT_EQ(wrong, 0U);
    context.barrier();
  });
}

// Everybody floods everybody, and each request is answered, with as little credit as there can be.
TEST_P(ActiveMessagesTest, StormInAllDirectionsWithOneCreditEnds) {
  constexpr rank_t kRanks = 4;
  constexpr uint64_t kEach = 150;
  on_ranks(kRanks, 1, [](Context& context) {
    uint64_t served = 0;
    uint64_t answered = 0;
    uint64_t answer_sum = 0;
    const uint32_t answer = context.register_am([&](rank_t, std::span<const std::byte> payload) {
      ++answered;
      answer_sum += value_of<uint64_t>(payload);
    });
    const uint32_t ask =
        context.register_am([&](rank_t source, std::span<const std::byte> payload) {
          ++served;
          context.am_send(source, answer, bytes_of(value_of<uint64_t>(payload) * 3));
        });
    uint64_t expected = 0;
    for (uint64_t i = 0; i < kEach; ++i) {
      for (rank_t target = 0; target < kRanks; ++target) {
        const uint64_t value = i * 10 + target;
        expected += value * 3;
        context.am_send(target, ask, bytes_of(value));
      }
    }
    EXPECT_TRUE(context.wait_until(
        [&] { return served == kEach * kRanks && answered == kEach * kRanks; }, 60));
    EXPECT_EQ(answer_sum, expected);
    EXPECT_GT(context.state().operations.messages().statistics().credit_stalls, 0U);
    context.barrier();
  });
}

// Handlers that send several messages, also to third ranks, run out of reply credits and of room;
// what they send is kept and arrives all the same.
TEST_P(ActiveMessagesTest, HandlersThatMultiplyMessagesDoNotBlock) {
  constexpr rank_t kRanks = 3;
  constexpr uint64_t kEach = 40;
  constexpr uint64_t kCopies = 4;
  on_ranks(kRanks, 1, [](Context& context) {
    uint64_t copies = 0;
    const uint32_t copy =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++copies; });
    const uint32_t spread = context.register_am([&](rank_t, std::span<const std::byte> payload) {
      for (uint64_t i = 0; i < kCopies; ++i) {
        for (rank_t target = 0; target < kRanks; ++target) context.am_send(target, copy, payload);
      }
    });
    const std::vector<std::byte> payload(200);
    for (uint64_t i = 0; i < kEach; ++i) {
      for (rank_t target = 0; target < kRanks; ++target) context.am_send(target, spread, payload);
    }
    // Each of the 3 x 3 x kEach requests makes kCopies for every rank.
    constexpr uint64_t kExpected = uint64_t{kRanks} * kRanks * kEach * kCopies;
    EXPECT_TRUE(context.wait_until([&] { return copies == kExpected; }, 60)) << copies;
    EXPECT_GT(context.state().operations.messages().statistics().deferred, 0U);
    context.barrier();
    EXPECT_TRUE(context.state().operations.messages().idle());
    EXPECT_EQ(copies, kExpected);
  });
}

// Handlers of replies may send on: a token that travels by handlers only.
TEST_P(ActiveMessagesTest, TokenTravelsThroughHandlers) {
  on_ranks(3, 1, [](Context& context) {
    uint64_t last = 0;
    uint32_t pass = 0;
    pass = context.register_am([&](rank_t, std::span<const std::byte> payload) {
      last = value_of<uint64_t>(payload);
      if (last > 0) context.am_send((context.rank_me() + 1) % 3, pass, bytes_of(last - 1));
    });
    context.barrier();  // everybody knows `pass`
    if (context.rank_me() == 0) context.am_send(1, pass, bytes_of(uint64_t{299}));
    // 299 arrives at rank 1, so 2, 1 and 0 end at ranks 1, 2 and 0.
    const uint64_t final_value = (3 - context.rank_me()) % 3;
    EXPECT_TRUE(context.wait_until([&] { return last == final_value; }, 60)) << last;
    context.barrier();
  });
}

// A sender that floods a rank which does not serve is stopped by its credits.
TEST_P(ActiveMessagesTest, CreditsBoundWhatWaitsAtAnInattentiveRank) {
  constexpr uint16_t kCredits = 4;
  on_ranks(2, kCredits, [](Context& context) {
    uint64_t served = 0;
    const uint32_t handler =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++served; });
    constexpr uint64_t kMessages = 64;
    if (context.rank_me() == 0) {
      for (uint64_t i = 0; i < kMessages; ++i) context.am_send(1, handler, {});
      const am::Statistics& statistics = context.state().operations.messages().statistics();
      EXPECT_GT(statistics.credit_stalls, 0U);
    } else {
      context.compute_for(0.01);
      // One progress can serve no more than the sender had credits for at a time.
      const uint64_t before = served;
      context.progress();
      EXPECT_LE(served - before, 2U * kCredits);
      EXPECT_TRUE(context.wait_until([&] { return served == kMessages; }, 60));
      const am::Statistics& statistics = context.state().operations.messages().statistics();
      EXPECT_GE(statistics.credit_messages, (kMessages - kCredits) / kCredits);
    }
    EXPECT_EQ(context.state().operations.messages().buffer_bytes_per_peer(),
              size_t{2} * kCredits * (context.am_max_bytes() + 8));
    context.barrier();
  });
}

// A noted message is not answered; its sender learns in passing that it was served, or asks.
TEST_P(ActiveMessagesTest, NotedMessagesAreToldOfInPassingOrWhenAsked) {
  static constexpr uint64_t kNoted = 10;
  on_ranks(2, 64, [](Context& context) {
    am::ActiveMessages& messages = context.state().operations.messages();
    uint64_t served = 0;
    const uint32_t handler =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++served; });
    context.barrier();
    fabric::Counter noted;
    const auto note = [&] { messages.send_noted(1, handler, {}, {}, noted); };
    const auto drained = [&] { return noted.pending == 0; };
    if (context.rank_me() == 0) {
      for (uint64_t i = 0; i < kNoted; ++i) note();
      EXPECT_EQ(noted.pending, kNoted);
      EXPECT_TRUE(context.wait_until([&] { return served == 1; }, 60));
      EXPECT_TRUE(drained());  // by the message of rank 1
      for (int i = 0; i < 3; ++i) {
        note();
        messages.ask(noted);  // from the second on, the message itself has asked
        messages.ask();
        EXPECT_TRUE(messages.wait(drained, 60));
      }
      context.am_send(1, handler, {});
    } else {
      const uint64_t before = messages.statistics().credit_messages;
      EXPECT_TRUE(context.wait_until([&] { return served == kNoted; }, 60));
      EXPECT_EQ(messages.statistics().credit_messages, before);
      context.am_send(0, handler, {});
      EXPECT_TRUE(context.wait_until([&] { return served == kNoted + 4; }, 60));
    }
    context.barrier();
  });
}

// After one that was waited for, messages ask in advance, until two answers in a row were for
// no one: what those cost, asking late would have.
TEST_P(ActiveMessagesTest, AnswersForNobodyAreNotAskedForAgain) {
  static constexpr uint64_t kUnawaited = 12;
  on_ranks(2, 64, [](Context& context) {
    am::ActiveMessages& messages = context.state().operations.messages();
    uint64_t served = 0;
    uint64_t told = 0;
    const uint32_t handler =
        context.register_am([&](rank_t, std::span<const std::byte>) { ++served; });
    const uint32_t tell = context.register_am(
        [&](rank_t, std::span<const std::byte> answers) { told = answers.size(); });
    const uint64_t before = messages.statistics().credit_messages;
    context.barrier();
    fabric::Counter noted;
    if (context.rank_me() == 0) {
      messages.send_noted(1, handler, {}, {}, noted);
      messages.ask(noted);
      EXPECT_TRUE(messages.wait([&] { return noted.pending == 0; }, 60));
      // Each comes back by itself or with the last one's answer; no one asks for them.
      for (uint64_t i = 0; i < kUnawaited; ++i) {
        messages.send_noted(1, handler, {}, {}, noted);
        if (i < 2) {
          EXPECT_TRUE(messages.wait([&] { return noted.pending == 0; }, 60));
        }
      }
      EXPECT_TRUE(context.wait_until([&] { return told > 0; }, 60));
      EXPECT_EQ(told, 3U);
    } else {
      EXPECT_TRUE(context.wait_until([&] { return served == kUnawaited + 1; }, 60));
      const uint64_t answers = messages.statistics().credit_messages - before;
      context.am_send(0, tell, std::vector<std::byte>(answers));
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, ActiveMessagesTest, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class ActiveMessagesDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(ActiveMessagesDeathTest, PayloadLargerThanAllowed) {
  EXPECT_EXIT(
      on_ranks(1,
               [](Context& context) {
                 const uint32_t handler =
                     context.register_am([](rank_t, std::span<const std::byte>) {});
                 context.am_send(0, handler, std::vector<std::byte>(context.am_max_bytes() + 1));
               }),
      ::testing::ExitedWithCode(2), "am_send to rank 0: a payload of .* exceeds am_max_bytes");
}

TEST_F(ActiveMessagesDeathTest, HandlerThatNobodyRegistered) {
  EXPECT_EXIT(on_ranks(1, [](Context& context) { context.am_send(0, 77, {}); }),
              ::testing::ExitedWithCode(2), "no handler 77 is registered");
  EXPECT_EXIT(on_ranks(1, [](Context& context) { context.am_send(0, 0, {}); }),
              ::testing::ExitedWithCode(2), "no handler 0 is registered");
}

TEST_F(ActiveMessagesDeathTest, HandlerThatIsNamedTooLate) {
  EXPECT_EXIT(
      on_ranks(1, [](Context& context) { context.state().operations.messages().id("gather"); }),
      ::testing::ExitedWithCode(1), "'gather' is named after ranks have connected");
}

TEST_F(ActiveMessagesDeathTest, HandlerThatWaits) {
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const uint32_t handler = context.register_am(
                             [&](rank_t, std::span<const std::byte>) { context.barrier(); });
                         context.am_send(0, handler, {});
                         context.wait_until([] { return false; }, 1);
                       }),
              ::testing::ExitedWithCode(2), "inside an active message handler");
}

}  // namespace
}  // namespace stripline
