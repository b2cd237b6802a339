// Broadcasts and reductions in the background.
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

uint64_t element(rank_t rank, size_t i, uint64_t round) {
  return (i + 1) * 2654435761U + rank * uint64_t{40503} + round * 97;
}

// Starting real ranks takes longer than what they do.
std::vector<rank_t> numbers_of_ranks(const bootstrap::FabricUnderTest& fabric) {
  if (fabric.clock == "virtual") return {1, 2, 3, 4, 5, 6, 7, 8, 9};
  return {1, 3, 4, 6};
}

class AsyncCollectives : public bootstrap::RanksTest {};

void broadcast_and_reduce(const team& on, size_t count, uint64_t round) {
  const rank_t n = on.rank_n();
  const auto root = static_cast<rank_t>(round % n);
  std::vector<uint64_t> data(count);
  std::vector<uint64_t> in(count);
  std::vector<uint64_t> out(count);
  for (size_t i = 0; i < count; ++i) {
    if (on.rank_me() == root) data[i] = element(root, i, round);
    in[i] = element(on.rank_me(), i, round);
  }
  const future all_have = on.broadcast_async(data, root);
  const future summed = on.allreduce_async(in, out, op_add{});
  in.clear();  // it may be changed
  all_have.wait();
  summed.wait();
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(data[i], element(root, i, round)) << n;
    uint64_t sum = 0;
    for (rank_t rank = 0; rank < n; ++rank) sum += element(rank, i, round);
    ASSERT_EQ(out[i], sum) << n << " ranks, " << count << " elements";
  }
}

TEST_P(AsyncCollectives, AgreeWithWhatIsExpected) {
  for (const rank_t ranks : numbers_of_ranks(GetParam())) {
    on_ranks(ranks, 2, [](Context& context) {
      const team all = team::world(context);
      uint64_t round = 0;
      for (const size_t count : {size_t{0}, size_t{1}, size_t{777}}) {
        broadcast_and_reduce(all, count, round++);
        broadcast_and_reduce(all, count, round++);
      }
      // In several messages.
      if (all.rank_n() == 3 || all.rank_n() == 4) broadcast_and_reduce(all, 30011, round);
      const team half = all.split(all.rank_me() % 2, all.rank_me());
      broadcast_and_reduce(half, 5, 3);
      EXPECT_EQ(half.allreduce_async(uint32_t{1}, op_add{}).wait(), half.rank_n());
      context.barrier();
      EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    });
  }
}

// Several in flight at once, others between them, and what follows; ranks come in at different
// times.
TEST_P(AsyncCollectives, OthersMayGoBetween) {
  on_ranks(4, [](Context& context) {
    const team all = team::world(context);
    const team row = all.split(all.rank_me() / 2, all.rank_me());
    constexpr uint64_t kRounds = 20;
    std::vector<future_of<void>> later;
    uint64_t sum = 0;
    for (uint64_t round = 0; round < kRounds; ++round) {
      if (round % 4 == all.rank_me()) context.compute_for(1e-4);
      later.push_back(all.allreduce_async(round + all.rank_me(), op_max{}).then([&](uint64_t most) {
        sum += most;
      }));
      const auto in_row = row.broadcast_async(uint64_t{10} * round + all.rank_me(), 1);
      EXPECT_EQ(all.allreduce(uint64_t{1}, op_add{}), 4U);
      const future barrier = context.barrier_async();
      EXPECT_EQ(in_row.wait(), 10 * round + row.world_rank(1));
      barrier.wait();
    }
    when_all(later).wait();
    EXPECT_EQ(sum, kRounds * (kRounds - 1) / 2 + 3 * kRounds);
  });
}

// Dropped ones are completed before the team and the job end.
TEST_P(AsyncCollectives, MayBeDropped) {
  on_ranks(3, [](Context& context) {
    const team all = team::world(context);
    static std::array<std::vector<double>, 3> data;
    data[all.rank_me()].assign(20000, all.rank_me());
    {
      const team other = all.split(0, -int64_t{all.rank_me()});
      (void)other.broadcast_async(data[all.rank_me()], 1);
      (void)other.allreduce_async(1, op_add{});
    }
    EXPECT_EQ(data[all.rank_me()][19999], 1);
    (void)all.broadcast_async(data[all.rank_me()], 2);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, AsyncCollectives, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class AsyncCollectivesDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(AsyncCollectivesDeathTest, DisagreementsAreNamed) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const team all = team::world(context);
                         if (context.rank_me() == 0) {
                           (void)all.allreduce_async(1, op_add{}).wait();
                         } else {
                           all.broadcast_async(1, 0).wait();
                         }
                       }),
              ::testing::ExitedWithCode(2),
              "rank 0 is in allreduce_async.*, rank 1 is in broadcast_async");
}

TEST_F(AsyncCollectivesDeathTest, DebugModeNamesBothPlaces) {
  EXPECT_EXIT(
      {
        auto options = bootstrap::group_on(fabrics_under_test()[1], 2);
        options.context.debug = true;
        (void)bootstrap::run_ranks(options, [](Context& context) {
          const team all = team::world(context);
          if (context.rank_me() == 0) {
            (void)all.allreduce_async(1, op_add{}).wait();
          } else {
            std::vector<int> out(1);
            all.scatter(std::vector<int>(2), out, 1);
            context.barrier();
          }
        });
      },
      ::testing::ExitedWithCode(2),
      "is in allreduce_async .*async_collectives_test.cc:[0-9]+, rank 1 is in scatter .*cc:[0-9]+");
}

}  // namespace
}  // namespace stripline
