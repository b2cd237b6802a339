#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/fine.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fine/engine.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;

const fine::Statistics& fine_statistics(Context& context) {
  return fine::FineEngine::of(context).statistics();
}

class FineRegion : public bootstrap::RanksTest {
 protected:
  using RanksTest::on_ranks;
  // Regions go by one method: none is compared with the program as it is written.
  static void on_ranks(rank_t ranks, const std::function<void(Context&)>& body) {
    bootstrap::ThreadGroupOptions options = group_on(GetParam(), ranks);
    options.context.guard = false;
    on_ranks(options, body);
  }
  // False where all memory is mapped, and in debug mode: accesses are complete when they return.
  static bool defers(Context& context) {
    return !context.is_local((context.rank_me() + 1) % context.rank_n()) &&
           context.state().job.observers().debug() == nullptr;
  }
  // This rank's part, which begins with `first`, and counts.
  static global_ptr<uint64_t> words(Context& context, size_t count, uint64_t first) {
    const auto mine = *context.new_symmetric_array<uint64_t>(count);
    std::iota(context.local(mine), context.local(mine) + count, first);
    context.barrier();
    return mine;
  }
  static global_ptr<uint64_t> of_next(Context& context, global_ptr<uint64_t> mine) {
    return context.on_rank(mine, (context.rank_me() + 1) % context.rank_n());
  }
};

TEST_P(FineRegion, ReadsNearEachOtherAreOneGet) {
  on_ranks(3, [](Context& context) {
    const auto there = of_next(context, words(context, 1000, 1000 * context.rank_me()));
    const uint64_t first = 1000 * ((context.rank_me() + 1) % 3);
    {
      fine_region fine(context);
      std::vector<lazy<uint64_t>> values;
      for (std::ptrdiff_t i = 0; i < 1000; i += 100) values.push_back(fine.read(there + i));
      for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], first + 100 * i);
    }
    if (defers(context)) {
      EXPECT_EQ(fine_statistics(context).gets, 1U);
      EXPECT_EQ(fine_statistics(context).fetched, 10U);
      EXPECT_EQ(fine_statistics(context).waits, 1U);
    }
    context.barrier();
  });
}

// More boxes than are held back, and larger distances than a box spans.
TEST_P(FineRegion, ReadsFarFromEachOtherAreInFlightTogether) {
  on_ranks(2, [](Context& context) {
    constexpr std::ptrdiff_t kCount = 40;
    constexpr std::ptrdiff_t kStride = 1024;
    const auto there = of_next(context, words(context, kCount * kStride, 7 + context.rank_me()));
    const uint64_t first = 7 + (1 - context.rank_me());
    {
      fine_region fine(context);
      std::vector<lazy<uint64_t>> values;
      for (std::ptrdiff_t i = 0; i < kCount; ++i) values.push_back(fine.read(there + i * kStride));
      // In another order than they were read.
      for (std::ptrdiff_t i = kCount - 1; i >= 0; --i) {
        EXPECT_EQ(values[static_cast<size_t>(i)], first + static_cast<uint64_t>(i * kStride));
      }
    }
    if (defers(context)) {
      EXPECT_EQ(fine_statistics(context).gets, 40U);
    }
    context.barrier();
  });
}

TEST_P(FineRegion, ValuesThatAreUsedAtOnceAreServedFromBlocks) {
  constexpr size_t kWords = 1000;
  constexpr size_t kReads = 2000;
  on_ranks(2, [](Context& context) {
    const auto mine = words(context, kWords, 1000 * context.rank_me());
    const auto there = of_next(context, mine);
    const uint64_t first = 1000 * (1 - context.rank_me());
    std::mt19937_64 random(context.rank_me());
    fine_region fine(context, {.across_barriers = true});
    for (uint64_t turn = 1; turn <= 3; ++turn) {
      context.local(mine)[3] = turn;
      context.barrier();
      const uint64_t served = fine_statistics(context).served;
      for (size_t i = 0; i < kReads; ++i) {
        const uint64_t at = random() % kWords;
        ASSERT_EQ(fine.value(there + static_cast<std::ptrdiff_t>(at)), at == 3 ? turn : first + at);
      }
      if (defers(context)) {
        EXPECT_GT(fine_statistics(context).served - served, kReads / 2);
      }
      // What this rank writes it reads, by whatever call.
      fine.write(there + 10, first + 10);
      ASSERT_EQ(fine.value(there + 10), first + 10);
      context.rput(uint64_t{7}, there + 12);
      ASSERT_EQ(fine.value(there + 12), 7U);
      context.rput(first + 12, there + 12);
      ASSERT_EQ(fine.value(there + 12), first + 12);
      context.barrier();
    }
  });
}

// A program that reads a value again and again sees that it has changed, and what was changed
// before it.
TEST_P(FineRegion, AProgramThatPollsGetsOn) {
  on_ranks(3, [](Context& context) {
    const auto there = context.on_rank(words(context, 8, 0), 0);
    fine_region fine(context, {.across_barriers = true});
    context.barrier();
    if (context.rank_me() == 1) {
      for (std::ptrdiff_t i = 0; i < 40; ++i) static_cast<void>(fine.value(there + i % 8));
      while (fine.value(there + 3) == 3) {
      }
      EXPECT_EQ(fine.value(there + 3), 100U);
      EXPECT_EQ(fine.value(there + 5), 77U);
    } else if (context.rank_me() == 2) {
      context.rput(uint64_t{77}, there + 5);
      context.rput(uint64_t{100}, there + 3);
    }
    context.barrier();
  });
}

// What changes is in reach of loads, and what was read before it is not.
TEST(FineRegionOnNodes, AProgramThatPollsMemoryInReachGetsOn) {
  bootstrap::ThreadGroupOptions options = group_on(bootstrap::nodes_of_two(), 4);
  options.context.guard = false;
  bootstrap::on_ranks(options, [](Context& context) {
    const auto mine = *context.new_symmetric_array<uint64_t>(16);
    const auto data = context.on_rank(mine, 2);
    const auto go = context.on_rank(mine, 3) + 8;
    const auto flag = context.on_rank(mine, 1) + 9;
    fine_region fine(context, {.across_barriers = true});
    for (uint64_t round = 1; round <= 20; ++round) {
      context.barrier();
      if (context.rank_me() == 0) {
        ASSERT_LT(fine.read(data + 5).get(), round);
        ASSERT_LT(fine.value(flag), round);
        context.rput_signal<uint64_t>(nullptr, go, 0, go, round).wait();
        while (fine.value(flag) < round) {
        }
        EXPECT_EQ(fine.read(data + 5).get(), round);
      } else if (context.rank_me() == 3) {
        context.wait_signal(go, round);
        context.rput(round, data + 5);
        context.rput(round, flag);
      }
      context.barrier();
    }
  });
}

TEST_P(FineRegion, WhatWasReadIsNotFetchedAgainUntilAnAcquire) {
  on_ranks(2, [](Context& context) {
    const auto mine = words(context, 8, 0);
    const auto there = of_next(context, mine);
    const fine_region region(context);
    for (uint64_t turn = 1; turn <= 5; ++turn) {
      context.local(mine)[3] = turn;
      context.barrier();
      fine_region fine(context);
      EXPECT_EQ(fine.read(there + 3), turn);
      EXPECT_EQ(fine.read(there + 3), turn);
      const lazy<uint64_t> again = fine.read(there + 3);
      EXPECT_EQ(again, turn);
      EXPECT_EQ(again, turn) << "used twice";
      context.barrier();
    }
    if (defers(context)) {
      EXPECT_EQ(fine_statistics(context).fetched, 5U);
      EXPECT_EQ(fine_statistics(context).served, 10U);
    }
  });
}

TEST_P(FineRegion, NothingIsKeptWhereTheProgramSaysSo) {
  on_ranks(2, [](Context& context) {
    const auto there = of_next(context, words(context, 8, 5));
    {
      fine_region fine(context, {.keeps = false});
      for (int i = 0; i < 3; ++i) EXPECT_EQ(fine.read(there + 1), 6U);
    }
    if (defers(context)) {
      EXPECT_EQ(fine_statistics(context).served, 0U);
      EXPECT_EQ(fine_statistics(context).gets, 3U);
    }
    context.barrier();
  });
}

// A rank reads what it has written, and what it has read before it wrote is what was there.
TEST_P(FineRegion, AccessesTakeEffectInTheirOrder) {
  on_ranks(2, [](Context& context) {
    const auto there = of_next(context, words(context, 64, 0));
    fine_region fine(context);
    for (uint64_t turn = 1; turn <= 20; ++turn) {
      const lazy<uint64_t> before = fine.read(there + 5);
      const lazy<uint64_t> beside = fine.read(there + 6);
      fine.write(there + 5, 100 * turn);
      const lazy<uint64_t> after = fine.read(there + 5);
      fine.write(there + 5, 100 * turn + 1);
      fine.write(there + 6, fine.read(there + 6) + 1);
      EXPECT_EQ(after, 100 * turn);
      EXPECT_EQ(before, turn == 1 ? 5 : 100 * (turn - 1) + 1);
      EXPECT_EQ(beside, 6 + turn - 1);
      EXPECT_EQ(fine.read(there + 5), 100 * turn + 1);
    }
    context.barrier();
  });
}

TEST_P(FineRegion, WritesThatFollowEachOtherAreOnePut) {
  on_ranks(3, [](Context& context) {
    const auto mine = words(context, 200, 0);
    const auto there = of_next(context, mine);
    const uint64_t me = context.rank_me();
    {
      fine_region fine(context);
      for (std::ptrdiff_t i = 0; i < 100; ++i) fine.write(there + i, 5);
      for (std::ptrdiff_t i = 0; i < 100; ++i) {  // written twice
        fine.write(there + i, 1000 * me + static_cast<uint64_t>(i));
      }
      for (std::ptrdiff_t i = 101; i < 200; i += 2) fine.write(there + i, me);
      context.barrier();
      const uint64_t previous = (me + 2) % 3;
      for (size_t i = 0; i < 100; ++i) ASSERT_EQ(context.local(mine)[i], 1000 * previous + i);
      for (size_t i = 100; i < 200; ++i) {
        ASSERT_EQ(context.local(mine)[i], i % 2 == 1 ? previous : i) << "what lies between stays";
      }
    }
    if (defers(context)) {
      EXPECT_EQ(fine_statistics(context).puts, 51U);
    }
    context.barrier();
  });
}

TEST_P(FineRegion, TheEndOfARegionCompletesItsWrites) {
  on_ranks(2, [](Context& context) {
    const auto there = of_next(context, words(context, 64, 0));
    {
      const fine_region outer(context);
      {
        fine_region inner(context);
        inner.write(there + 1, 11);
        inner.write(there + 9, 19);
      }
    }
    EXPECT_FALSE(bulk::BulkEngine::of(context).has_puts());
    EXPECT_EQ(context.rget(there + 1), 11U);
    EXPECT_EQ(context.rget(there + 9), 19U);
    context.barrier();
  });
}

// By whatever call it is read, and whatever stores between.
TEST_P(FineRegion, OtherOperationsKeepTheirOrderWithAccesses) {
  on_ranks(2, [](Context& context) {
    const auto there = of_next(context, words(context, 64, 0));
    const atomic_domain<uint64_t> atomics(context);
    fine_region fine(context);
    for (uint64_t turn = 1; turn <= 24; ++turn) {
      const lazy<uint64_t> before = fine.read(there + 3);
      const uint64_t expected = turn == 1 ? 3 : 10 * (turn - 1) + 1;
      fine.write(there + 3, 10 * turn);
      uint64_t read = 0;
      switch (turn / 4 % 4) {
        case 0:
          context.rget(there + 3, &read, 1).wait();
          break;
        case 2:
          memget(context, &read, there + 3, 1);
          break;
        case 1:
          context.rget_nbi(there + 3, &read, 1);
          context.fence();
          break;
        default: {
          constexpr std::ptrdiff_t kStride = 8;
          constexpr size_t kOne = 1;
          rget_strided<1>(context, there + 3, &kStride, &read, &kStride, &kOne).wait();
        }
      }
      EXPECT_EQ(read, 10 * turn);
      EXPECT_EQ(before, expected);
      const lazy<uint64_t> last = fine.read(there + 3);
      const uint64_t next = 10 * turn + 1;
      switch (turn % 4) {
        case 0:
          context.rput(next, there + 3);
          break;
        case 1:
          context.rput_nbi(&next, there + 3, 1);
          context.fence();
          break;
        case 2:
          atomics.add(there + 3, uint64_t{1}).wait();
          break;
        default:
          memput(context, there + 3, &next, 1);
      }
      EXPECT_EQ(last, 10 * turn) << "turn " << turn;
      EXPECT_EQ(fine.read(there + 3), next) << "turn " << turn;
    }
    context.barrier();
  });
}

TEST_P(FineRegion, RegionsOfBothKindsMayBeNested) {
  on_ranks(2, [](Context& context) {
    const auto mine = words(context, 64, 0);
    const auto there = of_next(context, mine);
    for (int order = 0; order < 4; ++order) {
      std::unique_ptr<bulk_region> bulk;
      if (order < 2) bulk = std::make_unique<bulk_region>(context);
      auto fine = std::make_unique<fine_region>(context);
      if (order >= 2) bulk = std::make_unique<bulk_region>(context);
      for (uint64_t turn = 0; turn < 5; ++turn) {
        const uint64_t value = 10 * turn + static_cast<uint64_t>(order);
        fine->write(there + 2, value);
        memput(context, there + 3, &value, 1);
        EXPECT_EQ(fine->read(there + 3), value);
        uint64_t read = 0;
        memget(context, &read, there + 2, 1);
        EXPECT_EQ(read, value);
        context.barrier();
        EXPECT_EQ(context.local(mine)[2], value);
        EXPECT_EQ(context.local(mine)[3], value);
        context.barrier();
      }
      const uint64_t last = 99;
      memput(context, there + 4, &last, 1);
      fine->write(there + 5, last);
      // In the order of their beginnings, or in the other one.
      if (order % 2 == 0) {
        fine.reset();
        bulk.reset();
      } else {
        bulk.reset();
        fine.reset();
      }
      EXPECT_FALSE(bulk::BulkEngine::of(context).has_puts());
      EXPECT_EQ(context.rget(there + 4), last);
      EXPECT_EQ(context.rget(there + 5), last);
      context.barrier();
    }
  });
}

struct Body {
  double mass;
  double place[3];
};

TEST_P(FineRegion, ValuesMayBeOfAnyType) {
  on_ranks(2, [](Context& context) {
    const auto mine = *context.new_symmetric_array<Body>(16);
    for (int i = 0; i < 16; ++i) {
      context.local(mine)[i] = {1.0 + i, {10.0 * i, 20.0 * i, 30.0 * context.rank_me()}};
    }
    context.barrier();
    const global_ptr<const Body> there = context.on_rank(mine, 1 - context.rank_me());
    fine_region fine(context);
    double mass = 0;
    std::vector<lazy<Body>> bodies;
    for (std::ptrdiff_t i = 0; i < 16; ++i) bodies.push_back(fine.read(there + i));
    for (const lazy<Body>& body : bodies) mass += body.get().mass;
    EXPECT_EQ(mass, 136);
    EXPECT_EQ(bodies[3].get().place[2], 30.0 * (1 - context.rank_me()));
    context.barrier();
  });
}

// Some are not used, and there are more at a time than there is memory for.
TEST_P(FineRegion, ValuesMayMoveAndBeDropped) {
  on_ranks(2, [](Context& context) {
    constexpr std::ptrdiff_t kCount = 3000;
    const auto there = of_next(context, words(context, kCount * 8, 0));
    fine_region fine(context, {.buffer_bytes = 4096});
    for (int turn = 0; turn < 3; ++turn) {
      std::vector<lazy<uint64_t>> values;
      for (std::ptrdiff_t i = 0; i < kCount; ++i) {
        const std::ptrdiff_t at = (i * 7919) % kCount;  // neither in order nor near each other
        values.push_back(fine.read(there + 8 * at));
        if (i % 5 == 0) values.pop_back();
        if (i % 7 == 0) fine.issue();
      }
      lazy<uint64_t> moved = std::move(values.front());
      values.front() = fine.read(there + 8);
      EXPECT_EQ(values.front(), 8U);
      EXPECT_EQ(moved, static_cast<uint64_t>(8 * (7919 % kCount)));
      size_t next = 1;
      for (std::ptrdiff_t i = 2; i < kCount; ++i) {
        if (i % 5 == 0) continue;
        ASSERT_EQ(values[next++], static_cast<uint64_t>(8 * ((i * 7919) % kCount)));
      }
    }
    context.barrier();
  });
}

// What a barrier lets others change was read before.
TEST_P(FineRegion, ValuesAreOfBeforeTheNextSynchronisation) {
  on_ranks(2, [](Context& context) {
    const auto mine = words(context, 64, 0);
    const auto there = of_next(context, mine);
    fine_region fine(context);
    for (uint64_t turn = 0; turn < 5; ++turn) {
      const lazy<uint64_t> value = fine.read(there + 8);
      const lazy<uint64_t> issued = fine.read(there + 40);
      fine.issue();
      context.barrier();
      context.local(mine)[8] = 100 + turn;
      context.local(mine)[40] = 200 + turn;
      context.barrier();
      EXPECT_EQ(value, turn == 0 ? 8 : 100 + turn - 1);
      EXPECT_EQ(issued, turn == 0 ? 40 : 200 + turn - 1);
    }
  });
}

TEST_P(FineRegion, FreedMemoryIsNotServed) {
  on_ranks(2, [](Context& context) {
    fine_region fine(context);
    for (uint64_t turn = 1; turn < 4; ++turn) {
      const auto mine = words(context, 64, turn);
      EXPECT_EQ(fine.read(of_next(context, mine) + 1), turn + 1);
      context.barrier();
      context.delete_symmetric_array(mine);
    }
  });
}

TEST_P(FineRegion, ByEachMethod) {
  struct Expected {
    const char* tuning;
    uint64_t gets;
    uint64_t lists;
    uint64_t waits;
  };
  for (const Expected& expected :
       {Expected{"fine:*:blocking", 20, 0, 20}, Expected{"fine:*:single", 20, 0, 20},
        Expected{"fine:*:boxes", 1, 0, 1}, Expected{"fine:*:lists", 0, 1, 20},
        Expected{"fine:*:baseline", 20, 0, 20}}) {
    bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
    options.context.tuning = expected.tuning;
    on_ranks(options, [&](Context& context) {
      const auto there = of_next(context, words(context, 1000, 3));
      {
        fine_region fine(context);
        std::vector<lazy<uint64_t>> values;
        for (std::ptrdiff_t i = 0; i < 20; ++i) values.push_back(fine.read(there + 50 * i));
        for (size_t i = 0; i < 20; ++i) EXPECT_EQ(values[i], 3 + 50 * i);
        fine.write(there + 1, 5);
        EXPECT_EQ(fine.read(there + 1), 5U);
      }
      if (defers(context)) {
        EXPECT_EQ(fine_statistics(context).gets, expected.gets + 1) << expected.tuning;
        EXPECT_EQ(fine_statistics(context).lists, expected.lists) << expected.tuning;
        EXPECT_EQ(fine_statistics(context).waits, expected.waits + 1) << expected.tuning;
        EXPECT_EQ(fine_statistics(context).puts, 1U) << expected.tuning;
      }
      context.barrier();
    });
  }
}

// Without a model, too: the third region that begins at a place begins to wait for each access, and
// goes on as others do when that is found to take far longer.
TEST_P(FineRegion, IsComparedWithTheProgramAsItIsWritten) {
  if (GetParam().clock != "virtual") return;
  on_ranks(group_on(GetParam(), 2), [](Context& context) {
    const auto there = of_next(context, words(context, 1000, 3));
    uint64_t gets = 0;
    std::vector<uint64_t> of_regions;
    for (int turn = 0; turn < 10; ++turn) {
      fine_region fine(context);
      std::vector<lazy<uint64_t>> values;
      for (std::ptrdiff_t i = 0; i < 20; ++i) values.push_back(fine.read(there + 50 * i));
      for (size_t i = 0; i < 20; ++i) EXPECT_EQ(values[i], 3 + 50 * i);
      const uint64_t so_far = fine_statistics(context).gets;
      of_regions.push_back(so_far - std::exchange(gets, so_far));
    }
    context.barrier();
    if (!defers(context)) return;
    EXPECT_GT(of_regions[2], 1U);
    EXPECT_LT(of_regions[2], 20U);
    // The fourth one need not wait, too. Then lists are tried, which are no gets of a box each; and
    // what is the fastest stays.
    EXPECT_EQ(of_regions[0], 1U);
    EXPECT_EQ(of_regions[1], 1U);
    EXPECT_EQ(of_regions[3], 1U);
    EXPECT_EQ(of_regions[4], 0U);
    EXPECT_GE(fine_statistics(context).lists, 1U);
    EXPECT_LE(of_regions[6], 1U);
    EXPECT_EQ(std::vector<uint64_t>(of_regions.begin() + 6, of_regions.end()),
              (std::vector<uint64_t>(4, of_regions[6])));
  });
}

// Correct programs do the same in debug mode, where each access waits.
TEST_P(FineRegion, WaitsInDebugMode) {
  bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
  options.context.debug = true;
  on_ranks(options, [](Context& context) {
    const auto mine = words(context, 64, 0);
    const auto there = of_next(context, mine);
    {
      fine_region fine(context);
      const lazy<uint64_t> value = fine.read(there + 1);
      fine.write(there + 2, value + 1);
      EXPECT_EQ(fine.read(there + 2), 2U);
      EXPECT_EQ(value, 1U);
    }
    EXPECT_EQ(fine_statistics(context).fetched, 0U);
    context.barrier();
    EXPECT_EQ(context.local(mine)[2], 2U);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, FineRegion, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class FineRegionDeath : public bootstrap::RanksDeathTest {};

TEST_F(FineRegionDeath, AccessesBeyondTheSegmentAreRefused) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         fine_region fine(context);
                         if (context.rank_me() == 0) {
                           fine.write(global_ptr<uint64_t>(1, uint64_t{1} << 40), 1);
                         }
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2),
              "fine_region::write.*8 bytes at offset 1099511627776 of rank 1");
}

TEST_F(FineRegionDeath, ValuesAreNotUsedAfterTheEndOfTheirRegionInDebugMode) {
  EXPECT_EXIT(
      {
        auto options = group_on(fabrics_under_test()[1], 2);
        options.context.debug = true;
        const Status ran = bootstrap::run_ranks(options, [](Context& context) {
          const auto mine = *context.new_symmetric_array<uint64_t>(8);
          auto fine = std::make_unique<fine_region>(context);
          const lazy<uint64_t> value = fine->read(context.on_rank(mine, 1 - context.rank_me()));
          fine.reset();
          if (context.rank_me() == 0) static_cast<void>(value.get());
          context.barrier();
        });
        std::_Exit(ran.ok() ? 0 : 1);
      },
      ::testing::ExitedWithCode(2), "lazy::get of a value whose fine_region has ended");
}

TEST_F(FineRegionDeath, ValuesThatHaveBeenMovedAreNotUsed) {
  for (const bool debug : {false, true}) {
    EXPECT_EXIT(
        {
          auto options = group_on(fabrics_under_test()[1], 2);
          options.context.debug = debug;
          const Status ran = bootstrap::run_ranks(options, [](Context& context) {
            const auto mine = *context.new_symmetric_array<uint64_t>(8);
            fine_region fine(context);
            lazy<uint64_t> value = fine.read(context.on_rank(mine, 1 - context.rank_me()));
            const lazy<uint64_t> moved = std::move(value);
            EXPECT_EQ(moved.get(), 0U);
            if (context.rank_me() == 0) {
              static_cast<void>(value.get());  // NOLINT(bugprone-use-after-move)
            }
            context.barrier();
          });
          std::_Exit(ran.ok() ? 0 : 1);
        },
        ::testing::ExitedWithCode(2),
        "fine_region_test.cc:[0-9]+: lazy::get of an object that has been moved from");
  }
}

}  // namespace
}  // namespace stripline
