// Litmus tests of docs/memory-model.md: outcomes that it forbids are never seen. Each is run on a
// real provider, and on virtual clocks where delays are drawn at random and outcomes do not depend
// on the host. Variables are on every combination of ranks in turn: own ones and others'.
//
// STRIPLINE_TEST_LITMUS_ITERATIONS (of each shape, default 200) makes it long; scripts/check.sh
// litmus does.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/context.h>
#include <stripline/loop.h>
#include <stripline/strict.h>
#include <stripline/update.h>

#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;

uint64_t iterations_of_each() { return test_size("STRIPLINE_TEST_LITMUS_ITERATIONS", 200); }

using Variable = global_ptr<uint64_t>;

/// One iteration, as one rank sees it. Variables are 0 at its start.
struct Round {
  Context& ctx;
  Variable x;
  Variable y;
  std::mt19937_64& random;

  /// Up to 20 us of computing, so that ranks meet in all orders.
  void delay() const {
    if (random() % 4 != 0) ctx.compute_for(1e-8 * static_cast<double>(random() % 2000));
  }
  void write(Variable variable, uint64_t value) const {
    delay();
    strict_write(ctx, value, variable);
  }
  uint64_t read(Variable variable) const {
    delay();
    return strict_read(ctx, variable);
  }
  /// By a loop, which may take what an earlier one has fetched.
  uint64_t read_in_loop(Variable variable) const {
    uint64_t value = 0;
    strip_for(ctx, variable, 1, {.data_cache = true},
              [&value](size_t, size_t, const uint64_t* strip) { value = *strip; });
    return value;
  }
  /// Relaxed: not waited for. `value` stays as long as the test.
  void relaxed_write(Variable variable, const uint64_t& value) const {
    delay();
    if (random() % 2 == 0) {
      ctx.rput_nbi(&value, variable, 1);
    } else {
      ctx.rput(&value, variable, 1);
    }
  }
};

constexpr uint64_t kOne = 1;

/// What ranks have read: four registers.
struct Registers {
  uint64_t r[4] = {};
};

class Litmus : public bootstrap::RanksTest {
 protected:
  using Program = std::function<void(const Round&, Registers&)>;

  static bool is_virtual() { return GetParam().clock == "virtual"; }

  /// Runs programs[r] on rank r; a register is written by one rank. How often the outcome was seen.
  static uint64_t seen(const std::vector<Program>& programs,
                       const std::function<bool(const Registers&)>& outcome) {
    const auto ranks = static_cast<rank_t>(programs.size());
    const uint64_t iterations = iterations_of_each();
    std::vector<Registers> results(iterations);
    constexpr uint64_t kLine = 8;  // variables in lines of their own
    bootstrap::ThreadGroupOptions options = group_on(GetParam(), ranks);
    options.context.segment_bytes += 2 * iterations * kLine * sizeof(uint64_t);
    on_ranks(options, [&](Context& ctx) {
      const auto xs = ctx.new_symmetric_array<uint64_t>(iterations * kLine);
      const auto ys = ctx.new_symmetric_array<uint64_t>(iterations * kLine);
      if (!xs.ok() || !ys.ok()) std::abort();
      std::mt19937_64 random(ctx.rank_me() + 1);
      for (uint64_t i = 0; i < iterations; ++i) {
        const auto line = static_cast<std::ptrdiff_t>(i * kLine);
        const Round round{ctx, ctx.on_rank(*xs, static_cast<rank_t>(i % ranks)) + line,
                          ctx.on_rank(*ys, static_cast<rank_t>(i / ranks % ranks)) + line, random};
        ctx.barrier();
        programs[ctx.rank_me()](round, results[i]);
      }
      ctx.barrier();
    });
    uint64_t times = 0;
    for (const Registers& registers : results) times += outcome(registers) ? 1 : 0;
    return times;
  }
  static void never(const std::vector<Program>& programs,
                    const std::function<bool(const Registers&)>& outcome) {
    EXPECT_EQ(seen(programs, outcome), 0U);
  }
};

TEST_P(Litmus, MessagePassing) {
  never({[](const Round& at, Registers&) {
           at.write(at.x, 1);
           at.write(at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.y);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

TEST_P(Litmus, StoreBuffering) {
  never({[](const Round& at, Registers& registers) {
           at.write(at.x, 1);
           registers.r[0] = at.read(at.y);
         },
         [](const Round& at, Registers& registers) {
           at.write(at.y, 1);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 0 && got.r[1] == 0; });
}

TEST_P(Litmus, LoadBuffering) {
  never({[](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.x);
           at.write(at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[1] = at.read(at.y);
           at.write(at.x, 1);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 1; });
}

TEST_P(Litmus, IndependentReadsOfIndependentWrites) {
  never({[](const Round& at, Registers&) { at.write(at.x, 1); },
         [](const Round& at, Registers&) { at.write(at.y, 1); },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.x);
           registers.r[1] = at.read(at.y);
         },
         [](const Round& at, Registers& registers) {
           registers.r[2] = at.read(at.y);
           registers.r[3] = at.read(at.x);
         }},
        [](const Registers& got) {
          return got.r[0] == 1 && got.r[1] == 0 && got.r[2] == 1 && got.r[3] == 0;
        });
}

TEST_P(Litmus, WriteToReadCausality) {
  never({[](const Round& at, Registers&) { at.write(at.x, 1); },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.x);
           at.write(at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[1] = at.read(at.y);
           registers.r[2] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 1 && got.r[2] == 0; });
}

TEST_P(Litmus, ReadsOfOneVariableDoNotGoBack) {
  never({[](const Round& at, Registers&) {
           at.write(at.x, 1);
           at.write(at.x, 2);
         },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.x);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[1] < got.r[0]; });
}

// --- one of two variables is strict: Chen, Figure 2.6 --------------------------------------------

TEST_P(Litmus, RelaxedThenStrict) {
  never({[](const Round& at, Registers&) {
           at.relaxed_write(at.x, kOne);
           at.write(at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.y);
           at.delay();
           at.ctx.rget(at.x, &registers.r[1], 1).wait();
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

TEST_P(Litmus, StrictThenRelaxed) {
  never({[](const Round& at, Registers&) {
           at.write(at.x, 1);
           at.relaxed_write(at.y, kOne);
         },
         [](const Round& at, Registers& registers) {
           // Not waited for: the strict read completes it.
           if (at.random() % 2 == 0) {
             at.ctx.rget_nbi(at.y, &registers.r[0], 1);
           } else {
             at.ctx.rget(at.y, &registers.r[0], 1);
           }
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

// That relaxed writes may be seen in another order; the tests above could not fail otherwise.
// Certain where time is virtual.
TEST_P(Litmus, RelaxedWritesAreSeenInAnyOrder) {
  const uint64_t times = seen({[](const Round& at, Registers&) {
                                 at.ctx.rput_nbi(&kOne, at.x, 1);
                                 at.ctx.rput(&kOne, at.y, 1).wait();
                                 at.ctx.compute_for(3e-5);
                               },
                               [](const Round& at, Registers& registers) {
                                 at.delay();
                                 registers.r[0] = at.read(at.y);
                                 registers.r[1] = at.read(at.x);
                               }},
                              [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
  if (is_virtual()) {
    EXPECT_GT(times, 0U);
  }
}

// --- loops that keep what they have fetched ------------------------------------------------------

TEST_P(Litmus, ALoopAfterAStrictReadSeesWhatCameBefore) {
  never({[](const Round& at, Registers&) {
           at.write(at.x, 1);
           at.write(at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           at.read_in_loop(at.x);
           registers.r[0] = at.read(at.y);
           registers.r[1] = at.read_in_loop(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

TEST_P(Litmus, ALoopAfterASignalSeesWhatCameBefore) {
  never({[](const Round& at, Registers&) {
           at.write(at.x, 1);
           const Variable flag = at.ctx.on_rank(at.y, 1);
           at.ctx.rput_signal<uint64_t>(nullptr, flag, 0, flag, 1).wait();
         },
         [](const Round& at, Registers& registers) {
           const Variable flag = at.ctx.on_rank(at.y, 1);
           at.read_in_loop(at.x);
           if (at.random() % 2 == 0) {
             at.ctx.wait_signal(flag, 1);
           } else {
             const std::atomic_ref<uint64_t> word(*at.ctx.local(flag));
             at.ctx.wait_until([&word] { return word.load() == 1; });
           }
           registers.r[0] = at.read_in_loop(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 0; });
}

// A get is no acquire: the loop may take what was there before. The tests above could not fail
// otherwise. Certain where time is virtual.
TEST_P(Litmus, ALoopAfterAGetMaySeeWhatWasBefore) {
  const uint64_t times = seen({[](const Round& at, Registers&) {
                                 at.write(at.x, 1);
                                 at.write(at.y, 1);
                               },
                               [](const Round& at, Registers& registers) {
                                 at.read_in_loop(at.x);
                                 at.ctx.compute_for(1e-4);
                                 registers.r[0] = at.ctx.rget(at.y);
                                 registers.r[1] = at.read_in_loop(at.x);
                               }},
                              [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
  if (is_virtual()) {
    EXPECT_GT(times, 0U);
  }
}

TEST_P(Litmus, AFenceCompletesWhatHasNoHandle) {
  never({[](const Round& at, Registers&) {
           at.delay();
           at.ctx.rput_nbi(&kOne, at.x, 1);
           if (at.random() % 2 == 0) {
             at.ctx.fence();
           } else {
             at.ctx.fence(at.x.where());
           }
           at.ctx.rput(&kOne, at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.y);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

TEST_P(Litmus, AFutureThatIsReadyIsVisible) {
  never({[](const Round& at, Registers&) {
           at.delay();
           at.ctx.rput(&kOne, at.x, 1).wait();
           at.ctx.rput_nbi(&kOne, at.y, 1);
         },
         [](const Round& at, Registers& registers) {
           registers.r[0] = at.read(at.y);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

TEST_P(Litmus, DataComeBeforeTheirSignal) {
  never({[](const Round& at, Registers&) {
           at.delay();
           const Variable data = at.ctx.on_rank(at.x, 1);
           at.ctx.rput_signal(&kOne, data, 1, at.ctx.on_rank(at.y, 1), 1).wait();
         },
         [](const Round& at, Registers& registers) {
           at.delay();
           registers.r[0] = at.ctx.wait_signal(at.ctx.on_rank(at.y, 1), 1);
           registers.r[1] = *at.ctx.local(at.ctx.on_rank(at.x, 1));
         }},
        [](const Registers& got) { return got.r[0] != 1 || got.r[1] != 1; });
}

// Writes of every kind before it are seen by reads of every kind after it.
TEST_P(Litmus, ABarrierOrdersAllAccesses) {
  never({[](const Round& at, Registers& registers) {
           at.relaxed_write(at.x, kOne);
           at.ctx.barrier();
           at.delay();
           at.ctx.rget(at.y, &registers.r[0], 1).wait();
         },
         [](const Round& at, Registers& registers) {
           at.relaxed_write(at.y, kOne);
           if (at.random() % 2 == 0) {
             at.ctx.barrier();
           } else {
             at.ctx.barrier_async().wait();
           }
           at.ctx.rget_nbi(at.x, &registers.r[1], 1);
           at.ctx.fence();
         }},
        [](const Registers& got) { return got.r[0] != 1 || got.r[1] != 1; });
}

// Both ranks use the same cell; x is on either rank in turn.
TEST_P(Litmus, TheEndOfAnEpochCompletesAllUpdates) {
  const auto program = [](rank_t rank) {
    return [rank](const Round& at, Registers& registers) {
      UpdateEpoch<uint64_t, op_add> epoch(at.ctx);
      at.delay();
      epoch.update(at.x, 1);
      epoch.end();
      at.delay();
      at.ctx.rget(at.x, &registers.r[rank], 1).wait();
    };
  };
  never({program(0), program(1)},
        [](const Registers& got) { return got.r[0] != 2 || got.r[1] != 2; });
}

TEST_P(Litmus, FlushedUpdatesComeBeforeAStrictWrite) {
  never({[](const Round& at, Registers&) {
           UpdateEpoch<uint64_t, op_add> epoch(at.ctx);
           at.delay();
           epoch.update(at.x, 1);
           epoch.flush();
           strict_write(at.ctx, 1, at.y);
         },
         [](const Round& at, Registers& registers) {
           const UpdateEpoch<uint64_t, op_add> epoch(at.ctx);
           registers.r[0] = at.read(at.y);
           registers.r[1] = at.read(at.x);
         }},
        [](const Registers& got) { return got.r[0] == 1 && got.r[1] == 0; });
}

// Between the phases of a barrier they wait for no one: the second rank arrives only after it has
// seen what the first one writes.
TEST_P(Litmus, StrictAccessesBetweenThePhasesOfABarrier) {
  never({[](const Round& at, Registers& registers) {
           const future all_here = at.ctx.barrier_async();
           at.write(at.x, 1);
           all_here.wait();
           registers.r[0] = 1;
         },
         [](const Round& at, Registers& registers) {
           while (strict_read(at.ctx, at.x) == 0) {
           }
           registers.r[1] = 1;
           at.ctx.barrier();
         }},
        [](const Registers& got) { return got.r[0] != 1 || got.r[1] != 1; });
}

// Transfers that take far longer than the access after them: its rank sees their effect when the
// strict access returns, and others when they see the strict write.
TEST_P(Litmus, LargeTransfersBeforeStrictAccesses) {
  on_ranks(2, [](Context& ctx) {
    constexpr size_t kCount = size_t{1} << 17;
    const auto data = ctx.new_symmetric_array<uint64_t>(kCount);
    const auto flag = ctx.new_symmetric_array<uint64_t>(1);
    ASSERT_TRUE(data.ok() && flag.ok());
    const Variable there = ctx.on_rank(*data, 1);
    const Variable seen = ctx.on_rank(*flag, 1);
    for (uint64_t repeat = 1; repeat <= 6; ++repeat) {
      if (ctx.rank_me() == 1) std::fill_n(ctx.local(*data), kCount, repeat);
      ctx.barrier();
      if (ctx.rank_me() == 0) {
        std::vector<uint64_t> buffer(kCount);
        if (repeat % 2 == 0) {
          ctx.rget(there, buffer.data(), kCount);
        } else {
          ctx.rget_nbi(there, buffer.data(), kCount);
        }
        strict_read(ctx, repeat % 3 == 0 ? *flag : seen);
        EXPECT_EQ(buffer.front(), repeat);
        EXPECT_EQ(buffer.back(), repeat);
        std::fill(buffer.begin(), buffer.end(), 100 + repeat);
        if (repeat % 2 == 0) {
          ctx.rput(buffer.data(), there, kCount);
        } else {
          ctx.rput_nbi(buffer.data(), there, kCount);
        }
        strict_write(ctx, repeat, seen);
      } else {
        while (strict_read(ctx, *flag) != repeat) {
        }
        EXPECT_EQ(*ctx.local(*data), 100 + repeat);
        EXPECT_EQ(ctx.local(*data)[kCount - 1], 100 + repeat);
      }
      ctx.barrier();
    }
  });
}

TEST_P(Litmus, VariablesOfEverySize) {
  on_ranks(2, [](Context& ctx) {
    const auto check = [&ctx](auto value) {
      using T = decltype(value);
      const auto mine = ctx.new_symmetric_array<T>(4);
      ASSERT_TRUE(mine.ok());
      const global_ptr<T> next = ctx.on_rank(*mine, 1 - ctx.rank_me()) + 1;
      strict_write(ctx, value, next);
      EXPECT_EQ(strict_read(ctx, next), value);
      EXPECT_EQ(strict_read(ctx, global_ptr<const T>(next)), value);
      ctx.barrier();
      EXPECT_EQ(strict_read(ctx, *mine + 1), value);
      EXPECT_EQ(strict_read(ctx, *mine), T{});
      EXPECT_EQ(strict_read(ctx, *mine + 2), T{});
      ctx.barrier();
      strict_write(ctx, T{}, *mine + 1);
      ctx.barrier();
      EXPECT_EQ(strict_read(ctx, next), T{});
      ctx.barrier();
    };
    check(uint8_t{200});
    check(int16_t{-3});
    check(2.5F);
    check(-1e300);
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Litmus, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

class StrictDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(StrictDeathTest, MisalignedVariables) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& ctx) {
                         const auto bytes = ctx.new_symmetric_array<std::byte>(64);
                         (void)strict_read(ctx, (*bytes + 3).reinterpret<uint32_t>());
                       }),
              ::testing::ExitedWithCode(2), "strict access of 4 bytes at offset");
}

}  // namespace
}  // namespace stripline
