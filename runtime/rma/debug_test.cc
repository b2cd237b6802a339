// Debug mode: what is correct goes on as without it, what is wrong ends the job with a message.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/lock.h>
#include <stripline/loop.h>
#include <stripline/shared_array.h>
#include <stripline/strict.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"
#include "runtime/rma/debug_checks.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::FabricUnderTest;
using bootstrap::group_on;
using bootstrap::run_ranks;

Status run(const FabricUnderTest& fabric, rank_t ranks, const std::function<void(Context&)>& body) {
  auto options = group_on(fabric, ranks);
  options.context.debug = true;
  return run_ranks(options, body);
}

class Debug : public ::testing::TestWithParam<FabricUnderTest> {
 protected:
  void on_ranks(rank_t ranks, const std::function<void(Context&)>& body) {
    ASSERT_OK(run(GetParam(), ranks, body));
  }
};

// Everything at once, correctly.
TEST_P(Debug, ACorrectProgramIsLeftAlone) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kCount = 300;
    const rank_t me = context.rank_me();
    const rank_t next = (me + 1) % 3;
    const rank_t previous = (me + 2) % 3;
    const auto array = context.new_symmetric_array<uint64_t>(kCount);
    const auto gone = context.new_symmetric_array<uint64_t>(5);
    ASSERT_TRUE(array.ok() && gone.ok());
    context.delete_symmetric_array(*gone);
    ASSERT_OK_AND_ASSIGN(const auto again, context.new_symmetric_array<uint64_t>(7));
    const auto there = context.on_rank(*array, next);

    std::vector<uint64_t> out(kCount);
    for (size_t i = 0; i < kCount; ++i) out[i] = uint64_t{1000} * me + i;
    context.rput(out.data(), there, 100).wait();
    const future second = context.rput(out.data() + 100, there + 100, 50);
    for (size_t i = 150; i < 200; ++i) {
      context.rput_nbi(&out[i], there + static_cast<std::ptrdiff_t>(i), 1);
    }
    second.wait();
    context.fence(next);
    context.rput_buffered(out.data() + 200, there + 200, 100);
    out[200] = 0;  // its copy is in flight
    context.barrier();
    out[200] = uint64_t{1000} * me + 200;
    const uint64_t* mine = context.local(*array);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(mine[i], uint64_t{1000} * previous + i) << i;

    std::vector<uint64_t> in(kCount, 1);
    const future whole = context.rget(there, in.data(), kCount);
    std::vector<uint64_t> other(10);
    context.rget_nbi(there + 10, other.data(), 10);  // two gets of the same
    context.fence();
    EXPECT_EQ(other[3], out[13]);
    while (!whole.is_ready()) {
    }
    EXPECT_EQ(in, out);
    EXPECT_EQ(context.rget(there + 5), out[5]);
    context.barrier();

    const atomic_domain<uint64_t> domain(context);
    const auto counter = context.on_rank(again, 0);
    std::fill_n(context.local(again), 7, 0);  // it was another array's
    context.barrier();
    for (int i = 0; i < 10; ++i) domain.add(counter, 1);
    context.barrier();
    EXPECT_EQ(domain.load(counter), 30U);
    context.barrier();

    constexpr uint64_t kRaised = 3;
    context.rput_signal(out.data(), context.on_rank(again, next) + 2, 2,
                        context.on_rank(again, next) + 1, kRaised);
    context.wait_signal(again + 1, kRaised);
    EXPECT_EQ(context.local(again)[3], 1000 * previous + 1);
    context.barrier();

    // Every second one of 20, by a put and by a get.
    const std::array<std::ptrdiff_t, 1> apart = {2 * sizeof(uint64_t)};
    const std::array<std::ptrdiff_t, 1> close = {sizeof(uint64_t)};
    const std::array<size_t, 1> ten = {10};
    rput_strided<1>(context, out.data(), close, there, apart, ten).wait();
    rget_strided<1>(context, there, apart, in.data(), close, ten).wait();
    EXPECT_EQ(in[9], out[9]);
    context.barrier();
    rput_strided_signal<1>(context, out.data(), close, context.on_rank(again, next) + 2, apart, {3},
                           context.on_rank(again, next) + 1, kRaised + 1);
    context.wait_signal(again + 1, kRaised + 1);
    EXPECT_EQ(context.local(again)[4], 1000 * previous + 1);
    context.barrier();
    const future packed = rput_strided<1>(context, out.data(), close, there, apart, ten,
                                          {.method = VisMethod::packed});
    packed.wait_source();
    std::swap(out[0], out[1]);
    context.rget(there + 100, &out[2], 1).wait();  // into what was read
    packed.wait();
    std::swap(out[0], out[1]);
    out[2] = uint64_t{1000} * me + 2;
    context.barrier();
    EXPECT_EQ(context.local(*array)[4], uint64_t{1000} * previous + 2);
    context.barrier();
    uint64_t sum = 0;
    strip_for(context, there, kCount, {}, [&](size_t begin, size_t end, const uint64_t* strip) {
      for (size_t i = 0; i < end - begin; ++i) sum += strip[i];
    });
    EXPECT_NE(sum, 0U);

    ASSERT_OK_AND_ASSIGN(auto lock, global_lock::create(context));
    for (int i = 0; i < 3; ++i) {
      const std::lock_guard hold(lock);
      context.rput(context.rget(counter) + 1, counter);
    }
    context.barrier();
    EXPECT_EQ(strict_read(context, counter), 39U);
    ASSERT_OK_AND_ASSIGN(auto elements, shared_array<uint32_t>::create(context, 100));
    for (uint32_t i = me; i < 100; i += 3) elements.write((i + 1) % 100, i);
    context.barrier();
    EXPECT_EQ(elements.read(50), 49U);
    elements.destroy();

    const team all = team::world(context);
    const team pair = all.split(me == 1 ? team::no_colour : 0, 0);
    if (pair) {
      EXPECT_EQ(pair.allreduce(me, op_add{}), 2U);
    }
    const future barrier = context.barrier_async();
    EXPECT_EQ(all.inclusive_scan(1, op_add{}), static_cast<int>(me) + 1);
    barrier.wait();
    uint32_t answers = 0;
    const short_am<uint32_t> tell(context, [&](rank_t, const uint32_t&) { ++answers; });
    tell.send(next, me);
    EXPECT_TRUE(context.wait_until([&] { return answers == 1; }, 10));
    context.barrier();
    EXPECT_TRUE(context.state().job.observers().debug()->accesses().empty());
    EXPECT_EQ(context.state().job.observers().debug()->collectives().different_places(), 0U);
  });
}

// More operations without a wait than there are slots for futures.
TEST_P(Debug, DroppedFuturesAreSettledByTheBarrier) {
  std::array<uint64_t, 2> got{};
  on_ranks(2, [&got](Context& context) {
    constexpr size_t kPuts = rma::CompletionSlots::kDefaultCapacity + 500;
    ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint64_t>(kPuts));
    const auto there = context.on_rank(array, 1 - context.rank_me());
    std::vector<uint64_t> values(kPuts);
    for (size_t i = 0; i < kPuts; ++i) {
      values[i] = i;
      context.rput(&values[i], there + static_cast<std::ptrdiff_t>(i), 1);
    }
    context.barrier();
    EXPECT_TRUE(context.state().job.observers().debug()->accesses().empty());
    EXPECT_EQ(context.local(array)[kPuts - 1], kPuts - 1);
    context.rget(there + 9, &got[context.rank_me()], 1);  // complete at the end
  });
  EXPECT_EQ(got[0], 9U);
  EXPECT_EQ(got[1], 9U);
}

// A get delivers when the program may look, even where the data are copied at once.
TEST_P(Debug, AGetDeliversWhenItIsWaitedFor) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint32_t>(4));
    context.local(array)[1] = 77;
    context.barrier();
    uint32_t value = 1;
    const auto there = context.on_rank(array, 1 - context.rank_me()) + 1;
    const future got = context.rget(there, &value, 1);
    EXPECT_EQ(value, 0xdbdbdbdbU);
    got.wait();
    EXPECT_EQ(value, 77U);
    value = 1;
    context.rget_nbi(there, &value, 1);
    EXPECT_EQ(value, 0xdbdbdbdbU);
    context.fence();
    EXPECT_EQ(value, 77U);
    context.barrier();
  });
}

TEST_P(Debug, FreedMemoryIsFilled) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto array, context.new_symmetric_array<uint32_t>(4));
    const uint32_t* mine = context.local(array);
    context.delete_symmetric_array(array);
    EXPECT_EQ(mine[0], 0xdbdbdbdbU);
    EXPECT_EQ(mine[3], 0xdbdbdbdbU);
    EXPECT_EQ(mine[4], 0U);
    context.barrier();
  });
}

// Branches that make the same call are correct; the ranks say so once.
TEST_P(Debug, DifferentPlacesAreWarnedOf) {
  ::testing::internal::CaptureStderr();
  std::mutex mutex;
  uint64_t places = 0;
  on_ranks(2, [&](Context& context) {
    const team all = team::world(context);
    for (int i = 0; i < 3; ++i) {
      const int sum = context.rank_me() == 0 ? all.allreduce(1, op_add{})   //
                                             : all.allreduce(2, op_add{});  // another line
      EXPECT_EQ(sum, 3);
    }
    context.barrier();
    const std::scoped_lock lock(mutex);
    places += context.state().job.observers().debug()->collectives().different_places();
  });
  const std::string warned = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(places, 6U);
  EXPECT_NE(warned.find("different places in collective operation"), std::string::npos) << warned;
  EXPECT_NE(warned.find("rank 0 is in allreduce of 4 bytes"), std::string::npos) << warned;
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Debug, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

// --- what is wrong: the process ends with exit code 2

[[noreturn]] void run_wrong(const FabricUnderTest& fabric, rank_t ranks,
                            const std::function<void(Context&)>& body) {
  const Status ran = run(fabric, ranks, body);
  if (!ran.ok()) std::fprintf(stderr, "%s\n", ran.error().message().c_str());
  std::_Exit(0);
}

// Mistakes with memory, which either the fabric reaches, or loads and stores: one fabric each.
class DebugDeathTest : public ::testing::TestWithParam<FabricUnderTest> {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void wrong(const std::function<void(Context&)>& body) { run_wrong(GetParam(), 2, body); }

  // Rank 0 does it with the part of rank 1 of an array of 100 integers at offset 0 or 64.
  static void wrong_access(const std::function<void(Context&, global_ptr<uint64_t>)>& body) {
    wrong([&body](Context& context) {
      const auto array = context.new_symmetric_array<uint64_t>(100);
      context.barrier();
      if (context.rank_me() == 0) body(context, context.on_rank(*array, 1));
      context.barrier();
    });
  }
};

#define EXPECT_MISTAKE(statement, message) \
  EXPECT_EXIT(statement, ::testing::ExitedWithCode(2), message)

TEST_P(DebugDeathTest, FreedMemory) {
  const auto freed = [](const std::function<void(Context&, global_ptr<uint64_t>)>& body) {
    wrong([&body](Context& context) {
      const auto array = context.new_symmetric_array<uint64_t>(100);
      context.delete_symmetric_array(*array);
      if (context.rank_me() == 0) body(context, context.on_rank(*array, 1));
      context.barrier();
    });
  };
  EXPECT_MISTAKE(
      freed([](Context& context, global_ptr<uint64_t> there) { context.rget(there + 2); }),
      "rget of 8 bytes at offset 16 of rank 1 lies in memory that was freed: in an array "
      "of 800 bytes at offset 0 that was allocated at .*debug_test.cc:[0-9]+, and given "
      "back at .*debug_test.cc:[0-9]+");
  EXPECT_MISTAKE(freed([](Context& context, global_ptr<uint64_t> there) {
                   const uint64_t value = 0;
                   context.rput_nbi(&value, there, 1);
                 }),
                 "rput_nbi of 8 bytes at offset 0 of rank 1 lies in memory that was freed");
  EXPECT_MISTAKE(freed([](Context& context, global_ptr<uint64_t> there) {
                   atomic_domain<uint64_t>(context).fetch_add(there, 1);
                 }),
                 "atomic operation of 8 bytes at offset 0 of rank 1 lies in memory that was freed");
  EXPECT_MISTAKE(freed([](Context& context, global_ptr<uint64_t> there) {
                   std::array<uint64_t, 4> in{};
                   rget_strided<1>(context, there, {32}, in.data(), {8}, {4}).wait();
                 }),
                 "rget_strided of 8 bytes at offset 0 of rank 1 lies in memory that was freed");
}

TEST_P(DebugDeathTest, BeyondTheEndOfAnArray) {
  EXPECT_MISTAKE(
      wrong_access([](Context& context, global_ptr<uint64_t> there) {
        const std::vector<uint64_t> values(101);
        context.rput(values.data(), there, 101).wait();
      }),
      "rput of 808 bytes at offset 0 of rank 1 begins in the array of 800 bytes at offset "
      "0 that was allocated at .*, and runs 8 bytes beyond its end");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   context.rput(uint64_t{1}, there + 100);
                 }),
                 "rput of 8 bytes at offset 800 of rank 1 lies in no symmetric array: it begins 0 "
                 "bytes behind the array of 800 bytes at offset 0");
}

TEST_P(DebugDeathTest, ConflictsOfOneRank) {
  EXPECT_MISTAKE(
      wrong_access([](Context& context, global_ptr<uint64_t> there) {
        const uint64_t values[2] = {};
        context.rput(values, there + 4, 2);
        context.rput(values, there + 5, 1);
      }),
      "rput of 8 bytes at offset 40 of rank 1 conflicts with an earlier rput of 16 bytes "
      "at offset 32 of rank 1 \\(.*debug_test.cc:[0-9]+\\), which this rank does not know to be "
      "complete");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   const uint64_t value = 0;
                   context.rput_nbi(&value, there, 1);
                   context.rget(there);
                 }),
                 "rget of 8 bytes at offset 0 of rank 1 conflicts with an earlier rput_nbi");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   uint64_t values[4] = {};
                   rget_strided<1>(context, there, {16}, values, {8}, {4});
                   context.rput(uint64_t{1}, there + 1);  // between the regions
                   context.rput(uint64_t{1}, there + 2);
                 }),
                 "rput of 8 bytes at offset 16 of rank 1 conflicts with an earlier rget_strided");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   const uint64_t values[4] = {};
                   rput_strided_signal<1>(context, values, {8}, there, {16}, {4}, there + 7, 1);
                   context.rput(uint64_t{1}, there + 1);  // between the regions
                   context.rput(uint64_t{1}, there + 7);
                 }),
                 "rput of 8 bytes at offset 56 of rank 1 conflicts with an earlier flag of "
                 "rput_strided_signal of 8 bytes");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   const uint64_t values[4] = {};
                   const std::vector<global_ptr<uint64_t>> places = {there, there + 3};
                   const std::vector<const uint64_t*> memory = {values + 2, values};
                   rput_regular_signal(context, memory.begin(), memory.end(), 1, places.begin(),
                                       places.end(), 1, there + 7, 1);
                   context.rget(there + 3);
                 }),
                 "rget of 8 bytes at offset 24 of rank 1 conflicts with an earlier "
                 "rput_regular_signal");
  EXPECT_MISTAKE(
      wrong_access([](Context& context, global_ptr<uint64_t> there) {
        const atomic_domain<uint64_t> domain(context);
        domain.add(there, 1);
        domain.add(there, 1);
        context.rget(there);
      }),
      "rget of 8 bytes at offset 0 of rank 1 conflicts with an earlier atomic operation");
}

TEST_P(DebugDeathTest, PrivateMemory) {
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   uint64_t value = 1;
                   const future put = context.rput(&value, there, 1);
                   value = 2;
                   put.wait();
                 }),
                 "the source of an rput of 8 bytes at offset 0 of rank 1 .*was changed before");
  EXPECT_MISTAKE(
      wrong_access([](Context& context, global_ptr<uint64_t> there) {
        std::vector<uint64_t> values(8);
        for (size_t i = 0; i < 8; ++i) {
          context.rput_nbi(&values[i], there + static_cast<std::ptrdiff_t>(i), 1);
        }
        values[3] = 2;
        context.fence(1);
      }),
      "the source of an rput_nbi of 64 bytes at offset 0 of rank 1 .*was changed before");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   std::vector<uint64_t> values(8);
                   const future put = rput_strided<1>(context, values.data(), {16}, there, {8}, {4},
                                                      {.method = VisMethod::packed});
                   values[2] = 2;
                   put.wait_source();
                 }),
                 "the source of an rput_strided .*was changed before");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   uint64_t value = 1;
                   context.rget_nbi(there, &value, 1);
                   value = 2;
                   context.fence();
                 }),
                 "the destination of an rget_nbi of 8 bytes .*was changed before");
  EXPECT_MISTAKE(wrong_access([](Context& context, global_ptr<uint64_t> there) {
                   uint64_t value = 1;
                   const future got = context.rget(there, &value, 1);
                   context.rput(&value, there + 1, 1);
                   got.wait();
                 }),
                 "rput with a private buffer of 8 bytes that overlaps the one of an earlier rget");
}

INSTANTIATE_TEST_SUITE_P(Fabrics, DebugDeathTest,
                         ::testing::Values(fabrics_under_test()[1], fabrics_under_test()[3]),
                         bootstrap::FabricLabel());

// Mistakes with messages, which are the same on all fabrics.
class DebugMessagesDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void wrong(const std::function<void(Context&)>& body, rank_t ranks = 2) {
    run_wrong(fabrics_under_test()[1], ranks, body);
  }
};

TEST_F(DebugMessagesDeathTest, CollectivesThatDoNotMatch) {
  EXPECT_MISTAKE(wrong([](Context& context) {
                   const team all = team::world(context);
                   if (context.rank_me() == 1) {
                     context.barrier();
                   } else {
                     all.allreduce(1.0, op_add{});
                   }
                   context.barrier();
                 }),
                 "the ranks disagree on collective operation [0-9]+: rank 0 is in allreduce of 8 "
                 "bytes, T = double.*op_add at .*debug_test.cc:[0-9]+, rank 1 is in barrier at "
                 ".*debug_test.cc:[0-9]+; every rank must make the same");
  EXPECT_MISTAKE(
      wrong([](Context& context) {
        // Each waits for the other: nothing else would tell them.
        context.broadcast(1, 1 - context.rank_me());
      }),
      "rank 0 is in broadcast of 4 bytes, root 1 at .*, rank 1 is in broadcast of 4 bytes, "
      "root 0 at ");
  EXPECT_MISTAKE(
      wrong([](Context& context) {
        const team all = team::world(context);
        if (context.rank_me() == 0) all.allreduce(1.0, op_add{});
        if (context.rank_me() == 1) all.allreduce(int64_t{1}, op_add{});
      }),
      "rank 0 is in allreduce of 8 bytes, T = double.*, rank 1 is in allreduce of 8 bytes, "
      "T = long");
  EXPECT_MISTAKE(wrong([](Context& context) {
                   [[maybe_unused]] const auto array =
                       context.new_symmetric_array<char>(context.rank_me() + 1);
                 }),
                 "rank 0 is in new_symmetric_array of 8 bytes, root 0, 1 bytes of each rank at .*, "
                 "rank 1 is in new_symmetric_array of 8 bytes, root 0, 2 bytes of each rank at ");
  EXPECT_MISTAKE(
      wrong(
          [](Context& context) {
            const team all = team::world(context);
            const team some = all.split(context.rank_me() == 0 ? 1 : 0, 0);
            if (context.rank_me() == 1) some.barrier();
            if (context.rank_me() == 3) some.allreduce(1, op_add{});
            if (context.rank_me() == 2) some.allreduce(1, op_add{});
          },
          4),
      "of team [0-9]+: rank 1 is in barrier at .*, rank [23] is in allreduce of 4 bytes");
  EXPECT_MISTAKE(
      wrong(
          [](Context& context) {
            const team all = team::world(context);
            const team first = all.split(0, 0);
            const team second = all.split(0, 0);
            const bool reversed = context.rank_me() == 1;
            (reversed ? second : first).barrier();
            (reversed ? first : second).barrier();
          },
          3),
      "the ranks disagree on the order of collective operations of two teams: rank [0-2] is in "
      "barrier at .*debug_test.cc:[0-9]+ .operation [0-9]+ of team [0-9]+., rank [0-2] is in "
      "barrier at "
      ".*debug_test.cc:[0-9]+ .operation [0-9]+ of team [0-9]+., and neither has come");
  // One has left.
  EXPECT_MISTAKE(wrong([](Context& context) {
                   if (context.rank_me() == 0) context.barrier();
                 }),
                 "rank 0 is in barrier at .*, rank 1 is in the end of its Context");
}

TEST_F(DebugMessagesDeathTest, MalformedMessagesOfTheCheck) {
  const auto sends = [](std::vector<std::byte> message) {
    wrong([&message](Context& context) {
      if (context.rank_me() == 0) {
        am::ActiveMessages& messages = context.state().operations.messages();
        messages.send(1, messages.id("collective check"), message, {});
      }
      context.barrier();
    });
  };
  // Lengths of the texts are at 30 to 32, the team at 16.
  const auto malformed = [](size_t bytes, size_t at, int value) {
    std::vector<std::byte> message(bytes);
    if (at < bytes) message[at] = static_cast<std::byte>(value);
    return message;
  };
  for (const auto& message :
       {malformed(0, 0, 0), malformed(39, 0, 0), malformed(40, 30, 200), malformed(41, 30, 0),
        malformed(100, 31, 61), malformed(100, 32, 255), malformed(40, 16, 7)}) {
    EXPECT_EXIT(sends(message), ::testing::ExitedWithCode(3), "malformed") << message.size();
  }
}

}  // namespace
}  // namespace stripline
