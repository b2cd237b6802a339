// Puts with a signal.
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/shortcuts.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class SignalledPut : public bootstrap::RanksTest {};

// A ring: each rank writes to the next one and waits only for the flag of the one before. Sizes
// below and above what one message holds, and none at all.
TEST_P(SignalledPut, WhoSeesTheFlagSeesTheData) {
  constexpr rank_t kRanks = 3;
  constexpr size_t kMost = 300000;
  on_ranks(kRanks, [](Context& context) {
    const auto data = context.new_symmetric_array<uint32_t>(kMost);
    const auto flag = context.new_symmetric_array<uint64_t>(2);
    ASSERT_TRUE(data.ok() && flag.ok());
    const rank_t next = (context.rank_me() + 1) % kRanks;
    const rank_t previous = (context.rank_me() + kRanks - 1) % kRanks;
    uint64_t round = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const size_t count : {size_t{0}, size_t{1}, size_t{1000}, size_t{5000}, kMost}) {
        ++round;
        const auto first = [&](rank_t writer) {
          return static_cast<uint32_t>(round * 1000000 + writer);
        };
        std::vector<uint32_t> out(count);
        std::iota(out.begin(), out.end(), first(context.rank_me()));
        const future done = context.rput_signal(out.data(), context.on_rank(*data, next), count,
                                                context.on_rank(*flag, next), round);
        EXPECT_EQ(context.wait_signal(*flag, round), round);
        const uint32_t* local = context.local(*data);
        for (size_t i = 0; i < count; ++i) ASSERT_EQ(local[i], first(previous) + i) << count;
        done.wait();
        context.barrier();
      }
    }
    EXPECT_EQ(context.local(*flag)[1], 0U);
    EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
  });
}

TEST_P(SignalledPut, ManyAtOnceAndToOneself) {
  constexpr size_t kPuts = 40;
  constexpr size_t kEach = 4000;
  on_ranks(2, [](Context& context) {
    const auto data = context.new_symmetric_array<uint64_t>(kPuts * kEach);
    const auto flags = context.new_symmetric_array<uint64_t>(kPuts);
    ASSERT_TRUE(data.ok() && flags.ok());
    const auto count_of = [](size_t i) { return i % 2 == 0 ? kEach : 8; };
    for (const rank_t target : {1 - context.rank_me(), context.rank_me()}) {
      const uint64_t value = target == context.rank_me() ? 2 : 1;
      std::vector<uint64_t> out(kPuts * kEach);
      std::iota(out.begin(), out.end(), value);
      for (size_t i = 0; i < kPuts; ++i) {
        const auto at = static_cast<std::ptrdiff_t>(i * kEach);
        // Dropped: complete at the barrier.
        context.rput_signal(out.data() + at, context.on_rank(*data, target) + at, count_of(i),
                            context.on_rank(*flags, target) + static_cast<std::ptrdiff_t>(i),
                            value);
      }
      for (size_t i = kPuts; i-- > 0;) {
        context.wait_signal(*flags + static_cast<std::ptrdiff_t>(i), value);
        const size_t last = i * kEach + count_of(i) - 1;
        ASSERT_EQ(context.local(*data)[last], last + value);
      }
      context.barrier();
    }
  });
}

// The target of small puts sends nothing until their writer wants to know.
TEST_P(SignalledPut, SmallOnesAreOneMessageEach) {
  const bootstrap::WithoutDebugMode conflicts;  // all go to one place, and are not waited for
  static constexpr uint64_t kPuts = 20;
  on_ranks(2, [](Context& context) {
    const auto data = context.new_symmetric_array<uint64_t>(2 * kPuts);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const fabric::Fabric& fabric = context.state().job.fabric();
    const uint64_t before = fabric.traffic().messages;
    if (context.rank_me() == 0) {
      const std::vector<uint64_t> values(2 * kPuts, 7);
      std::vector<future> puts;
      for (uint64_t i = 1; i <= kPuts; ++i) {
        puts.push_back(context.rput_signal(values.data(), context.on_rank(*data, 1), i,
                                           context.on_rank(*flag, 1), i));
      }
      const std::array<std::ptrdiff_t, 1> two = {2 * sizeof(uint64_t)};
      puts.push_back(rput_strided_signal(context, values.data(), two, context.on_rank(*data, 1),
                                         two, std::array{size_t{kPuts}}, context.on_rank(*flag, 1),
                                         kPuts + 1));
      wait_all(puts);
      EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    } else {
      EXPECT_EQ(context.wait_signal(*flag, kPuts + 1), kPuts + 1);
      // That it is asked has perhaps come with the last of them.
      EXPECT_LE(fabric.traffic().messages - before, 1U);
      EXPECT_EQ(context.local(*data)[2 * kPuts - 2], 7U);
    }
    context.barrier();
  });
}

// Parts of a host that count as nodes reach each other through the network alone.
TEST(SameNode, RanksOfAnotherPartAreOfAnotherNode) {
  const auto group = bootstrap::group_on({"parts", "tcp", "real", "mapped:2"}, 4);
  bootstrap::on_ranks(group, [](Context& context) {
    detail::ContextState& state = context.state();
    const fabric::Shortcuts* const shortcuts = state.job.fabric().shortcuts();
    ASSERT_NE(shortcuts, nullptr);
    for (rank_t peer = 0; peer < 4; ++peer) {
      const bool mate = peer != context.rank_me() && peer / 2 == context.rank_me() / 2;
      EXPECT_EQ(shortcuts->shares_node(peer), mate) << peer;
      EXPECT_EQ(shortcuts->reads_memory_of(peer), mate) << peer;
      if (peer == context.rank_me() || !shortcuts->notifies()) continue;
      EXPECT_EQ(state.operations.bulk().notifies(peer), !mate) << peer;
    }
    context.barrier();
  });
}

// More than a message holds: where puts tell their target that they have landed, one does, and the
// flag does not wait until the initiator knows.
TEST_P(SignalledPut, LargerOnesLandWithTheirFlag) {
  constexpr size_t kWords = 4000;
  on_ranks(2, [](Context& context) {
    if (!context.state().operations.bulk().notifies() || GetParam().same_node == "mapped") return;
    ASSERT_GE(context.state().operations.one_way_signalled_bytes(), kWords * sizeof(uint64_t));
    const auto data = context.new_symmetric_array<uint64_t>(kWords);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const fabric::Fabric& fabric = context.state().job.fabric();
    const fabric::Traffic before = fabric.traffic();
    if (context.rank_me() == 0) {
      std::vector<uint64_t> values(kWords, 7);
      const future put = context.rput_signal(values.data(), context.on_rank(*data, 1), kWords,
                                             context.on_rank(*flag, 1), 1);
      EXPECT_EQ(fabric.traffic().puts - before.puts, 1U);
      EXPECT_EQ(fabric.traffic().messages, before.messages);
      put.wait_source();
      values.assign(kWords, 8);  // it has been copied
      put.wait();
      EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    } else {
      EXPECT_EQ(context.wait_signal(*flag, 1), 1U);
      EXPECT_EQ(context.local(*data)[0], 7U);
      EXPECT_EQ(context.local(*data)[kWords - 1], 7U);
      EXPECT_EQ(fabric.traffic().puts, before.puts);
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, SignalledPut, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class SignalDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(SignalDeathTest, FlagsAreChecked) {
  const auto put = [](global_ptr<uint64_t> flag) {
    on_ranks(2, [flag](Context& context) {
      const double value = 1;
      context.rput_signal(&value, global_ptr<double>(1, 0), 1, flag, 1).wait();
    });
  };
  EXPECT_EXIT(put(global_ptr<uint64_t>(0, 0)), ::testing::ExitedWithCode(2),
              "a flag that is not on that rank");
  EXPECT_EXIT(put(global_ptr<uint64_t>(1, 12)), ::testing::ExitedWithCode(2),
              "flag of rput_signal of 8 bytes at offset 12 of rank 1, which is not a multiple");
  EXPECT_EXIT(put(global_ptr<uint64_t>(1, 8U << 20)), ::testing::ExitedWithCode(2),
              "flag of rput_signal of 8 bytes .* is out of bounds");
}

TEST_F(SignalDeathTest, ARankWaitsOnItsOwnFlags) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         context.wait_signal(global_ptr<uint64_t>(1 - context.rank_me(), 0), 1);
                       }),
              ::testing::ExitedWithCode(2), "wait_signal on a flag of another rank");
}

}  // namespace
}  // namespace stripline
