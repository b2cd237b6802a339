// Quiescence: all messages, and all that they have caused, have been handled.
#include <cstdint>
#include <memory>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/rpc.h>
#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

// A message that still has `depth` to go causes two more, to ranks that follow from it.
struct Cascade {
  uint32_t depth;
  uint32_t seed;
};

void cascades_have_ended(Context& context) {
  const rank_t ranks = context.rank_n();
  uint64_t handled = 0;
  std::unique_ptr<short_am<Cascade>> message;
  message = std::make_unique<short_am<Cascade>>(context, [&](rank_t, const Cascade& one) {
    ++handled;
    if (one.depth == 0) return;
    for (uint32_t child = 0; child < 2; ++child) {
      const uint32_t seed = one.seed * 2654435761U + child + 1;
      message->send((seed >> 8) % ranks, {one.depth - 1, seed});
    }
  });
  context.barrier();
  uint64_t expected = 0;
  for (uint32_t depth = 0; depth < 7; ++depth) {
    // Only one rank begins, the others have nothing to say at first.
    if (context.rank_me() == depth % ranks) message->send(0, {depth, depth * 7});
    context.am_quiesce();
    expected += (uint64_t{2} << depth) - 1;
    EXPECT_EQ(team::world(context).allreduce(handled, op_add{}), expected);
  }
  context.am_quiesce();  // nothing is in flight
}

// What follows an answer sends on.
void waits_for_what_follows_futures(Context& context) {
  const auto counts = context.new_symmetric_array<uint64_t>(1);
  ASSERT_TRUE(counts.ok());
  const rank_t next = (context.rank_me() + 1) % context.rank_n();
  for (int i = 0; i < 10; ++i) {
    (void)rpc(context, next, [](Context& there) {
      return there.rank_me();
    }).then([&context, mine = *counts](rank_t from) {
      rpc_ff(
          context, (from + 1) % context.rank_n(),
          [](Context& there, global_ptr<uint64_t> place) {
            ++*there.local(there.on_rank(place, there.rank_me()));
          },
          mine);
    });
  }
  context.am_quiesce();
  EXPECT_EQ(*context.local(*counts), 10U);
  context.barrier();
}

class Quiescence : public bootstrap::RanksTest {};

TEST_P(Quiescence, OfAllMessages) {
  for (const rank_t ranks : {1U, 2U, 5U}) {
    on_ranks(ranks, 2, [](Context& context) {
      cascades_have_ended(context);
      waits_for_what_follows_futures(context);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Quiescence, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
