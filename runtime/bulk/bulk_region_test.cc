#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/injection.h>
#include <stripline/rpc.h>
#include <stripline/strict.h>
#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bulk/engine.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using Words = std::vector<uint64_t>;

Words counted(size_t count, uint64_t first) {
  Words words(count);
  std::iota(words.begin(), words.end(), first);
  return words;
}

const bulk::Statistics& statistics(Context& context) {
  return bulk::BulkEngine::of(context).statistics();
}

class BulkRegion : public bootstrap::RanksTest {
 protected:
  using RanksTest::on_ranks;
  // All visits of a phase go by one method: none is compared with the program as it is written.
  static void on_ranks(rank_t ranks, const std::function<void(Context&)>& body) {
    bootstrap::ThreadGroupOptions options = group_on(GetParam(), ranks);
    options.context.guard = false;
    on_ranks(options, body);
  }
  // False where all memory is mapped, and in debug mode: calls are complete when they return.
  static bool defers(Context& context) {
    return !context.is_local((context.rank_me() + 1) % context.rank_n()) &&
           context.state().job.observers().debug() == nullptr;
  }
};

TEST_P(BulkRegion, PutsAreCompleteAtTheBarrierAndTheirSourcesFree) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kCount = 1000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount));
    const auto there = context.on_rank(mine, (context.rank_me() + 1) % 3);
    const rank_t previous = (context.rank_me() + 2) % 3;
    bulk_region region(context);
    for (uint64_t turn = 0; turn < 5; ++turn) {
      context.barrier();
      Words source = counted(kCount, 1000 * context.rank_me() + turn);
      for (size_t i = 0; i < kCount; i += 100) memput(context, there + i, source.data() + i, 100);
      source.assign(kCount, 99);
      context.barrier();
      const uint64_t* const here = context.local(mine);
      EXPECT_EQ(Words(here, here + kCount), counted(kCount, 1000 * previous + turn));
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).deferred_puts, 50U);
      EXPECT_EQ(statistics(context).copied_puts, 50U);
      EXPECT_EQ(statistics(context).conflicts, 0U);
    }
  });
}

TEST_P(BulkRegion, OutsideOfARegionCallsAreCompleteWhenTheyReturn) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const Words source = counted(8, context.rank_me());
    memput(context, there, source.data(), 8);
    Words back(8);
    memget(context, back.data(), there, 8);
    EXPECT_EQ(back, source);
    EXPECT_EQ(statistics(context).deferred_puts, 0U);
    context.barrier();
  });
}

TEST_P(BulkRegion, TheEndOfARegionCompletesItsPuts) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const Words source = counted(8, 7);
    {
      const bulk_region outer(context);
      {
        const bulk_region inner(context, {.stable_sources = true});
        memput(context, there, source.data(), 8);
      }
      EXPECT_EQ(bulk::BulkEngine::of(context).has_puts(), defers(context))
          << "the outer one goes on";
      EXPECT_EQ(statistics(context).copied_puts, 0U);
    }
    EXPECT_FALSE(bulk::BulkEngine::of(context).has_puts());
    context.barrier();
  });
}

// Whatever reads what a put stores gets it, and in their order puts to one place take effect.
TEST_P(BulkRegion, ARankReadsWhatItHasStored) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(100));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const bulk_region region(context);
    for (uint64_t turn = 1; turn <= 20; ++turn) {
      const Words first = counted(100, turn);
      const Words second = counted(50, 1000 * turn);
      memput(context, there, first.data(), 100);
      memput(context, there + 25, second.data(), 50);
      Words expected = first;
      std::copy(second.begin(), second.end(), expected.begin() + 25);
      Words back(100);
      switch (turn % 4) {
        case 0:
          memget(context, back.data(), there, 100);
          break;
        case 1:
          context.rget(there, back.data(), 100).wait();
          break;
        case 2:
          context.rget_nbi(there, back.data(), 100);
          context.fence();
          break;
        default: {
          back = expected;
          constexpr std::ptrdiff_t kEveryOther = 16;
          constexpr size_t kHalf = 50;
          rget_strided<1>(context, there, &kEveryOther, back.data(), &kEveryOther, &kHalf).wait();
        }
      }
      EXPECT_EQ(back, expected) << "turn " << turn;
    }
    if (defers(context)) {
      EXPECT_GT(statistics(context).conflicts, 0U);
    }
    context.barrier();
  });
}

// What a visit of a phase has fetched is fetched ahead in the next one, and is what the memory
// holds after the barrier.
TEST_P(BulkRegion, GetsAreMadeAhead) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kCount = 600;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount));
    const rank_t next = (context.rank_me() + 1) % 3;
    const bulk_region region(context);
    constexpr uint64_t kTurns = 6;
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      const Words values = counted(kCount, 10000 * context.rank_me() + turn);
      std::copy(values.begin(), values.end(), context.local(mine));
      context.barrier();
      Words fetched(kCount);
      for (size_t i = 0; i < kCount; i += 200) {
        memget(context, fetched.data() + i, context.on_rank(mine, next) + i, 200);
      }
      EXPECT_EQ(fetched, counted(kCount, 10000 * next + turn));
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).made_ahead, 3 * (kTurns - 1));
      EXPECT_EQ(statistics(context).served, 3 * (kTurns - 1));
    }
  });
}

// More than are in flight at a time, than fit into the memory, and in another order.
TEST_P(BulkRegion, ManyGetsAreMadeAheadInAWindow) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 300;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount * 16));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const bulk_region region(context, {.buffer_bytes = size_t{16} << 10});
    for (uint64_t turn = 0; turn < 4; ++turn) {
      const Words values = counted(kCount * 16, turn);
      std::copy(values.begin(), values.end(), context.local(mine));
      context.barrier();
      for (size_t i = 0; i < kCount; ++i) {
        const size_t at = 16 * (turn == 2 ? i ^ 1 : i);
        Words fetched(16);
        memget(context, fetched.data(), there + static_cast<std::ptrdiff_t>(at), 16);
        ASSERT_EQ(fetched, counted(16, turn + at));
      }
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_GT(statistics(context).served, 0U);
    }
  });
}

// The same ones in each visit, in another order: none is fetched ahead in vain.
TEST_P(BulkRegion, GetsInADrawnOrderAreMadeAhead) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 300;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount * 16));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const bulk_region region(context);
    std::vector<size_t> order(kCount);
    std::iota(order.begin(), order.end(), size_t{0});
    std::mt19937_64 random(7);
    for (uint64_t turn = 0; turn < 4; ++turn) {
      const Words values = counted(kCount * 16, turn);
      std::copy(values.begin(), values.end(), context.local(mine));
      std::shuffle(order.begin(), order.end(), random);
      context.barrier();
      for (const size_t i : order) {
        Words fetched(16);
        memget(context, fetched.data(), there + static_cast<std::ptrdiff_t>(16 * i), 16);
        ASSERT_EQ(fetched, counted(16, turn + 16 * i));
      }
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).served, statistics(context).made_ahead);
      EXPECT_GT(statistics(context).served, kCount);
    }
  });
}

// By any kind of store of its own. What a turn has stored into, the next one does not fetch ahead:
// every other turn stores nothing.
TEST_P(BulkRegion, WhatARankStoresIntoIsNotServedFromBefore) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(64));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const atomic_domain<uint64_t> atomics(context);
    const bulk_region region(context);
    Words values(8);
    for (uint64_t turn = 0; turn < 20; ++turn) {
      context.barrier();
      if (turn % 2 == 1) {
        values = counted(8, 100 * turn);
        switch (turn / 2 % 5) {
          case 0:
            memput(context, there, values.data(), 8);
            break;
          case 1:
            context.rput(values.data(), there, 8).wait();
            break;
          case 2:
            context.rput_nbi(values.data(), there, 8);
            context.fence();
            break;
          case 3:
            context.rput_buffered(values.data(), there, 8).wait();
            break;
          default:
            context.rput_signal(values.data(), there, 8, there + 63, turn).wait();
        }
        atomics.add(there + 32, uint64_t{1}).wait();
      }
      Words fetched(8);
      memget(context, fetched.data(), there, 8);
      ASSERT_EQ(fetched, values) << "turn " << turn;
      uint64_t added = 0;
      memget(context, &added, there + 32, 1);
      ASSERT_EQ(added, (turn + 1) / 2);
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).made_ahead, 20U);
      EXPECT_EQ(statistics(context).served, 0U);
    }
  });
}

// A rank that has learnt of a change sees it, though what was there before has been fetched ahead:
// every other turn fetches without an acquire, so that the turn after it fetches ahead.
TEST_P(BulkRegion, NothingIsServedFromBeforeAnAcquire) {
  on_ranks(2, [](Context& context) {
    const auto data = context.new_symmetric_array<uint64_t>(8);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const bulk_region region(context);
    for (uint64_t turn = 1; turn < 10; ++turn) {
      context.barrier();
      if (turn % 2 == 0) {
        Words fetched(8);
        memget(context, fetched.data(), context.on_rank(*data, 0), 8);
        ASSERT_EQ(fetched, counted(8, turn - 1)) << "turn " << turn;
      } else if (context.rank_me() == 0) {
        context.compute_for(1e-4);
        const Words values = counted(8, turn);
        std::copy(values.begin(), values.end(), context.local(*data));
        context
            .rput_signal(values.data(), context.on_rank(*data, 1), 8, context.on_rank(*flag, 1),
                         turn)
            .wait();
      } else {
        context.wait_signal(*flag, turn);
        Words fetched(8);
        memget(context, fetched.data(), context.on_rank(*data, 0), 8);
        ASSERT_EQ(fetched, counted(8, turn)) << "turn " << turn;
      }
      context.barrier();
    }
    if (defers(context) && context.rank_me() == 1) {
      EXPECT_EQ(statistics(context).made_ahead, 4U);
      EXPECT_EQ(statistics(context).served, 0U);
    }
  });
}

// Others may learn from messages, flags and atomic operations that puts are there.
TEST_P(BulkRegion, PutsAreCompleteBeforeOthersLearnOfThem) {
  on_ranks(2, [](Context& context) {
    constexpr uint64_t kLast = 255;
    const auto data = context.new_symmetric_array<uint64_t>(kLast + 1);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    bool heard = false;
    const short_am<uint64_t> tell(context, [&](rank_t, const uint64_t&) { heard = true; });
    const atomic_domain<uint64_t> atomics(context);
    const bulk_region region(context);
    const auto there = context.on_rank(*flag, 1);
    for (uint64_t turn = 1; turn <= 24; ++turn) {
      if (context.rank_me() == 0) {
        const Words values = counted(kLast + 1, turn);
        memput(context, context.on_rank(*data, 1), values.data(), values.size());
        switch (turn % 6) {
          case 0:
            tell.send(1, turn);
            break;
          case 1:
            context.rput(turn, there);
            break;
          case 2:
            atomics.add(there, turn).wait();
            break;
          case 3:
            strict_write(context, turn, there);
            break;
          case 4:
            context.rput_signal<uint64_t>(nullptr, context.on_rank(*data, 1), 0, there, turn)
                .wait();
            break;
          default:
            rpc_ff(
                context, 1, [](Context& target, global_ptr<uint64_t> at) { *target.local(at) = 1; },
                there);
        }
        EXPECT_FALSE(bulk::BulkEngine::of(context).has_puts()) << "turn " << turn;
      } else {
        std::atomic_ref<uint64_t> here(*context.local(*flag));
        context.wait_until([&] { return heard || here.load() != 0; });
        EXPECT_EQ(context.local(*data)[kLast], turn + kLast) << "turn " << turn;
        heard = false;
        here.store(0);
      }
      context.barrier();
    }
  });
}

// Threads that inject by queues of their own complete nothing of a region: a fence of the Context
// does, before they begin.
TEST_P(BulkRegion, ThreadsThatInjectSeePutsBehindAFence) {
  if (GetParam().clock == "virtual") return;  // on which a rank is one thread
  bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
  options.context.guard = false;
  options.context.threads = thread_mode::injecting;
  on_ranks(options, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(64));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    ASSERT_OK_AND_ASSIGN(auto injection, injection_context::open(context));
    const auto read_by_thread = [&] {
      Words read(64);
      std::thread([&] {
        injection.rget(there, read.data(), 64);
        injection.fence();
      }).join();
      return read;
    };
    const bulk_region region(context);
    for (uint64_t turn = 1; turn <= 5; ++turn) {
      context.barrier();
      const Words values = counted(64, turn);
      memput(context, there, values.data(), 64);
      read_by_thread();  // what was there before, or this
      EXPECT_EQ(bulk::BulkEngine::of(context).has_puts(),
                defers(context) && injection.has_own_queue());
      context.fence();
      EXPECT_EQ(read_by_thread(), values);
      context.barrier();
    }
  });
}

// Also of those that are no more than a load and a store here.
TEST_P(BulkRegion, PutsAreCompleteBeforeAtomicOperationsInReach) {
  on_ranks(2, [](Context& context) {
    const auto data = context.new_symmetric_array<uint64_t>(1);
    const auto flag = context.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const atomic_domain<uint64_t> atomics(context, AtomicPath::message);
    const bulk_region region(context);
    const uint64_t word = 7;
    memput(context, context.on_rank(*data, 1 - context.rank_me()), &word, 1);
    EXPECT_EQ(bulk::BulkEngine::of(context).has_puts(), defers(context));
    atomics.add(*flag, uint64_t{1}).wait();
    EXPECT_FALSE(bulk::BulkEngine::of(context).has_puts());
    context.barrier();
  });
}

// Without room for a copy a put is waited for, unless its source stays.
TEST_P(BulkRegion, LargePutsAreWaitedForUnlessTheirSourcesStay) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kCount = 5000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(kCount));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const rank_t other = 1 - context.rank_me();
    const auto check = [&](uint64_t first) {
      context.barrier();
      const uint64_t* const here = context.local(mine);
      EXPECT_EQ(Words(here, here + kCount), counted(kCount, first + other));
      context.barrier();
    };
    {
      const bulk_region region(context, {.buffer_bytes = size_t{16} << 10});
      Words source = counted(kCount, 10 + context.rank_me());
      memput(context, there, source.data(), kCount);
      source.assign(kCount, 0);
      EXPECT_EQ(statistics(context).deferred_puts, 0U);
      check(10);
      // Many small ones, which all find room, one after the other.
      source = counted(kCount, 20 + context.rank_me());
      for (size_t i = 0; i < kCount; i += 250) memput(context, there + i, source.data() + i, 250);
      source.assign(kCount, 0);
      check(20);
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).copied_puts, 20U);
    }
    {
      const bulk_region region(context, {.stable_sources = true, .buffer_bytes = 0});
      const Words source = counted(kCount, 30 + context.rank_me());
      memput(context, there, source.data(), kCount);
      check(30);
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).deferred_puts, 21U);
      EXPECT_EQ(statistics(context).copied_puts, 20U);
    }
  });
}

TEST_P(BulkRegion, ABurstIsOneTransferForEachRank) {
  on_ranks(3, [](Context& context) {
    constexpr size_t kRows = 40;
    constexpr size_t kWidth = 16;
    const auto mine = context.new_symmetric_array<uint64_t>(kRows * kWidth);
    const auto from = context.new_symmetric_array<uint64_t>(kRows * kWidth);
    ASSERT_TRUE(mine.ok() && from.ok());
    const rank_t me = context.rank_me();
    const Words own = counted(kRows * kWidth, 1000 * me);
    std::copy(own.begin(), own.end(), context.local(*from));
    bulk_region region(context);
    context.barrier();
    std::vector<Words> fetched(3, Words(kRows * 4));
    Words column(kRows * 4, me);
    {
      const auto burst = region.aggregate();
      for (size_t row = 0; row < kRows; ++row) {
        for (rank_t rank = 0; rank < 3; ++rank) {
          memget(context, fetched[rank].data() + 4 * row,
                 context.on_rank(*from, rank) + row * kWidth, 4);
          memput(context, context.on_rank(*mine, rank) + row * kWidth + 4 * me,
                 column.data() + 4 * row, 4);
        }
      }
    }
    column.assign(column.size(), 77);  // it may change behind the burst
    for (rank_t rank = 0; rank < 3; ++rank) {
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t i = 0; i < 4; ++i) {
          ASSERT_EQ(fetched[rank][4 * row + i], 1000 * rank + row * kWidth + i);
        }
      }
    }
    context.barrier();
    for (rank_t rank = 0; rank < 3; ++rank) {
      for (size_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(context.local(*mine)[row * kWidth + 4 * rank + 3], rank);
      }
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).bursts, 4U) << "two ranks, gets and puts";
      EXPECT_EQ(statistics(context).dependences, 0U);
    }
  });
}

// As if each were made where it stands.
TEST_P(BulkRegion, WhatDependsOnABurstEndsItBefore) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(64));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    bulk_region region(context);
    for (int shape = 0; shape < 6; ++shape) {
      context.barrier();
      const Words old(64, 5);
      memput(context, there, old.data(), 64);
      context.barrier();
      Words source = counted(8, 100);
      Words fetched(8, 0);
      Words again(8, 0);
      {
        const auto burst = region.aggregate();
        switch (shape) {
          case 0:  // a get of what is put
            memput(context, there, source.data(), 8);
            memget(context, fetched.data(), there + 4, 8);
            break;
          case 1:  // a put to what is fetched
            memget(context, fetched.data(), there, 8);
            memput(context, there + 7, source.data(), 8);
            break;
          case 2:  // a put of what was fetched
            memget(context, fetched.data(), there, 8);
            memput(context, there + 32, fetched.data(), 8);
            memget(context, again.data(), there + 32, 8);
            break;
          case 3:  // a get to what is put
            memput(context, there, source.data(), 8);
            memget(context, source.data(), there + 32, 8);
            break;
          case 4:  // two puts to one place
            memput(context, there, source.data(), 8);
            memput(context, there + 2, source.data(), 4);
            break;
          default:  // another operation
            memput(context, there, source.data(), 8);
            EXPECT_EQ(context.rget(there + 3), 103U);
            memget(context, fetched.data(), there, 8);
            EXPECT_EQ(fetched, counted(8, 100)) << "the burst has ended";
        }
      }
      context.barrier();
      const uint64_t* const here = context.local(mine);
      switch (shape) {
        case 0:
          EXPECT_EQ(fetched, (Words{104, 105, 106, 107, 5, 5, 5, 5}));
          break;
        case 1:
          EXPECT_EQ(fetched, Words(8, 5));
          EXPECT_EQ(here[7], 100U);
          break;
        case 2:
          EXPECT_EQ(again, Words(8, 5));
          break;
        case 3:
          EXPECT_EQ(here[1], 101U);
          EXPECT_EQ(source, Words(8, 5));
          break;
        case 4:
          EXPECT_EQ(Words(here, here + 8), (Words{100, 101, 100, 101, 102, 103, 106, 107}));
          break;
        default:
          EXPECT_EQ(Words(here, here + 8), counted(8, 100));
      }
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).dependences, 6U);
    }
  });
}

TEST_P(BulkRegion, CopiesBetweenSharedMemoryOfAnyRanks) {
  on_ranks(3, [](Context& context) {
    const auto from = context.new_symmetric_array<uint64_t>(16);
    const auto to = context.new_symmetric_array<uint64_t>(9 * 16);
    ASSERT_TRUE(from.ok() && to.ok());
    const rank_t me = context.rank_me();
    const Words own = counted(16, 100 * me);
    std::copy(own.begin(), own.end(), context.local(*from));
    const bulk_region region(context, {.stable_sources = me == 1});
    context.barrier();
    for (rank_t source = 0; source < 3; ++source) {
      for (rank_t destination = 0; destination < 3; ++destination) {
        memcpy(context, context.on_rank(*to, destination) + 16 * (3 * me + source),
               context.on_rank(*from, source), 16);
      }
    }
    memcpy(context, context.on_rank(*to, 0), context.on_rank(*from, 0), 0);
    context.barrier();
    for (rank_t by = 0; by < 3; ++by) {
      for (rank_t source = 0; source < 3; ++source) {
        const uint64_t* const here = context.local(*to) + 16 * (3 * by + source);
        EXPECT_EQ(Words(here, here + 16), counted(16, 100 * source)) << "by " << by;
      }
    }
  });
}

// In a buffer that stays with the engine.
TEST_P(BulkRegion, CopiesBetweenOtherRanksAllocateOnce) {
  on_ranks(3, [](Context& context) {
    const auto from = context.new_symmetric_array<uint64_t>(16);
    const auto to = context.new_symmetric_array<uint64_t>(32);
    ASSERT_TRUE(from.ok() && to.ok());
    const Words own = counted(16, 100 * context.rank_me());
    std::copy(own.begin(), own.end(), context.local(*from));
    context.barrier();
    if (context.rank_me() == 0) {
      for (const std::ptrdiff_t half : {0, 16}) {
        memcpy(context, context.on_rank(*to, 2) + half, context.on_rank(*from, 1), 16);
        EXPECT_EQ(bulk::BulkEngine::of(context).buffer_bytes(),
                  context.is_local(1) ? 0 : 16 * sizeof(uint64_t));
      }
    }
    context.barrier();
    if (context.rank_me() == 2) {
      const uint64_t* const here = context.local(*to);
      EXPECT_EQ(Words(here, here + 16), counted(16, 100));
      EXPECT_EQ(Words(here + 16, here + 32), counted(16, 100));
    }
  });
}

// Memory that has been given back is not fetched ahead, whatever was fetched in earlier visits.
TEST_P(BulkRegion, FreedMemoryIsNotRead) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto stays, context.new_symmetric_array<uint64_t>(16));
    const rank_t other = 1 - context.rank_me();
    const bulk_region region(context);
    const auto visit = [&](const global_ptr<uint64_t>* also) {
      context.barrier();
      Words fetched(16);
      memget(context, fetched.data(), context.on_rank(stays, other), 16);
      if (also != nullptr) memget(context, fetched.data(), context.on_rank(*also, other), 16);
    };
    for (int turn = 0; turn < 3; ++turn) {
      ASSERT_OK_AND_ASSIGN(const auto goes, context.new_symmetric_array<uint64_t>(16));
      visit(&goes);
      visit(&goes);  // another one than the visit before made, but for the first turn
      const uint64_t before = statistics(context).made_ahead;
      visit(&goes);
      if (defers(context)) {
        EXPECT_EQ(statistics(context).made_ahead, before + 2);
      }
      context.delete_symmetric_array(goes);
      const uint64_t freed = statistics(context).made_ahead;
      visit(nullptr);
      if (defers(context)) {
        EXPECT_EQ(statistics(context).made_ahead, freed + 1) << "turn " << turn;
      }
    }
    context.barrier();
  });
}

// It begins with the first call.
TEST_P(BulkRegion, HoldsForAWholeRun) {
  bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
  options.context.bulk = true;
  on_ranks(options, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    for (uint64_t turn = 0; turn < 3; ++turn) {
      const Words source = counted(8, turn);
      memput(context, there, source.data(), 8);
      context.barrier();
      Words back(8);
      memget(context, back.data(), there, 8);
      EXPECT_EQ(back, source);
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_EQ(statistics(context).deferred_puts, 3U);
      EXPECT_GT(statistics(context).served, 0U);
    }
  });
}

// Without a model, too: the third visit of a phase and the fourth wait for each call, unless that
// is found to take far longer. Visits that copy nothing count as none.
TEST_P(BulkRegion, IsComparedWithTheProgramAsItIsWritten) {
  if (GetParam().clock != "virtual") return;
  on_ranks(group_on(GetParam(), 3), [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(1000));
    const auto there = context.on_rank(mine, (context.rank_me() + 1) % 3);
    const bulk_region region(context);
    uint64_t deferred = 0;
    std::vector<uint64_t> of_visits;
    for (uint64_t turn = 0; turn < 10; ++turn) {
      for (const bool copies : {true, false}) {
        context.barrier();
        if (!copies) continue;
        const Words source = counted(1000, turn);
        for (std::ptrdiff_t i = 0; i < 1000; i += 100) {
          memput(context, there + i, source.data() + i, 100);
        }
        const uint64_t so_far = statistics(context).deferred_puts;
        of_visits.push_back(so_far - std::exchange(deferred, so_far));
      }
    }
    if (!defers(context)) return;
    EXPECT_LT(of_visits[2], 10U);
    of_visits[2] = of_visits[3] = 10;
    EXPECT_EQ(of_visits, (std::vector<uint64_t>(10, 10)));
    context.barrier();
  });
}

TEST_P(BulkRegion, IsNotComparedWhereItsOptionsSaySo) {
  on_ranks(group_on(GetParam(), 2), [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(1000));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const bulk_region region(context, {.self_check = false});
    for (uint64_t turn = 0; turn < 6; ++turn) {
      context.barrier();
      const Words source = counted(1000, turn);
      for (std::ptrdiff_t i = 0; i < 1000; i += 100) {
        memput(context, there + i, source.data() + i, 100);
      }
    }
    context.barrier();
    if (defers(context)) {
      EXPECT_EQ(statistics(context).deferred_puts, 60U);
    }
  });
}

// What is correct goes on in debug mode, where every call waits.
TEST_P(BulkRegion, WaitsInDebugMode) {
  bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
  options.context.debug = true;
  on_ranks(options, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    bulk_region region(context);
    const auto burst = region.aggregate();
    Words source = counted(8, 1);
    memput(context, there, source.data(), 8);
    source.assign(8, 0);
    Words back(8);
    memget(context, back.data(), there, 8);
    EXPECT_EQ(back, counted(8, 1));
    EXPECT_EQ(statistics(context).deferred_puts, 0U);
    context.barrier();
  });
}

TEST_P(BulkRegion, IsOfNoEffectOnARankThatIsAlone) {
  on_ranks(1, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(8));
    const bulk_region region(context);
    const Words source = counted(8, 1);
    memput(context, mine, source.data(), 8);
    context.barrier();
    Words back(8);
    memget(context, back.data(), mine, 8);
    EXPECT_EQ(back, source);
    EXPECT_EQ(statistics(context).deferred_puts, 0U);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, BulkRegion, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class BulkRegionDeath : public bootstrap::RanksDeathTest {};

TEST_F(BulkRegionDeath, CallsBeyondTheSegmentAreRefused) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const bulk_region region(context);
                         const uint64_t word = 0;
                         if (context.rank_me() == 0) {
                           memput(context, global_ptr<uint64_t>(1, uint64_t{1} << 40), &word, 1);
                         }
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "memput.*8 bytes at offset 1099511627776 of rank 1");
}

TEST_F(BulkRegionDeath, NullPointersAreRefused) {
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 const auto mine = context.new_symmetric_array<uint64_t>(8);
                 const bulk_region region(context);
                 if (context.rank_me() == 0) {
                   memget(context, static_cast<uint64_t*>(nullptr), context.on_rank(*mine, 1), 8);
                 }
                 context.barrier();
               }),
      ::testing::ExitedWithCode(2), "memget of 64 bytes with a null pointer for this rank's side");
}

}  // namespace
}  // namespace stripline
