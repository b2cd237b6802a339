#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/shortcuts.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class Collectives : public bootstrap::RanksTest {};

TEST_P(Collectives, NobodyPassesABarrierBeforeEverybodyHasArrived) {
  for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U}) {
    std::atomic<uint64_t> arrivals{0};  // ranks are threads: they can see each other's
    on_ranks(ranks, [&](Context& context) {
      for (uint64_t round = 1; round <= 20; ++round) {
        ++arrivals;
        context.barrier();
        EXPECT_GE(arrivals.load(), round * ranks);
        EXPECT_LE(arrivals.load(), round * ranks + ranks);
      }
    });
    EXPECT_EQ(arrivals.load(), 20U * ranks);
  }
}

// Between the phases: computation, one-sided operations and other collectives.
TEST_P(Collectives, ABarrierInTwoPhases) {
  for (const rank_t ranks : {1U, 2U, 3U, 5U, 8U}) {
    std::atomic<uint64_t> arrivals{0};
    on_ranks(ranks, [&](Context& context) {
      const auto mine = context.new_symmetric_array<uint64_t>(1);
      ASSERT_TRUE(mine.ok());
      const rank_t next = (context.rank_me() + 1) % ranks;
      const rank_t previous = (context.rank_me() + ranks - 1) % ranks;
      for (uint64_t round = 1; round <= 20; ++round) {
        const uint64_t value = round * 100 + context.rank_me();
        context.rput_nbi(&value, context.on_rank(*mine, next), 1);
        ++arrivals;
        const future all_here = context.barrier_async();
        if (round % 3 == 0) context.compute_for(1e-5);
        if (round % 4 == 0) {
          EXPECT_EQ(context.reduce_all(uint64_t{1}, Context::ReduceOp::sum), ranks);
        }
        if (round % 5 == 0) {
          while (!all_here.is_ready()) {
          }
        }
        all_here.wait();
        EXPECT_GE(arrivals.load(), round * ranks);
        EXPECT_EQ(*context.local(*mine), round * 100 + previous);
        context.barrier_async();  // dropped: the next one waits for it
        context.barrier();
      }
    });
    EXPECT_EQ(arrivals.load(), 20U * ranks);
  }
}

TEST_P(Collectives, BroadcastOfAnySizeFromAnyRoot) {
  for (const rank_t ranks : {1U, 2U, 4U, 7U}) {
    on_ranks(ranks, [ranks](Context& context) {
      const size_t chunk = context.am_max_bytes();
      for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, chunk, 3 * chunk + 17}) {
        for (rank_t root = 0; root < ranks; ++root) {
          std::vector<std::byte> data(bytes, std::byte{0xee});
          if (context.rank_me() == root) {
            for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 3 + root);
          }
          context.broadcast(data, root);
          size_t wrong = 0;
          for (size_t i = 0; i < bytes; ++i) {
            wrong += data[i] != static_cast<std::byte>(i * 3 + root) ? 1 : 0;
          }
          ASSERT_EQ(wrong, 0U) << bytes << " bytes from " << root;
        }
      }
      EXPECT_EQ(context.broadcast(context.rank_me() * 2.5, ranks - 1), (ranks - 1) * 2.5);
    });
  }
}

// A root may be several broadcasts ahead of a rank that comes late.
TEST_P(Collectives, LateRanksMissNothing) {
  on_ranks(4, [](Context& context) {
    for (uint64_t i = 0; i < 30; ++i) {
      if (i % 4 == context.rank_me()) context.compute_for(2e-4);
      EXPECT_EQ(context.broadcast(i * 11 + (context.rank_me() == 2 ? 0 : 5), 2), i * 11);
    }
  });
}

// The same with messages that are put where the network allows it, and read in one node.
TEST_P(Collectives, LateRanksMissNothingOfMediumMessages) {
  on_ranks(3, [](Context& context) {
    std::vector<uint64_t> data(5000);
    for (uint64_t i = 0; i < 30; ++i) {
      if (i % 3 == context.rank_me()) context.compute_for(2e-4);
      if (context.rank_me() == 1) std::fill(data.begin(), data.end(), i * 11);
      context.broadcast(std::as_writable_bytes(std::span(data)), 1);
      EXPECT_EQ(data.front(), i * 11);
      EXPECT_EQ(data.back(), i * 11);
    }
  });
}

TEST_P(Collectives, EveryPatternOfBarriers) {
  for (const rank_t ranks : {2U, 3U, 8U, 9U}) {
    std::atomic<uint64_t> arrivals{0};
    on_ranks(ranks, [&](Context& context) {
      uint64_t round = 0;
      for (const auto pattern :
           {sync::BarrierPattern::linear, sync::BarrierPattern::direct,
            sync::BarrierPattern::dissemination, sync::BarrierPattern::direct}) {
        context.reduce_all(uint64_t{0}, Context::ReduceOp::max);
        context.state().mechanisms.groups().use(pattern);
        for (const uint64_t end = round + 10; round < end;) {
          ++round;
          ++arrivals;
          if (round % 3 == 0) {
            context.barrier_async().wait();
          } else {
            context.barrier();
          }
          EXPECT_GE(arrivals.load(), round * ranks);
          EXPECT_LE(arrivals.load(), round * ranks + ranks);
        }
      }
    });
    EXPECT_EQ(arrivals.load(), 40U * ranks);
  }
}

TEST(CollectiveTransfers, MediumMessagesArePutWithoutAsking) {
  const bootstrap::WithoutDebugMode traffic;  // it compares the calls of ranks by a message
  bootstrap::on_ranks(group_on(fabrics_under_test()[0], 2), [](Context& context) {
    if (!context.state().job.fabric().shortcuts()->notifies()) GTEST_SKIP();
    const std::vector<uint64_t> mine(size_t{8} << 10, context.rank_me());
    std::vector<uint64_t> all(2 * mine.size());
    const auto before = context.state().job.fabric().traffic();
    team::world(context).allgather(std::span(mine), std::span(all));
    const auto after = context.state().job.fabric().traffic();
    EXPECT_EQ(after.puts, before.puts + 1);
    EXPECT_EQ(after.messages, before.messages);
    EXPECT_EQ(all.front(), 0U);
    EXPECT_EQ(all.back(), 1U);
  });
}

// The values are chosen so that any other order of additions gives another result.
TEST_P(Collectives, SumsAreTakenInRankOrder) {
  for (const rank_t ranks : {1U, 2U, 3U, 8U}) {
    on_ranks(ranks, [ranks](Context& context) {
      const auto value_of = [](rank_t rank) {
        const double values[] = {1e16, 1.0, -1e16, 1.0, 0.1, 3e8, -7e-9, 1e-30};
        return values[rank];
      };
      double expected = value_of(0);
      for (rank_t rank = 1; rank < ranks; ++rank) expected += value_of(rank);
      for (int repeat = 0; repeat < 5; ++repeat) {
        const double sum = context.reduce_all(value_of(context.rank_me()), Context::ReduceOp::sum);
        EXPECT_EQ(std::bit_cast<uint64_t>(sum), std::bit_cast<uint64_t>(expected));
      }
    });
  }
}

TEST_P(Collectives, MinimumMaximumAndIntegers) {
  on_ranks(5, [](Context& context) {
    const rank_t me = context.rank_me();
    const double value = me == 3 ? -4.5 : me;
    EXPECT_EQ(context.reduce_all(value, Context::ReduceOp::min), -4.5);
    EXPECT_EQ(context.reduce_all(value, Context::ReduceOp::max), 4.0);
    const uint64_t big = std::numeric_limits<uint64_t>::max() - me;
    EXPECT_EQ(context.reduce_all(big, Context::ReduceOp::max),
              std::numeric_limits<uint64_t>::max());
    EXPECT_EQ(context.reduce_all(big, Context::ReduceOp::min), big + me - 4);
    EXPECT_EQ(context.reduce_all(uint64_t{1} << me, Context::ReduceOp::sum), 31U);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Collectives, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class CollectivesDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(CollectivesDeathTest, BarrierAgainstBroadcast) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         if (context.rank_me() == 0) {
                           context.barrier();
                         } else {
                           context.broadcast(1.0, 0);
                         }
                       }),
              ::testing::ExitedWithCode(2), "disagree on collective operation");
}

TEST_F(CollectivesDeathTest, OneRankLeavesWhileAnotherGoesOn) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         if (context.rank_me() == 0) context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "the end of its Context");
}

TEST_F(CollectivesDeathTest, BroadcastOfDifferentLengths) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         std::vector<std::byte> data(10 + context.rank_me());
                         context.broadcast(data, 0);
                       }),
              ::testing::ExitedWithCode(2), "rank 0 has 10 bytes, rank 1 has 11");
}

TEST_F(CollectivesDeathTest, MalformedMessagesOfCollectives) {
  const auto after_message = [](const char* handler, std::vector<uint32_t> words) {
    on_ranks(2, [handler, words = std::move(words)](Context& context) {
      if (context.rank_me() == 1) {
        am::ActiveMessages& messages = context.state().operations.messages();
        messages.send(0, messages.id(handler), std::as_bytes(std::span(words)), {});
      }
      context.barrier();
    });
  };
  for (const char* handler : {"barrier", "collective transfer"}) {
    EXPECT_EXIT(after_message(handler, {1}), ::testing::ExitedWithCode(3),
                "rank 1 sent rank 0 a malformed message");
    // A message of a team that no one is in: the fourth word of messages.
    std::vector<uint32_t> words(12);
    words[3] = 1000;
    EXPECT_EXIT(after_message(handler, words), ::testing::ExitedWithCode(3),
                "rank 1 sent rank 0 a malformed message");
  }
  constexpr uint32_t kRound = 2;  // the third word of a barrier's message
  std::vector<uint32_t> barrier(6);
  barrier[kRound] = 1000;
  EXPECT_EXIT(after_message("barrier", barrier), ::testing::ExitedWithCode(3),
              "rank 1 sent rank 0 a malformed message");
}

TEST_F(CollectivesDeathTest, BroadcastFromNobody) {
  EXPECT_EXIT(on_ranks(2, [](Context& context) { context.broadcast(1.0, 2); }),
              ::testing::ExitedWithCode(2), "broadcast from rank 2, but the job has ranks 0 to 1");
}

}  // namespace
}  // namespace stripline
