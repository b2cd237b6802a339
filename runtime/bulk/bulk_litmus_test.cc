// What other ranks may see of a bulk region (docs/bulk.md): what is forbidden is never seen, and
// what a region may do that calls without one do not is shown.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/bulk.h>
#include <stripline/rpc.h>
#include <stripline/strict.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bulk/engine.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using Variable = global_ptr<uint64_t>;

// One iteration: variables hold its number, or the one before.
struct Round {
  Context& ctx;
  Variable x;  ///< rank 2's
  Variable y;  ///< rank 1's
  uint64_t now = 0;
  const atomic_domain<uint64_t>& atomics;
  std::mt19937_64& random;

  void delay() const { ctx.compute_for(1e-8 * static_cast<double>(random() % 2000)); }
  /// By a put that is not waited for.
  void put(Variable variable, uint64_t value) const {
    delay();
    memput(ctx, variable, &value, 1);
  }
  /// By a get that may have been made ahead.
  uint64_t get(Variable variable) const {
    uint64_t value = 0;
    memget(ctx, &value, variable, 1);
    return value;
  }
};

class BulkLitmus : public bootstrap::RanksTest {
 protected:
  // No visit of a phase is carried out as the program is written, to compare.
  static bootstrap::ThreadGroupOptions group() {
    bootstrap::ThreadGroupOptions options = bootstrap::group_on(GetParam(), 3);
    options.context.guard = false;
    return options;
  }
  using Writer = std::function<void(const Round&)>;
  using Reader = std::function<bool(const Round&)>;

  static bool is_virtual() { return GetParam().clock == "virtual"; }

  // Rank 0 writes and rank 1 reads, `reader` being true for what is forbidden: how often it was.
  static uint64_t seen(const Writer& writer, const Reader& reader) {
    const uint64_t iterations = test_size("STRIPLINE_TEST_LITMUS_ITERATIONS", 200);
    std::atomic<uint64_t> times = 0;
    on_ranks(group(), [&](Context& ctx) {
      const auto variables = ctx.new_symmetric_array<uint64_t>(16);
      ASSERT_TRUE(variables.ok());
      const atomic_domain<uint64_t> atomics(ctx);
      std::mt19937_64 random(ctx.rank_me() + 1);
      const bulk_region region(ctx);
      for (uint64_t i = 1; i <= iterations; ++i) {
        const Round round{
            ctx, ctx.on_rank(*variables, 2), ctx.on_rank(*variables, 1) + 8, i, atomics, random};
        ctx.barrier();
        if (ctx.rank_me() == 0) writer(round);
        if (ctx.rank_me() == 1) times += reader(round) ? 1 : 0;
      }
      ctx.barrier();
    });
    return times;
  }
  static void never(const Writer& writer, const Reader& reader) {
    EXPECT_EQ(seen(writer, reader), 0U);
  }
  // Every other time x is fetched and nothing else, and then made ahead the next time.
  static bool only_fetches_x(const Round& at) {
    if (at.now % 2 == 0) at.get(at.x);
    return at.now % 2 == 0;
  }
  // The reader that polls y, which is its own, and then fetches x: seeing y, it has to see x.
  static bool misses_x(const Round& at) {
    if (only_fetches_x(at)) return false;
    at.delay();
    const bool sees_y = strict_read(at.ctx, at.y) == at.now;
    return at.get(at.x) != at.now && sees_y;
  }
};

TEST_P(BulkLitmus, MessagePassingByAStrictFlag) {
  never(
      [](const Round& at) {
        at.put(at.x, at.now);
        strict_write(at.ctx, at.now, at.y);
      },
      misses_x);
}

TEST_P(BulkLitmus, MessagePassingByAPutThatIsWaitedFor) {
  never(
      [](const Round& at) {
        at.put(at.x, at.now);
        at.ctx.rput(at.now, at.y);
      },
      misses_x);
}

// Between two puts that are not waited for.
TEST_P(BulkLitmus, MessagePassingByAFence) {
  never(
      [](const Round& at) {
        at.put(at.x, at.now);
        at.ctx.fence();
        at.put(at.y, at.now);
      },
      misses_x);
}

TEST_P(BulkLitmus, MessagePassingByASignal) {
  never(
      [](const Round& at) {
        at.put(at.x, at.now);
        at.ctx.rput_signal<uint64_t>(nullptr, at.y, 0, at.y, at.now).wait();
      },
      [](const Round& at) {
        if (only_fetches_x(at)) return false;
        at.ctx.wait_signal(at.y, at.now);
        return at.get(at.x) != at.now;
      });
}

TEST_P(BulkLitmus, MessagePassingByAnAtomicOperation) {
  never(
      [](const Round& at) {
        at.put(at.x, at.now);
        at.atomics.add(at.y, uint64_t{1}).wait();
      },
      [](const Round& at) {
        if (only_fetches_x(at)) return false;
        at.delay();
        uint64_t y = 0;
        at.atomics.load(at.y, &y).wait();
        at.ctx.progress();  // by which it learns of changes
        return at.get(at.x) != at.now && y == at.now;
      });
}

// Two puts of a rank to one place take effect in their order.
TEST_P(BulkLitmus, CoherenceOfPuts) {
  never(
      [](const Round& at) {
        at.put(at.x, 2 * at.now);
        at.put(at.x, 2 * at.now + 1);
      },
      [](const Round& at) {
        at.delay();
        const uint64_t first = strict_read(at.ctx, at.x);
        return strict_read(at.ctx, at.x) < first;
      });
}

// What is known to have changed by a barrier is fetched.
TEST_P(BulkLitmus, ABarrierIsNotOvertaken) {
  never([](const Round& at) { at.put(at.x, at.now); },
        [](const Round& at) { return at.get(at.x) + 1 < at.now; });
}

// A rank that waits for another one by gets goes on, however often it asks.
TEST_P(BulkLitmus, ARankThatPollsGoesOn) {
  never(
      [](const Round& at) {
        at.delay();
        at.ctx.rput(at.now, at.x);
      },
      [](const Round& at) {
        while (at.get(at.x) != at.now) at.ctx.progress();
        return false;
      });
}

// The one thing that programs must mind of gets: what was made ahead is older than what the rank
// has found out since without an acquire. On a virtual clock it is seen each time.
TEST_P(BulkLitmus, AGetMayBeOlderThanAnotherOne) {
  on_ranks(group(), [](Context& ctx) {
    const auto variables = ctx.new_symmetric_array<uint64_t>(16);
    ASSERT_TRUE(variables.ok());
    const Variable x = ctx.on_rank(*variables, 2);
    const Variable y = x + 8;
    const bool is_shown = is_virtual() && ctx.state().job.observers().debug() == nullptr;
    const bulk_region region(ctx);
    for (uint64_t i = 1; i <= 3; ++i) {
      ctx.barrier();
      if (ctx.rank_me() == 0) {
        ctx.compute_for(1e-3);
        ctx.rput(i, x);
        ctx.rput(i, y);
      }
      if (ctx.rank_me() == 1) {
        while (ctx.rget(y) != i) ctx.compute_for(1e-6);
        uint64_t seen = 0;
        memget(ctx, &seen, x, 1);
        if (is_shown && i > 1) {
          EXPECT_EQ(seen, i - 1);
        } else {
          EXPECT_GE(seen, i - 1);
        }
        ctx.progress();
        memget(ctx, &seen, x, 1);
        EXPECT_EQ(seen, i) << "behind an acquire";
      }
      ctx.barrier();
    }
  });
}

// What a handler says is in no order with puts of the program that it interrupts: it cannot wait
// for them. In every other round a fence makes it right.
TEST_P(BulkLitmus, AnAnswerMayComeBeforeAPut) {
  on_ranks(group(), [](Context& ctx) {
    const auto variables = ctx.new_symmetric_array<uint64_t>(16);
    ASSERT_TRUE(variables.ok());
    const Variable x = ctx.on_rank(*variables, 2);
    // Words of rank 0: what it has put and what it has answered, and whether puts were in flight
    // then.
    const Variable of_0 = ctx.on_rank(*variables, 0) + 8;
    const bool defers = !ctx.is_local(x) && ctx.state().job.observers().debug() == nullptr;
    const bulk_region region(ctx);
    for (uint64_t i = 1; i <= 6; ++i) {
      const bool is_fenced = i % 2 == 0;
      ctx.barrier();
      if (ctx.rank_me() == 0) {
        uint64_t* const here = ctx.local(of_0);
        memput(ctx, x, &i, 1);
        if (is_fenced) ctx.fence();
        here[0] = i;
        while (here[1] != i) {
          ctx.progress();
          ctx.compute_for(1e-6);
        }
        EXPECT_EQ(here[2], defers && !is_fenced ? 1U : 0U);
      }
      if (ctx.rank_me() == 1) {
        const auto put_by_0 = [](Context& there, Variable words) {
          uint64_t* const of_target = there.local(words);
          of_target[1] = of_target[0];
          of_target[2] = bulk::BulkEngine::of(there).has_puts() ? 1 : 0;
          return of_target[0];
        };
        while (rpc(ctx, 0, put_by_0, of_0).wait() != i) ctx.compute_for(1e-6);
        const uint64_t seen = ctx.rget(x);
        EXPECT_GE(seen, is_fenced ? i : i - 1);
      }
      ctx.barrier();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, BulkLitmus, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
