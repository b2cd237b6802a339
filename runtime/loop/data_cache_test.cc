// What loops and nests keep is used as long as no one can tell, and no longer: for everything by
// which a rank may learn of changes, a test in which another rank makes one in between.
#include "runtime/loop/data_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/am.h>
#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/lock.h>
#include <stripline/loop.h>
#include <stripline/nest.h>
#include <stripline/strict.h>
#include <stripline/team.h>
#include <stripline/vis.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/loop/loop_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using bootstrap::networks_under_test;

constexpr size_t kCount = 3000;

const rma::KeptStatistics& statistics(Context& context) {
  return detail::LoopState::of(context.state()).cache.statistics();
}

double sum_of(Context& context, global_ptr<double> data, size_t count,
              const LoopOptions& options = {.data_cache = true}) {
  double sum = 0;
  size_t next = 0;
  strip_for(context, data, count, options, [&](size_t begin, size_t end, const double* strip) {
    EXPECT_EQ(begin, next);
    next = end;
    sum = std::accumulate(strip, strip + (end - begin), sum);
  });
  EXPECT_EQ(next, count);
  return sum;
}

double nest_sum_of(Context& context, global_ptr<double> data, size_t rows, size_t columns,
                   size_t distance, const NestOptions& options = {.data_cache = true}) {
  double sum = 0;
  const auto [i, j] = loop_indices<2>();
  for_nest(
      context, {rows, columns}, options, [&sum](const double& one) { sum += one; },
      read(data, i * distance + j));
  return sum;
}

// Two ranks, and what they share. Rank 1 owns `data`.
struct Pair {
  Context& context;
  global_ptr<double> data;     ///< of rank 1
  global_ptr<double> other;    ///< of rank 1, constant
  global_ptr<uint64_t> flag;   ///< of this rank
  global_ptr<uint64_t> there;  ///< the other rank's flag
  global_lock* lock;
  const atomic_domain<uint64_t>* atomics;
  uint32_t handler;
  const std::atomic<uint64_t>* handled;
  uint64_t turn = 0;  ///< counts from 1

  bool reads() const { return context.rank_me() == 0; }
  /// Rank 1 has raised rank 0's own flag, and what it changed before is visible.
  void raise() const { context.rput_signal<uint64_t>(nullptr, there, 0, there, turn).wait(); }
  /// Rank 1 raises its own flag, which rank 0 reads.
  void raise_own() const {
    std::atomic_ref(*context.local(flag)).store(turn, std::memory_order_release);
    context.progress();
  }
  uint64_t own_flag() const {
    return std::atomic_ref(*context.local(flag)).load(std::memory_order_acquire);
  }
};

struct Handover {
  const char* name;
  std::function<void(const Pair&)> tell;   ///< the owner, after the change
  std::function<void(const Pair&)> learn;  ///< the reader
};

// Waits for a service of the other rank with calls that the cache does not see.
void serve_until(const Pair& pair, const std::function<bool()>& condition) {
  while (!condition()) sum_of(pair.context, pair.other, 8, {.data_cache = false});
}

// Rank 0 polls a flag of rank 1.
Handover poll(const char* name, const std::function<uint64_t(const Pair&)>& read_flag) {
  return Handover{name, [](const Pair& pair) { pair.raise_own(); },
                  [read_flag](const Pair& pair) {
                    while (read_flag(pair) < pair.turn) {
                    }
                  }};
}

std::vector<Handover> acquires() {
  const auto both = [](const char* name, const std::function<void(const Pair&)>& call) {
    return Handover{name, call, call};
  };
  return {
      both("barrier", [](const Pair& pair) { pair.context.barrier(); }),
      both("barrier_async", [](const Pair& pair) { pair.context.barrier_async().wait(); }),
      both("barrier_async and is_ready",
           [](const Pair& pair) {
             const future ready = pair.context.barrier_async();
             while (!ready.is_ready()) {
             }
           }),
      both("broadcast", [](const Pair& pair) { pair.context.broadcast(pair.turn, 1); }),
      both("reduce_all",
           [](const Pair& pair) { pair.context.reduce_all(pair.turn, Context::ReduceOp::sum); }),
      both("barrier of a team", [](const Pair& pair) { team::world(pair.context).barrier(); }),
      both("allgather",
           [](const Pair& pair) {
             std::array<uint64_t, 2> turns{};
             team::world(pair.context).allgather(std::span(&pair.turn, 1), turns);
           }),
      both("split", [](const Pair& pair) { team::world(pair.context).split(0, 0); }),
      both("new_symmetric_array and delete",
           [](const Pair& pair) {
             const auto made = pair.context.new_symmetric_array<double>(10);
             pair.context.delete_symmetric_array(*made);
           }),
      {"wait_signal", [](const Pair& pair) { pair.raise(); },
       [](const Pair& pair) { pair.context.wait_signal(pair.flag, pair.turn); }},
      {"wait_until", [](const Pair& pair) { pair.raise(); },
       [](const Pair& pair) {
         pair.context.wait_until([&] { return pair.own_flag() >= pair.turn; });
       }},
      {"progress", [](const Pair& pair) { pair.raise(); },
       [](const Pair& pair) {
         while (pair.own_flag() < pair.turn) pair.context.progress();
       }},
      {"a handler",
       [](const Pair& pair) {
         pair.context.am_send(0, pair.handler, std::as_bytes(std::span(&pair.turn, 1)));
       },
       [](const Pair& pair) {
         serve_until(pair, [&] { return pair.handled->load() >= pair.turn; });
       }},
      poll("a strict access",
           [](const Pair& pair) { return strict_read(pair.context, pair.there); }),
      {"a lock",
       [](const Pair& pair) {
         pair.raise_own();
         pair.lock->unlock();
       },
       [](const Pair& pair) { const std::lock_guard hold(*pair.lock); }},
      {"a lock that was tried",
       [](const Pair& pair) {
         pair.raise_own();
         pair.lock->unlock();
       },
       [](const Pair& pair) {
         while (!pair.lock->try_lock()) {
         }
         pair.lock->unlock();
       }},
  };
}

// Rank 0 learns that operations of its own are complete, by which it may find a flag.
std::vector<Handover> completions() {
  return {
      poll("an atomic operation", [](const Pair& pair) { return pair.atomics->load(pair.there); }),
      poll("rget", [](const Pair& pair) { return pair.context.rget(pair.there); }),
      poll("rget and is_ready",
           [](const Pair& pair) {
             uint64_t value = 0;
             const future read = pair.context.rget(pair.there, &value, 1);
             while (!read.is_ready()) {
             }
             return value;
           }),
      poll("is_ready of what has become complete meanwhile",
           [](const Pair& pair) {
             uint64_t value = 0;
             const future read = pair.context.rget(pair.there, &value, 1);
             for (int i = 0; i < 20; ++i)
               sum_of(pair.context, pair.other, 8, {.data_cache = false});
             if (!read.is_ready()) read.wait();
             return value;
           }),
      poll("rget_nbi and fence",
           [](const Pair& pair) {
             uint64_t value = 0;
             pair.context.rget_nbi(pair.there, &value, 1);
             pair.context.fence();
             return value;
           }),
      poll("wait_any",
           [](const Pair& pair) {
             uint64_t value = 0;
             const future read = pair.context.rget(pair.there, &value, 1);
             wait_any(std::span(&read, 1));
             return value;
           }),
  };
}

class DataCache : public bootstrap::RanksTest {
 protected:
  void read_around(const std::vector<Handover>& handovers, bool acquire);
};

TEST_P(DataCache, EndsWithEachAcquire) { read_around(acquires(), true); }

TEST_P(DataCache, OutlastsCompletionsOfOwnOperations) { read_around(completions(), false); }

// Reads, learns of a change, and reads again: by one method after another, as programs would.
void DataCache::read_around(const std::vector<Handover>& handovers, bool acquire) {
  on_ranks(2, [&](Context& context) {
    const rank_t me = context.rank_me();
    const auto data = *context.new_symmetric_array<double>(2 * kCount);
    const auto flags = *context.new_symmetric_array<uint64_t>(16);
    auto lock = *global_lock::create(context);
    const atomic_domain<uint64_t> atomics(context);
    std::atomic<uint64_t> handled{0};
    const uint32_t handler =
        context.register_am([&handled](rank_t, std::span<const std::byte> payload) {
          uint64_t turn = 0;
          std::memcpy(&turn, payload.data(), sizeof turn);
          handled = turn;
        });
    Pair pair{.context = context,
              .data = context.on_rank(data, 1),
              .other = context.on_rank(data, 1) + kCount,
              .flag = context.on_rank(flags, me),
              .there = context.on_rank(flags, 1 - me),
              .lock = &lock,
              .atomics = &atomics,
              .handler = handler,
              .handled = &handled};
    const bool in_reach = context.is_local(1 - me);
    const auto ready = flags + 8;  // rank 0 has read, of rank 1
    double value = 1;
    for (const Handover& handover : handovers) {
      for (const bool as_nest : {false, true}) {
        ++pair.turn;
        const bool locked = std::string_view(handover.name).starts_with("a lock");
        const auto read_all = [&] {
          return as_nest ? nest_sum_of(context, pair.data, 30, kCount / 30, kCount / 30)
                         : sum_of(context, pair.data, kCount);
        };
        if (me == 1) {
          std::fill_n(context.local(pair.data), kCount, value);
          if (locked) lock.lock();
        }
        context.barrier();
        if (pair.reads()) {
          const uint64_t hits = statistics(context).hits;
          EXPECT_EQ(read_all(), value * kCount) << handover.name;
          EXPECT_EQ(read_all(), value * kCount) << handover.name;
          EXPECT_EQ(statistics(context).hits - hits, in_reach ? 0U : 1U) << handover.name;
          context.rput_signal<uint64_t>(nullptr, context.on_rank(ready, 1), 0,
                                        context.on_rank(ready, 1), pair.turn);
          handover.learn(pair);
          const double changed = acquire || in_reach ? value + 1 : value;
          EXPECT_EQ(read_all(), changed * kCount) << handover.name;
        } else {
          context.wait_signal(ready, pair.turn);
          std::fill_n(context.local(pair.data), kCount, value + 1);
          handover.tell(pair);
        }
        context.barrier();
        value += 2;
      }
    }
  });
}

struct Store {
  const char* name;
  /// Stores `value` into `count` elements, which are visible when it returns.
  std::function<void(Context&, global_ptr<double>, const std::vector<double>&)> put;
};

std::vector<Store> stores() {
  return {
      {"rput",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         context.rput(from.data(), to, from.size()).wait();
       }},
      {"rput_buffered",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         context.rput_buffered(from.data(), to, from.size()).wait();
       }},
      {"rput_nbi",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         for (size_t i = 0; i < from.size(); ++i) {
           context.rput_nbi(&from[i], to + static_cast<std::ptrdiff_t>(i), 1);
         }
         context.fence(to.where());
       }},
      {"rput_strided",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         constexpr auto kStep = static_cast<std::ptrdiff_t>(sizeof(double));
         rput_strided<2>(context, from.data(), {kStep, 2 * kStep}, to, {kStep, 2 * kStep},
                         {2, from.size() / 2})
             .wait();
       }},
      {"strip_write",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         strip_write(context, to, from.size(), {}, [&](size_t begin, size_t end, double* strip) {
           std::copy(from.begin() + static_cast<std::ptrdiff_t>(begin),
                     from.begin() + static_cast<std::ptrdiff_t>(end), strip);
         });
       }},
      {"for_nest",
       [](Context& context, global_ptr<double> to, const std::vector<double>& from) {
         const auto [i] = loop_indices<1>();
         for_nest(
             context, {from.size()},
             [&](const std::array<size_t, 1>& at, double& out) { out = from[at[0]]; },
             write(to, i));
       }},
  };
}

class DataCacheOnNetworks : public DataCache {};

// Stores that are known to be complete are no synchronisation by themselves where they wait for
// nothing but themselves; what they overlap must go all the same.
TEST_P(DataCacheOnNetworks, OwnStoresAreSeen) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(4 * kCount);
    std::vector<double> expected(4 * kCount);
    for (size_t i = 0; i < expected.size(); ++i) {
      expected[i] = context.local(data)[i] = static_cast<double>(i);
    }
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      const auto check = [&](const char* name, size_t begin, size_t count) {
        const double sum =
            std::accumulate(expected.begin() + static_cast<std::ptrdiff_t>(begin),
                            expected.begin() + static_cast<std::ptrdiff_t>(begin + count), 0.0);
        EXPECT_EQ(sum_of(context, there + static_cast<std::ptrdiff_t>(begin), count), sum) << name;
        const NestOptions options{.data_cache = true};
        EXPECT_EQ(nest_sum_of(context, there + static_cast<std::ptrdiff_t>(begin), count / 10, 10,
                              10, options),
                  sum)
            << name;
      };
      double salt = 0.5;
      // Before, at the beginning, inside, at the end, behind: of what is kept.
      for (const size_t place :
           {kCount - 20, kCount - 10, kCount + 500, 2 * kCount - 10, 2 * kCount}) {
        for (const Store& store : stores()) {
          check(store.name, kCount, kCount);
          const std::vector<double> values(20, salt += 1);
          store.put(context, there + static_cast<std::ptrdiff_t>(place), values);
          std::copy(values.begin(), values.end(),
                    expected.begin() + static_cast<std::ptrdiff_t>(place));
          check(store.name, kCount, kCount);
        }
      }
    }
    context.barrier();
  });
}

// Loops do not wait for other operations, so these cases tell stores from synchronisations.
TEST_P(DataCacheOnNetworks, StoresElsewhereLeaveWhatIsKept) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(4 * kCount);
    std::fill_n(context.local(data), 4 * kCount, 1.0);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      sum_of(context, there + kCount, kCount);
      const uint64_t hits = statistics(context).hits;
      const uint64_t overwritten = statistics(context).overwritten;
      const auto set = [](size_t begin, size_t end, double* strip) {
        std::fill_n(strip, end - begin, 2.0);
      };
      strip_write(context, there + 2 * kCount, kCount, {}, set);
      strip_write(context, there, kCount, {}, set);
      EXPECT_EQ(sum_of(context, there + kCount, kCount), 1.0 * kCount);
      EXPECT_EQ(statistics(context).hits, hits + 1);
      EXPECT_EQ(statistics(context).overwritten, overwritten);
      strip_write(context, there + 2 * kCount - 1, 1, {}, set);
      EXPECT_EQ(statistics(context).overwritten, overwritten + 1);
      EXPECT_EQ(sum_of(context, there + kCount, kCount), 1.0 * kCount + 1);
    }
    context.barrier();
  });
}

// A put that was in flight when the loop read may have come later than the read.
TEST_P(DataCacheOnNetworks, PutsThatWereInFlightAreSeenOnceTheyAreComplete) {
  const bootstrap::WithoutDebugMode conflicts;  // reading what is being put is one
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(1 << 17);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      std::vector<double> values(1 << 17);
      for (int round = 1; round < 10; ++round) {
        std::ranges::fill(values, round);
        const future put = context.rput(values.data(), there, values.size());
        sum_of(context, there + (values.size() - 100), 100);
        put.wait();
        EXPECT_EQ(sum_of(context, there + (values.size() - 100), 100), 100.0 * round);
        context.rput_nbi(values.data() + 1, there, 50);
        const double later = round + 0.5;
        context.rput_nbi(&later, there + 10, 1);
        sum_of(context, there, 100);
        context.fence();
        EXPECT_EQ(sum_of(context, there, 100), 100.0 * round + 0.5);
      }
    }
    context.barrier();
  });
}

// A loop in the body reads what the loop writes, before and after it is there.
TEST_P(DataCacheOnNetworks, WhatABodyReadsOfWhatItsLoopWritesIsNotKept) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      for (const plan::StripCandidate candidate :
           {plan::StripCandidate{plan::Schedule::vectorised, 0, 1},
            plan::StripCandidate{plan::Schedule::pipelined, 4096, 3}}) {
        double value = candidate.window;
        strip_write(context, there, kCount, {.force = candidate},
                    [&](size_t begin, size_t end, double* strip) {
                      std::fill_n(strip, end - begin, value);
                      sum_of(context, there, kCount);
                    });
        EXPECT_EQ(sum_of(context, there, kCount), value * kCount);
        value += 10;
        const auto [i, j] = loop_indices<2>();
        for_nest(
            context, {kCount / 100, size_t{100}},
            {.force = plan::NestCandidate{candidate.schedule, {0, 2}, candidate.window}},
            [&](const std::array<size_t, 2>& at, double& out) {
              if (at[1] == 0) sum_of(context, there, kCount);
              out = value;
            },
            write(there, i * 100 + j));
        EXPECT_EQ(sum_of(context, there, kCount), value * kCount);
      }
    }
    context.barrier();
  });
}

// Every other element leaves packed, and is there when the owner serves it; gets do not wait for
// that. What the last step reads of those before is not what is there in the end.
TEST_P(DataCacheOnNetworks, WhatABodyReadsBeforePackedTilesArriveIsNotKept) {
  on_ranks(2, [&](Context& context) {
    constexpr size_t kRows = 12;
    constexpr size_t kColumns = 200;
    constexpr size_t kStep = 3;
    constexpr size_t kBefore = (kRows - kStep) * 2 * kColumns;
    const auto data = *context.new_symmetric_array<double>(2 * kRows * kColumns);
    context.barrier();
    if (context.rank_me() == 1) {
      context.compute_for(2e-3);
    } else {
      const auto there = context.on_rank(data, 1);
      const auto [i, j] = loop_indices<2>();
      for_nest(
          context, {kRows, kColumns},
          {.force = plan::NestCandidate{plan::Schedule::pipelined, {0, kStep}, 3}},
          [&](const std::array<size_t, 2>& at, double& out) {
            if (at[0] == kRows - 1 && at[1] == 0) sum_of(context, there, kBefore);
            out = 1;
          },
          write(there, i * (2 * kColumns) + j * 2));
      EXPECT_EQ(sum_of(context, there, kBefore), 0.5 * kBefore);
    }
    context.barrier();
  });
}

// What was sent before a body throws comes to its place after other loops in the body have read it.
TEST_P(DataCacheOnNetworks, WhatABodyReadBeforeItThrewIsNotKept) {
  on_ranks(2, [&](Context& context) {
    constexpr size_t kStrip = 1 << 16;
    constexpr size_t kEnd = 100;
    const auto data = *context.new_symmetric_array<double>(2 * kStrip);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      const auto last = there + static_cast<std::ptrdiff_t>(kStrip - kEnd);  // of the first strip
      EXPECT_THROW(strip_write(context, there, 2 * kStrip,
                               {.force = plan::StripCandidate{plan::Schedule::pipelined,
                                                              kStrip * sizeof(double), 2}},
                               [&](size_t begin, size_t end, double* strip) {
                                 std::fill_n(strip, end - begin, 1.0);
                                 if (begin < kStrip) return;
                                 sum_of(context, last, kEnd);
                                 throw std::runtime_error("enough");
                               }),
                   std::runtime_error);
      const uint64_t hits = statistics(context).hits;
      EXPECT_EQ(sum_of(context, last, kEnd), 1.0 * kEnd);
      EXPECT_EQ(statistics(context).hits, hits);
    }
    context.barrier();
    // Packed tiles, which the owner unpacks later.
    constexpr size_t kRows = 12;
    constexpr size_t kColumns = 200;
    constexpr size_t kStep = 3;
    constexpr size_t kBefore = (kRows - kStep) * 2 * kColumns;
    if (context.rank_me() == 1) {
      std::fill_n(context.local(data), 2 * kRows * kColumns, 0.0);
    }
    context.barrier();
    if (context.rank_me() == 1) {
      context.compute_for(2e-3);
    } else {
      const auto there = context.on_rank(data, 1);
      const auto [i, j] = loop_indices<2>();
      EXPECT_THROW(for_nest(
                       context, {kRows, kColumns},
                       {.force = plan::NestCandidate{plan::Schedule::pipelined, {0, kStep}, 3}},
                       [&](const std::array<size_t, 2>& at, double& out) {
                         out = 1;
                         if (at[0] < kRows - 1) return;
                         sum_of(context, there, kBefore);
                         throw std::runtime_error("enough");
                       },
                       write(there, i * (2 * kColumns) + j * 2)),
                   std::runtime_error);
      EXPECT_EQ(sum_of(context, there, kBefore), 0.5 * kBefore);
    }
    context.barrier();
  });
}

TEST_P(DataCacheOnNetworks, ServesWhatIsContainedUnderEveryPlan) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount + 8);
    for (size_t i = 0; i < kCount + 8; ++i) {
      context.local(data)[i] = static_cast<double>(i);
    }
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      for (const plan::StripCandidate candidate :
           {plan::StripCandidate{plan::Schedule::vectorised, 0, 1},
            plan::StripCandidate{plan::Schedule::vectorised, 1000, 1},
            plan::StripCandidate{plan::Schedule::all_issued, 4096, 1},
            plan::StripCandidate{plan::Schedule::pipelined, 999, 3}}) {
        for (const size_t halo : {0, 8}) {
          context.barrier();
          uint64_t hits = statistics(context).hits;
          sum_of(context, there, kCount, {.halo = halo, .data_cache = true, .force = candidate});
          EXPECT_EQ(statistics(context).hits, hits);
          for (const auto& [begin, count] :
               {std::pair<size_t, size_t>{0, kCount}, {1, 17}, {kCount - 5, 5}}) {
            const LoopPlan plan = strip_for(
                context, there + static_cast<std::ptrdiff_t>(begin), count,
                {.halo = halo, .data_cache = true},
                [&, begin = begin, count = count](size_t first, size_t last, const double* strip) {
                  EXPECT_EQ(first, 0U);
                  EXPECT_EQ(last, count);
                  for (size_t i = 0; i < count + halo; ++i) {
                    EXPECT_EQ(strip[i], static_cast<double>(begin + i));
                  }
                });
            EXPECT_EQ(plan.reason, plan::Reason::own_memory);
            EXPECT_EQ(statistics(context).hits, ++hits);
          }
          // One more than there is; and not for loops that do not want it.
          sum_of(context, there, kCount + halo + 1 > kCount + 8 ? kCount : kCount + halo + 1,
                 {.halo = halo == 0 ? 0U : 8U, .data_cache = false});
          sum_of(context, there, kCount);
          EXPECT_EQ(statistics(context).hits, ++hits);
        }
      }
    } else {
      for (int i = 0; i < 8; ++i) context.barrier();
    }
    context.barrier();
  });
}

TEST_P(DataCacheOnNetworks, BlocksThatAreKeptNeedNoTransferBesideOthersThatDo) {
  on_ranks(3, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      context.local(data)[i] = static_cast<double>(context.rank_me() * kCount + i);
    }
    context.barrier();
    const rank_t next = (context.rank_me() + 1) % 3;
    sum_of(context, context.on_rank(data, next), kCount);
    std::vector<LoopBlock<const double>> blocks;
    std::vector<double> place(500);
    for (rank_t rank = 0; rank < 3; ++rank) {
      blocks.push_back({context.on_rank(data, rank) + 10, 1000});
      blocks.push_back(
          {context.on_rank(data, rank) + 1500, 500, rank == next ? place.data() : nullptr});
    }
    std::vector<size_t> done(blocks.size());
    const uint64_t hits = statistics(context).hits;
    for (int round = 0; round < 2; ++round) {
      std::ranges::fill(done, 0);
      strip_for_blocks(
          context, std::span<const LoopBlock<const double>>(blocks), {.data_cache = true}, [] {},
          [&](size_t block, size_t begin, size_t end, const double* strip) {
            EXPECT_EQ(done[block], begin);
            done[block] = end;
            const size_t first = block / 2 * kCount + (block % 2 == 0 ? 10 : 1500);
            for (size_t i = begin; i < end; ++i) {
              EXPECT_EQ(strip[i - begin], static_cast<double>(first + i));
            }
            if (blocks[block].place != nullptr) {
              EXPECT_EQ(strip, place.data());
            }
          });
      for (size_t b = 0; b < blocks.size(); ++b) EXPECT_EQ(done[b], blocks[b].count);
      EXPECT_EQ(statistics(context).hits - hits, round == 0 ? 2U : 2U + 4U);
    }
  });
}

// A row, a column and a block of a matrix, kept by a nest, serve nests that want a part of them.
TEST_P(DataCacheOnNetworks, NestsServeNestsByTheirShapes) {
  on_ranks(2, [&](Context& context) {
    constexpr size_t kRows = 20;
    constexpr size_t kColumns = 30;
    const auto data = *context.new_symmetric_array<double>(kRows * kColumns);
    for (size_t i = 0; i < kRows * kColumns; ++i)
      context.local(data)[i] = static_cast<double>(i * i);
    context.barrier();
    if (context.rank_me() == 0) {
      const auto there = context.on_rank(data, 1);
      const auto [i, j] = loop_indices<2>();
      const auto check = [&, i = i, j = j](size_t row, size_t column, size_t rows, size_t columns,
                                           int64_t down, int64_t right, uint64_t served) {
        const uint64_t hits = statistics(context).hits;
        const auto first = static_cast<int64_t>(row * kColumns + column);
        for_nest(
            context, {rows, columns}, {.data_cache = true},
            [&](const std::array<size_t, 2>& at, const double& one) {
              const auto k = static_cast<double>(
                  first + static_cast<int64_t>(at[0]) * down * static_cast<int64_t>(kColumns) +
                  static_cast<int64_t>(at[1]) * right);
              EXPECT_EQ(one, k * k);
            },
            read(there, i * (down * static_cast<int64_t>(kColumns)) + j * right + first));
        EXPECT_EQ(statistics(context).hits - hits, served)
            << row << " " << column << " " << rows << " " << columns;
      };
      check(3, 5, 10, 8, 1, 1, 0);
      check(3, 5, 10, 8, 1, 1, 1);
      check(4, 6, 9, 7, 1, 1, 1);
      check(12, 12, 10, 8, -1, -1, 1);  // backwards
      check(3, 5, 5, 4, 2, 2, 1);       // every other
      check(12, 7, 1, 3, 1, 1, 1);
      check(3, 5, 10, 9, 1, 1, 0);  // a column more, which replaces nothing
      check(3, 5, 11, 8, 1, 1, 0);
      check(2, 5, 2, 8, 1, 1, 0);
      context.barrier();
      check(3, 5, 5, 4, 2, 2, 0);
      check(3, 5, 3, 5, 2, 2, 0);  // beyond the end of a row, but not of all
      check(3, 6, 3, 3, 2, 2, 0);
      context.barrier();
      // Beside accesses that are not kept, and where the nest writes what is.
      nest_sum_of(context, there, 1, kColumns, kColumns);
      std::vector<double> sums;
      const uint64_t hits = statistics(context).hits;
      for_nest(
          context, {kRows, kColumns}, {.data_cache = true},
          [&](const double& a, const double& x) { sums.push_back(a + x); },
          read(there, i * kColumns + j), read(there, j));
      EXPECT_EQ(statistics(context).hits - hits, 1U);
      for (size_t k = 0; k < sums.size(); ++k) {
        const size_t c = k % kColumns;
        EXPECT_EQ(sums[k], static_cast<double>(k * k + c * c));
      }
      for_nest(
          context, {size_t{1}, kColumns}, {.data_cache = true},
          [](const double& x, double& y) { y = x + 1; }, read(there, j), write(there, j));
      EXPECT_EQ(nest_sum_of(context, there, 1, 3, kColumns), 1 + 2 + 5);
      nest_sum_of(context, there, 1, kColumns, kColumns);
      // Each iteration reads what the one before has written.
      for_nest(
          context, {size_t{1}, kColumns - 1}, {.data_cache = true},
          [](const double& x, double& y) { y = x + 1; }, read(there, j), write(there, j + 1));
      EXPECT_EQ(nest_sum_of(context, there, 1, 4, kColumns), 1 + 2 + 3 + 4);
    } else {
      context.barrier();
      context.barrier();
    }
    context.barrier();
  });
}

TEST_P(DataCacheOnNetworks, LoopsInBodiesDoNotFindWhatIsInFlight) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount);
    std::fill_n(context.local(data), kCount, 1.0);
    context.barrier();
    const auto there = context.on_rank(data, 1 - context.rank_me());
    for (int round = 0; round < 2; ++round) {
      strip_for(
          context, there, kCount,
          {.data_cache = true, .force = plan::StripCandidate{plan::Schedule::pipelined, 4096, 1}},
          [&](size_t, size_t, const double*) {
            EXPECT_EQ(sum_of(context, there, kCount), 1.0 * kCount);
          });
      context.barrier();
    }
  });
}

TEST_P(DataCacheOnNetworks, LoopsStayWithinTheBudget) {
  bootstrap::ThreadGroupOptions options = group_on(GetParam(), 2);
  constexpr size_t kBudget = 20000;
  options.context.loop_buffer_bytes = kBudget;
  on_ranks(options, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount);
    std::fill_n(context.local(data), kCount, 1.0);
    context.barrier();
    const auto there = context.on_rank(data, 1 - context.rank_me());
    const detail::BufferPool& pool = detail::LoopState::of(context.state()).pool;
    // More than the budget: in pieces, and not kept.
    EXPECT_EQ(sum_of(context, there, kCount), 1.0 * kCount);
    EXPECT_EQ(nest_sum_of(context, there, 30, 100, 100), 1.0 * kCount);
    EXPECT_EQ(statistics(context).kept, 0U);
    // Tiny strips, of which the buffers are mostly alignment.
    for (const plan::Schedule schedule : {plan::Schedule::all_issued, plan::Schedule::pipelined}) {
      EXPECT_EQ(sum_of(context, there, 500,
                       {.data_cache = false, .force = plan::StripCandidate{schedule, 8, 400}}),
                500.0);
      EXPECT_EQ(
          nest_sum_of(context, there, 500, 1, 1,
                      {.data_cache = false, .force = plan::NestCandidate{schedule, {0, 1}, 400}}),
          500.0);
    }
    // Loops in bodies have what is left.
    double sum = 0;
    strip_for(context, there, kCount, {.data_cache = true},
              [&](size_t begin, size_t end, const double*) {
                sum += sum_of(context, there, 300) * static_cast<double>(end - begin);
                sum += nest_sum_of(context, there, 3, 100, 100) * static_cast<double>(end - begin);
              });
    EXPECT_EQ(sum, 2.0 * 300 * kCount);
    EXPECT_GT(pool.statistics().most_bytes, 0U);
    // Blocks that are kept make room for each other.
    for (size_t round = 0; round < 3; ++round) {
      for (size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(sum_of(context, there + static_cast<std::ptrdiff_t>(k * 500), 900), 900.0);
      }
    }
    EXPECT_GT(pool.statistics().evicted_regions, 0U);
    EXPECT_LE(pool.bytes(), kBudget);
    // One granule is more than all.
    EXPECT_EQ(sum_of(context, there, kCount, {.granule = kCount}), 1.0 * kCount);
    EXPECT_LE(pool.bytes(), kBudget);
  });
}

// All ranks draw the same numbers, so that each knows what every word holds. Between two barriers
// at most one rank stores, into its own memory or others', and then only that one reads.
class RandomProgram {
 public:
  RandomProgram(Context& context, unsigned seed)
      : context_(context),
        random_(seed),
        words_(*context.new_symmetric_array<double>(kWords)),
        expected_(context.rank_n(), std::vector<double>(kWords)) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const uint64_t what = below(24);
      // Mostly as before, so that something is found again.
      if (below(8) == 0) reader_ = static_cast<rank_t>(below(context_.rank_n()));
      if (below(4) == 0) owner_ = static_cast<rank_t>(below(context_.rank_n()));
      const rank_t actor = writer_.value_or(reader_);
      const rank_t owner = owner_;
      if (what == 0) {
        context_.barrier();
        writer_.reset();
      } else if (what <= 3) {
        store(actor, owner);
      } else if (what <= 13) {
        read_loop(actor, owner);
      } else {
        read_nest(actor, owner);
      }
    }
    context_.barrier();
  }

 private:
  static constexpr size_t kWords = 600;

  uint64_t below(uint64_t n) { return random_() % n; }
  bool is(rank_t actor) const { return context_.rank_me() == actor; }
  global_ptr<double> at(rank_t owner, size_t word) const {
    return context_.on_rank(words_, owner) + static_cast<std::ptrdiff_t>(word);
  }

  void store(rank_t actor, rank_t owner) {
    if (!writer_) context_.barrier();  // others have read
    writer_ = actor;
    const size_t begin = below(kWords - 1);
    const size_t count = 1 + below(std::min<size_t>(kWords - begin, 60));
    const std::vector<double> values(count, value_ += 1);
    std::ranges::copy(values, expected_[owner].begin() + static_cast<std::ptrdiff_t>(begin));
    const size_t which = below(stores().size());
    if (!is(actor)) return;
    if (owner == actor) {
      std::ranges::copy(values, context_.local(at(owner, begin)));
    } else if (count % 2 == 0 || which != 3) {  // rows of two
      stores()[which].put(context_, at(owner, begin), values);
    } else {
      stores()[0].put(context_, at(owner, begin), values);
    }
  }

  void read_loop(rank_t actor, rank_t owner) {
    const size_t begin = below(4) == 0 ? 0 : below(kWords);
    const size_t count = begin == 0 ? kWords - 5 : below(kWords - begin) / (1 + below(8)) + 1;
    const size_t halo = below(std::min<size_t>(kWords - begin - count, 5) + 1);
    LoopOptions options{.granule = 1 + below(3), .halo = halo, .data_cache = below(5) > 0};
    if (below(2) == 0) {
      options.force = {static_cast<plan::Schedule>(below(3)), 8 * (1 + below(200)),
                       static_cast<uint32_t>(1 + below(4))};
    }
    if (!is(actor)) return;
    size_t next = 0;
    strip_for(context_, at(owner, begin), count, options,
              [&](size_t first, size_t last, const double* strip) {
                ASSERT_EQ(first, next);
                next = last;
                for (size_t i = first; i < last + halo; ++i) {
                  ASSERT_EQ(strip[i - first], expected_[owner][begin + i]) << begin + i;
                }
              });
    ASSERT_EQ(next, count);
  }

  // Two references, into the same memory or that of two ranks.
  void read_nest(rank_t actor, rank_t owner) {
    const auto second = static_cast<rank_t>(below(context_.rank_n()));
    const size_t rows = 1 + below(6);
    const size_t columns = 1 + below(12);
    const auto draw = [&](int64_t most) {
      return static_cast<int64_t>(below(static_cast<uint64_t>(2 * most + 1))) - most;
    };
    const std::array<int64_t, 4> strides{draw(24), draw(2), draw(24), draw(2)};
    const auto first_of = [&](int64_t row, int64_t column) {
      const int64_t a = row * static_cast<int64_t>(rows - 1);
      const int64_t b = column * static_cast<int64_t>(columns - 1);
      const int64_t low = std::min<int64_t>(a, 0) + std::min<int64_t>(b, 0);
      const int64_t high = std::max<int64_t>(a, 0) + std::max<int64_t>(b, 0);
      // Few places, so that nests meet.
      const auto room = static_cast<uint64_t>(static_cast<int64_t>(kWords) - high + low);
      return static_cast<int64_t>(below(room) / 50 * 50) - low;
    };
    const int64_t one_first = first_of(strides[0], strides[1]);
    const int64_t two_first = first_of(strides[2], strides[3]);
    NestOptions options{.data_cache = below(5) > 0};
    if (below(3) > 0) {
      options.force = plan::NestCandidate{static_cast<plan::Schedule>(below(3)),
                                          {static_cast<uint32_t>(below(2)), 1 + below(6)},
                                          static_cast<uint32_t>(1 + below(4))};
    }
    if (!is(actor)) return;
    size_t iterations = 0;
    const auto [i, j] = loop_indices<2>();
    for_nest(
        context_, {rows, columns}, options,
        [&](const std::array<size_t, 2>& at, const double& one, const double& two) {
          const auto place = [&](int64_t first, int64_t row, int64_t column) {
            return static_cast<size_t>(first + row * static_cast<int64_t>(at[0]) +
                                       column * static_cast<int64_t>(at[1]));
          };
          ++iterations;
          ASSERT_EQ(one, expected_[owner][place(one_first, strides[0], strides[1])]);
          ASSERT_EQ(two, expected_[second][place(two_first, strides[2], strides[3])]);
        },
        read(at(owner, 0), i * strides[0] + j * strides[1] + one_first),
        read(at(second, 0), i * strides[2] + j * strides[3] + two_first));
    ASSERT_EQ(iterations, rows * columns);
  }

  Context& context_;
  std::mt19937 random_;
  global_ptr<double> words_;
  std::vector<std::vector<double>> expected_;  // by rank
  std::optional<rank_t> writer_;
  rank_t reader_ = 0;
  rank_t owner_ = 1;
  double value_ = 0;
};

TEST_P(DataCache, RandomProgramsReadWhatPlainReadsWould) {
  uint64_t hits = 0;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    bootstrap::ThreadGroupOptions options = group_on(GetParam(), 3);
    options.context.loop_buffer_bytes = size_t{4096} << seed;
    on_ranks(options, [&](Context& context) {
      RandomProgram(context, seed).run(400);
      const uint64_t of_all = context.reduce_all(statistics(context).hits, Context::ReduceOp::sum);
      if (context.rank_me() == 0) hits += of_all;
    });
  }
  if (GetParam().same_node == "network") {
    EXPECT_GT(hits, 100U);
  }
}

// Contiguous steps follow one another in one buffer, whatever the plan.
TEST_P(DataCacheOnNetworks, NestsOfSeveralStepsAreKept) {
  on_ranks(2, [&](Context& context) {
    const auto data = *context.new_symmetric_array<double>(kCount);
    for (size_t i = 0; i < kCount; ++i) context.local(data)[i] = static_cast<double>(i);
    const auto there = context.on_rank(data, 1);
    for (const plan::NestCandidate& candidate :
         {plan::NestCandidate{plan::Schedule::vectorised, {0, 3}, 1},
          plan::NestCandidate{plan::Schedule::all_issued, {0, 7}, 1},
          plan::NestCandidate{plan::Schedule::pipelined, {0, 4}, 2},
          plan::NestCandidate{plan::Schedule::pipelined, {1, 20}, 3}}) {
      context.barrier();
      if (context.rank_me() != 0) continue;
      const double sum = static_cast<double>(kCount) * (kCount - 1) / 2;
      const uint64_t hits = statistics(context).hits;
      EXPECT_EQ(nest_sum_of(context, there, 30, 100, 100, {.data_cache = true, .force = candidate}),
                sum);
      EXPECT_EQ(sum_of(context, there, kCount), sum);
      EXPECT_EQ(statistics(context).hits, hits + 1) << candidate.cut.loop << candidate.cut.granule;
    }
    context.barrier();
  });
}

// Steps that share elements and leave others out may fetch as many bytes as lie between the ends.
TEST_P(DataCacheOnNetworks, StepsWithGapsAreNotKeptAsOnePiece) {
  on_ranks(2, [&](Context& context) {
    struct Case {
      size_t rows, columns, down, right, between;  // the last: elements from end to end
    };
    const auto data = *context.new_symmetric_array<double>(64);
    for (size_t i = 0; i < 64; ++i) context.local(data)[i] = static_cast<double>(i + 1);
    const auto there = context.on_rank(data, 1);
    const auto [i, j] = loop_indices<2>();
    for (const Case& one : {Case{3, 3, 2, 2, 9}, Case{5, 3, 2, 3, 15}}) {
      for (const plan::Schedule schedule :
           {plan::Schedule::vectorised, plan::Schedule::all_issued, plan::Schedule::pipelined}) {
        context.barrier();
        if (context.rank_me() != 0) continue;
        for_nest(
            context, {one.rows, one.columns},
            {.data_cache = true, .force = plan::NestCandidate{schedule, {1, 1}, 2}},
            [&](const std::array<size_t, 2>& at, const double& element) {
              EXPECT_EQ(element, static_cast<double>(at[0] * one.down + at[1] * one.right + 1));
            },
            read(there, i * one.down + j * one.right));
        const auto all = static_cast<double>(one.between);
        EXPECT_EQ(sum_of(context, there, one.between), all * (all + 1) / 2);
      }
    }
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(All, DataCache, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());
INSTANTIATE_TEST_SUITE_P(All, DataCacheOnNetworks, ::testing::ValuesIn(networks_under_test()),
                         bootstrap::FabricLabel());

}  // namespace
}  // namespace stripline
