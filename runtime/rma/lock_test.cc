#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/lock.h>

#include "base/testing/assert_ok.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class LockTest : public bootstrap::RanksTest {};

// Additions that are not atomic by themselves, on two ranks' memory, with puts that are completed
// by nothing but the lock.
TEST_P(LockTest, OneRankAtATime) {
  for (const rank_t ranks : {1U, 2U, 3U, 5U}) {
    for (const uint16_t credits : {uint16_t{64}, uint16_t{1}}) {
      on_ranks(ranks, credits, [](Context& context) {
        constexpr uint64_t kEach = 40;
        ASSERT_OK_AND_ASSIGN(const auto shared, context.new_symmetric_array<uint64_t>(2));
        const rank_t last = context.rank_n() - 1;
        ASSERT_OK_AND_ASSIGN(auto made, global_lock::create(context, last));
        global_lock& lock = made;
        const auto first = context.on_rank(shared, 0);
        const auto second = context.on_rank(shared, last) + 1;
        for (uint64_t i = 0; i < kEach; ++i) {
          std::unique_lock hold(lock, std::defer_lock);
          if (i % 8 != 7 || !hold.try_lock()) hold.lock();
          const uint64_t value = context.rget(first);
          EXPECT_EQ(context.rget(second), value * 3);
          const uint64_t next[] = {value + 1, (value + 1) * 3};
          context.rput_nbi(&next[0], first, 1);
          context.rput_buffered(&next[1], second, 1);
          if (i % 16 == context.rank_me()) context.compute_for(1e-5);
        }
        context.barrier();
        EXPECT_EQ(context.rget(first), kEach * context.rank_n());
      });
    }
  }
}

// Ranks that come while the lock is held get it in that order: it is virtual time that makes the
// order of arrival known.
TEST_P(LockTest, RanksGetItInTheOrderInWhichTheyCome) {
  if (GetParam().clock != "virtual") GTEST_SKIP() << "the order of arrival is not known";
  constexpr rank_t kRanks = 5;
  on_ranks(kRanks, [](Context& context) {
    const auto log = context.new_symmetric_array<uint64_t>(2 * kRanks + 1);
    auto made = global_lock::create(context);
    ASSERT_TRUE(log.ok() && made.ok());
    global_lock& lock = *made;
    const auto shared = context.on_rank(*log, 0);  // how many, and then who
    const rank_t me = context.rank_me();
    const auto record = [&] {
      const uint64_t count = context.rget(shared);
      context.rput(uint64_t{me}, shared + static_cast<std::ptrdiff_t>(count) + 1);
      context.rput(count + 1, shared);
    };
    const auto never = [] { return false; };
    context.barrier();
    // Rank 3 holds it while the others come as 1, 4, 2, 0; each comes again at once when it is
    // done.
    const double arrival[] = {5, 2, 4, 1, 3};
    context.wait_until(never, arrival[me] * 1e-3);
    {
      const std::lock_guard hold(lock);
      if (me == 3) context.wait_until(never, 0.01);
      record();
    }
    {
      const std::lock_guard hold(lock);
      record();
    }
    context.barrier();
    if (me == 0) {
      const uint64_t* entries = context.local(*log);
      EXPECT_EQ(entries[0], 2U * kRanks);
      EXPECT_EQ(std::vector<uint64_t>(entries + 1, entries + 1 + size_t{2} * kRanks),
                (std::vector<uint64_t>{3, 1, 4, 2, 0, 3, 1, 4, 2, 0}));
    }
  });
}

TEST_P(LockTest, TryLockTakesOnlyAFreeLock) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(auto made, global_lock::create(context));
    global_lock& lock = made;
    if (context.rank_me() == 0) {
      EXPECT_TRUE(lock.try_lock());
    }
    context.barrier();
    if (context.rank_me() == 1) {
      EXPECT_FALSE(lock.try_lock());
    }
    context.barrier();
    if (context.rank_me() == 0) lock.unlock();
    context.barrier();
    if (context.rank_me() == 1) {
      EXPECT_TRUE(lock.try_lock());
      lock.unlock();
    }
    // Several at once, one of them moved.
    ASSERT_OK_AND_ASSIGN(auto other, global_lock::create(context, 1));
    global_lock moved = std::move(other);
    const std::scoped_lock both(lock, moved);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, LockTest, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class LockDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void alone(const std::function<void(Context&, global_lock&)>& body) {
    on_ranks(1, [&body](Context& context) {
      auto lock = global_lock::create(context);
      body(context, *lock);
    });
  }
};

TEST_F(LockDeathTest, WrongUse) {
  EXPECT_EXIT(alone([](Context&, global_lock& lock) { lock.unlock(); }),
              ::testing::ExitedWithCode(2),
              "unlock of a global_lock, which this rank does not hold");
  EXPECT_EXIT(alone([](Context&, global_lock& lock) {
                lock.lock();
                lock.lock();
              }),
              ::testing::ExitedWithCode(2), "lock of a global_lock, which this rank still holds");
  EXPECT_EXIT(alone([](Context&, global_lock& lock) { lock.lock(); }), ::testing::ExitedWithCode(2),
              "destruction of a global_lock, which this rank still");
  EXPECT_EXIT(alone([](Context& context, global_lock&) {
                static_cast<void>(global_lock::create(context, 7).ok());
              }),
              ::testing::ExitedWithCode(2), "global_lock with home rank 7, but the job has ranks");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         static_cast<void>(global_lock::create(context, context.rank_me()).ok());
                       }),
              ::testing::ExitedWithCode(2), "home rank 1, but rank 0 names 0; a lock has one home");
}

}  // namespace
}  // namespace stripline
