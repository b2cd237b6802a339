// What other ranks may see of a fine-grained region (docs/fine.md): what is forbidden is never
// seen, and what a region may do that accesses without one do not is shown.
#include <atomic>
#include <cstdint>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/fine.h>
#include <stripline/rpc.h>
#include <stripline/strict.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using Shared = global_ptr<uint64_t>;

// One iteration: variables hold its number, or the one before.
struct FineRound {
  Context& ctx;
  Shared x;  ///< rank 2's
  Shared y;  ///< rank 1's
  uint64_t now = 0;
  fine_region& fine;
  const atomic_domain<uint64_t>& atomics;
  std::mt19937_64& random;

  void delay() const { ctx.compute_for(1e-8 * static_cast<double>(random() % 2000)); }
  void write(Shared variable, uint64_t value) const {
    delay();
    fine.write(variable, value);
  }
};

class FineLitmus : public bootstrap::RanksTest {
 protected:
  using Writer = std::function<void(const FineRound&)>;
  using Reader = std::function<bool(const FineRound&)>;

  // Rank 0 writes and rank 1 reads, `reader` being true for what is forbidden: how often it was.
  static uint64_t times_seen(const Writer& writer, const Reader& reader) {
    const uint64_t iterations = test_size("STRIPLINE_TEST_LITMUS_ITERATIONS", 200);
    std::atomic<uint64_t> times = 0;
    on_ranks(bootstrap::group_on(GetParam(), 3), [&](Context& ctx) {
      const auto variables = ctx.new_symmetric_array<uint64_t>(16);
      ASSERT_TRUE(variables.ok());
      const atomic_domain<uint64_t> atomics(ctx);
      std::mt19937_64 random(ctx.rank_me() + 1);
      fine_region fine(ctx);
      for (uint64_t i = 1; i <= iterations; ++i) {
        const FineRound round{
            ctx,   ctx.on_rank(*variables, 2), ctx.on_rank(*variables, 1) + 8, i, fine, atomics,
            random};
        ctx.barrier();
        // What is kept from before the writer has begun.
        if (ctx.rank_me() == 1) static_cast<void>(fine.read(round.x).get());
        if (ctx.rank_me() == 0) writer(round);
        if (ctx.rank_me() == 1) times += reader(round) ? 1 : 0;
      }
      ctx.barrier();
    });
    return times;
  }
  static void never(const Writer& writer, const Reader& reader) {
    EXPECT_EQ(times_seen(writer, reader), 0U);
  }
};

TEST_P(FineLitmus, AStrictFlag) {
  never(
      [](const FineRound& at) {
        at.write(at.x, at.now);
        strict_write(at.ctx, at.now, at.y);
      },
      [](const FineRound& at) {
        at.delay();
        const bool sees_y = strict_read(at.ctx, at.y) == at.now;
        return at.fine.read(at.x) != at.now && sees_y;
      });
}

TEST_P(FineLitmus, APutThatIsWaitedFor) {
  never(
      [](const FineRound& at) {
        at.write(at.x, at.now);
        at.ctx.rput(at.now, at.y);
      },
      [](const FineRound& at) {
        at.delay();
        const bool sees_y = strict_read(at.ctx, at.y) == at.now;
        return at.fine.read(at.x) != at.now && sees_y;
      });
}

TEST_P(FineLitmus, ASignal) {
  never(
      [](const FineRound& at) {
        at.write(at.x, at.now);
        at.ctx.rput_signal<uint64_t>(nullptr, at.y, 0, at.y, at.now).wait();
      },
      [](const FineRound& at) {
        at.ctx.wait_signal(at.y, at.now);
        return at.fine.read(at.x) != at.now;
      });
}

TEST_P(FineLitmus, AnAtomicOperation) {
  never(
      [](const FineRound& at) {
        at.write(at.x, at.now);
        at.atomics.add(at.y, uint64_t{1}).wait();
      },
      [](const FineRound& at) {
        at.delay();
        uint64_t y = 0;
        at.atomics.load(at.y, &y).wait();
        at.ctx.progress();  // by which it learns of changes
        return at.fine.read(at.x) != at.now && y == at.now;
      });
}

// Two writes of a rank to one place take effect in their order, though one alone may be sent.
TEST_P(FineLitmus, CoherenceOfWrites) {
  never(
      [](const FineRound& at) {
        at.write(at.x, 2 * at.now);
        at.write(at.x + 1, at.now);
        at.write(at.x + 5, at.now);  // which sends the others
        at.write(at.x, 2 * at.now + 1);
      },
      [](const FineRound& at) {
        at.delay();
        const uint64_t first = strict_read(at.ctx, at.x);
        return strict_read(at.ctx, at.x) < first;
      });
}

// Nothing is written that the program does not write, however near writes are.
TEST_P(FineLitmus, WhatLiesBetweenWritesIsAnothersToWrite) {
  never(
      [](const FineRound& at) {
        at.write(at.x + 2, at.now);
        at.write(at.x + 4, at.now);
      },
      [](const FineRound& at) {
        at.write(at.x + 3, at.now);
        at.delay();
        at.ctx.fence();
        return strict_read(at.ctx, at.x + 3) != at.now;
      });
}

// The one thing that programs must mind of reads: what is kept is older than what the rank has
// found out since without an acquire. On a virtual clock it is seen each time.
TEST_P(FineLitmus, AReadMayBeOlderThanAnotherOne) {
  on_ranks(3, [](Context& ctx) {
    const auto variables = ctx.new_symmetric_array<uint64_t>(16);
    ASSERT_TRUE(variables.ok());
    const Shared x = ctx.on_rank(*variables, 2);
    const Shared y = x + 8;
    const bool keeps = !ctx.is_local(x) && ctx.state().job.observers().debug() == nullptr;
    fine_region fine(ctx);
    for (uint64_t i = 1; i <= 3; ++i) {
      ctx.barrier();
      if (ctx.rank_me() == 1) static_cast<void>(fine.read(x).get());
      if (ctx.rank_me() == 0) {
        ctx.compute_for(1e-3);
        ctx.rput(i, x);
        ctx.rput(i, y);
      }
      if (ctx.rank_me() == 1) {
        while (ctx.rget(y) != i) ctx.compute_for(1e-6);
        if (keeps && GetParam().clock == "virtual") {
          EXPECT_EQ(fine.read(x), i - 1);
        }
        ctx.progress();
        EXPECT_EQ(fine.read(x), i) << "behind an acquire";
      }
      ctx.barrier();
    }
  });
}

// What a handler says is in no order with writes of the program that it interrupts, which may not
// even have been sent. In every other round a fence makes it right.
TEST_P(FineLitmus, AnAnswerMayComeBeforeAWrite) {
  on_ranks(3, [](Context& ctx) {
    const auto variables = ctx.new_symmetric_array<uint64_t>(16);
    ASSERT_TRUE(variables.ok());
    const Shared x = ctx.on_rank(*variables, 2);
    // What rank 0 has written, and what rank 1 has read of it.
    const Shared of_0 = ctx.on_rank(*variables, 0) + 8;
    const bool holds_back = !ctx.is_local(x) && ctx.state().job.observers().debug() == nullptr;
    fine_region fine(ctx);
    for (uint64_t i = 1; i <= 6; ++i) {
      const bool is_fenced = i % 2 == 0;
      ctx.barrier();
      if (ctx.rank_me() == 0) {
        uint64_t* const here = ctx.local(of_0);
        fine.write(x, i);
        if (is_fenced) ctx.fence();
        here[0] = i;
        while (here[1] != i) {  // rank 1 has read x
          ctx.progress();
          ctx.compute_for(1e-6);
        }
      }
      if (ctx.rank_me() == 1) {
        const auto written_by_0 = [](Context& there, Shared words) { return *there.local(words); };
        while (rpc(ctx, 0, written_by_0, of_0).wait() != i) ctx.compute_for(1e-6);
        EXPECT_EQ(ctx.rget(x), holds_back && !is_fenced ? i - 1 : i);
        rpc_ff(
            ctx, 0, [](Context& there, Shared words, uint64_t now) { there.local(words)[1] = now; },
            of_0, i);
      }
      ctx.barrier();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, FineLitmus, ::testing::ValuesIn(bootstrap::fabrics_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
