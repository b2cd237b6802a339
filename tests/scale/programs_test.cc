// Small programs of the kinds that are hard on a clock: flags that are polled for, tasks taken from
// a shared counter, everybody to and from one, a contended lock. On the virtual clock, with 2 to 64
// ranks, they end, their results are right, and their times are what the physics
// (docs/emulated-fabric.md) says, by formulas or bounds derived beside them. Where ranks share
// memory or a provider of this host, the same programs give the same results; their times are
// their own.
//
// x, wire, round_trip() and so on: costs.h. On one NIC a rank: all nodes are different.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/context.h>
#include <stripline/lock.h>
#include <stripline/team.h>

#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/fabric/emulated/profile.h"
#include "tests/scale/costs.h"

namespace stripline {
namespace {

using scale::Costs;

constexpr const char* kNetwork = "emulated:opteron-vapi,compute=none,jitter=off";
// Rounding of sums of a hundred milliseconds at most.
constexpr double kRounding_s = 1e-13;

struct Place {
  const char* label;
  const char* fabric;
  const char* clock;
  const char* same_node;
  rank_t ranks;
};

void PrintTo(const Place& place, std::ostream* out) { *out << place.label << place.ranks; }

class Programs : public testing::TestWithParam<Place> {
 protected:
  static rank_t P() { return GetParam().ranks; }
  static bool is_virtual() { return std::string(GetParam().clock) == "virtual"; }
  static const fabric::Profile& profile() {
    static const fabric::Profile network = fabric::resolve_profile(kNetwork)->profile;
    return network;
  }

  static void on_ranks(const std::function<void(Context&)>& body) {
    bootstrap::ThreadGroupOptions options;
    options.ranks = P();
    options.context.fabric = GetParam().fabric;
    options.context.clock = GetParam().clock;
    options.context.same_node = GetParam().same_node;
    options.context.segment_bytes = size_t{8} << 20;
    bootstrap::on_ranks(options, body);
  }

  /// When all ranks go on, with no message in flight between them: the same time on the virtual
  /// clock.
  static double start_together(Context& ctx) {
    ctx.barrier();
    if (!is_virtual()) return ctx.now_s();
    const double start_s = ctx.broadcast(ctx.now_s() + 1e-3, 0);
    ctx.wait_until([] { return false; }, start_s - ctx.now_s());
    return start_s;
  }

  /// Ranks that are done are still until all are: what they sent would have to be served by those
  /// that are not.
  static void end_together(Context& ctx, double start_s) {
    if (is_virtual()) ctx.wait_until([] { return false; }, start_s + 1 - ctx.now_s());
    ctx.barrier();
  }

  template <typename T>
  static global_ptr<T> array(Context& ctx, size_t count) {
    auto made = ctx.new_symmetric_array<T>(count);
    EXPECT_TRUE(made.ok());
    return *made;
  }

  static uint64_t read(const Context& ctx, global_ptr<uint64_t> flag) {
    return std::atomic_ref(*ctx.local(flag)).load(std::memory_order_acquire);
  }
};

// Too long to travel in a message of the runtime, so that it is one put of the network.
constexpr size_t kBlock = 16384;

// Rank 0 computes and then puts a block with a flag to ranks 1, 2, ...; ranks 1 and 3 poll for the
// flag, the others wait for it. A poll costs what the profile says and no more, so that the clock
// goes on for the ranks that poll and, which is what a conservative order could get wrong, for the
// one they wait for.
//
// Rank 0's puts leave x apart (o <= x): the flag of rank i is there at
//   start + W + o + (i-1) x + L + S G,
// which a rank that waits sees at once. One that polls reads memory between its calls: a call lets
// happen what comes before it began, so that the flag shows after the first poll that begins when
// it is there, less than two polls later.
TEST_P(Programs, FlagPolling) {
  constexpr double kWork_s = 20e-6;
  on_ranks([](Context& ctx) {
    const auto block = array<std::byte>(ctx, kBlock);
    const auto flag = array<uint64_t>(ctx, 1);
    const std::vector<std::byte> data(kBlock, std::byte{42});
    const rank_t me = ctx.rank_me();
    const double start_s = start_together(ctx);
    if (me == 0) {
      ctx.compute_for(kWork_s);
      for (rank_t target = 1; target < P(); ++target) {
        ctx.rput_signal(data.data(), ctx.on_rank(block, target), kBlock, ctx.on_rank(flag, target),
                        1);
      }
    } else {
      const bool polls = me == 1 || me == 3;
      uint64_t times = 0;
      if (polls) {
        for (; read(ctx, flag) == 0; ++times) ctx.progress();
      } else {
        ctx.wait_until([&] { return read(ctx, flag) != 0; });
      }
      const double seen_s = ctx.now_s();
      EXPECT_TRUE(std::equal(data.begin(), data.end(), ctx.local(block)));
      if (is_virtual()) {
        const Costs c(profile().put, kBlock);
        const double there_s = start_s + kWork_s + c.one_way() + (me - 1) * c.x;
        if (polls) {
          EXPECT_NEAR(seen_s - start_s, static_cast<double>(times) * profile().poll_s, kRounding_s);
          EXPECT_GE(seen_s, there_s - kRounding_s);
          EXPECT_LE(seen_s, there_s + 2 * profile().poll_s + kRounding_s);
        } else {
          EXPECT_NEAR(seen_s, there_s, kRounding_s);
        }
      }
    }
    end_together(ctx, start_s);
  });
}

// Tasks of different lengths that ranks take from a counter until there are no more.
//
// A fetch-and-add takes a round trip, and waits for those of the other ranks at most, each of which
// has one in flight: a in [a_min, a_max], a_max = a_min + (P-1) x. All ranks take n + P numbers and
// do all tasks, so that the last is done no earlier than the mean
//   (sum w + (n+P) a_min) / P.
// Until the rank that is done last asked for its last task, no rank was without work; then come
// that task and the answer that there is no more (Graham 1969, section 2, on list scheduling):
//   at most (sum w + n a_max) / P + max w + 2 a_max.
TEST_P(Programs, WorkStealing) {
  const uint64_t tasks = uint64_t{8} * P();
  const auto length_s = [](uint64_t task) { return static_cast<double>(1 + task * 7 % 13) * 2e-5; };
  std::vector<double> times(P());
  std::vector<uint64_t> done(tasks);
  on_ranks([&](Context& ctx) {
    const rank_t me = ctx.rank_me();
    const auto counter = ctx.on_rank(array<uint64_t>(ctx, 1), P() - 1);
    const atomic_domain<uint64_t> domain(ctx);
    std::vector<uint64_t> mine(tasks);
    const double start_s = start_together(ctx);
    for (uint64_t task = 0; (task = domain.fetch_add(counter, 1)) < tasks;) {
      ctx.compute_for(length_s(task));
      ++mine[task];
    }
    times[me] = ctx.now_s() - start_s;
    end_together(ctx, start_s);
    team::world(ctx).allreduce(mine, mine, op_add{});
    if (me == 0) done = mine;
  });
  EXPECT_EQ(done, std::vector<uint64_t>(tasks, 1));
  if (!is_virtual()) return;
  double sum_s = 0;
  for (uint64_t task = 0; task < tasks; ++task) sum_s += length_s(task);
  const Costs c(profile().get, sizeof(uint64_t));
  const double shortest_s = c.round_trip();
  const double longest_s = shortest_s + (P() - 1) * c.x;
  const double last_s = *std::max_element(times.begin(), times.end());
  const auto n = static_cast<double>(tasks);
  EXPECT_GE(last_s, (sum_s + (n + P()) * shortest_s) / P());
  EXPECT_LE(last_s, (sum_s + n * longest_s) / P() + length_s(11) + 2 * longest_s);
}

// All ranks put K blocks with a flag each to rank 0. Its receive side is the bottleneck: from o + L
// after the start on, blocks of all ranks come every x, and it needs S G for each, so that the last
// one is there at
//   o + L + max(K (P-1) S G, (K-1) x + (P-1) S G).
TEST_P(Programs, IncastOfPuts) {
  constexpr rank_t kEach = 4;
  on_ranks([](Context& ctx) {
    const rank_t me = ctx.rank_me();
    const auto blocks = array<std::byte>(ctx, kBlock * P() * kEach);
    const auto flags = array<uint64_t>(ctx, size_t{P()} * kEach);
    const std::vector<std::byte> data(kBlock, static_cast<std::byte>(me + 1));
    const double start_s = start_together(ctx);
    for (rank_t k = 0; me != 0 && k < kEach; ++k) {
      const std::ptrdiff_t number = std::ptrdiff_t{me} * kEach + k;
      ctx.rput_signal(data.data(), ctx.on_rank(blocks, 0) + number * std::ptrdiff_t{kBlock}, kBlock,
                      ctx.on_rank(flags, 0) + number, 1);
    }
    if (me == 0) {
      ctx.wait_until([&] {
        bool all = true;
        for (rank_t i = kEach; i < P() * kEach; ++i) all = all && read(ctx, flags + i) != 0;
        return all;
      });
      const double time_s = ctx.now_s() - start_s;
      if (is_virtual()) {
        const Costs c(profile().put, kBlock);
        EXPECT_NEAR(
            time_s,
            c.o + c.L +
                std::max(kEach * (P() - 1) * c.wire, (kEach - 1) * c.x + (P() - 1) * c.wire),
            kRounding_s);
      }
      const std::byte* const begin = ctx.local(blocks);
      for (size_t i = kBlock * kEach; i < kBlock * P() * kEach; ++i) {
        ASSERT_EQ(begin[i], static_cast<std::byte>(i / kBlock / kEach + 1)) << i;
      }
    }
    end_together(ctx, start_s);
  });
}

// All ranks get K blocks from rank 0, whose transmit side is the bottleneck: requests come from o +
// L on, o <= (P-1) x apart from each rank, so that it is never idle. The last block leaves (K (P-1)
// - 1) x later, and is there and retired at
//   o + L + (K (P-1) - 1) x + L + S G + r.
TEST_P(Programs, IncastOfGets) {
  constexpr rank_t kEach = 4;
  std::vector<double> times(P());
  on_ranks([&times](Context& ctx) {
    const rank_t me = ctx.rank_me();
    const auto blocks = array<std::byte>(ctx, kBlock * kEach);
    for (size_t i = 0; i < kBlock * kEach; ++i) {
      ctx.local(blocks)[i] = static_cast<std::byte>(i / kBlock + me);
    }
    std::vector<std::byte> got(kBlock * kEach);
    const double start_s = start_together(ctx);
    if (me != 0) {
      std::vector<future> in_flight;
      for (rank_t k = 0; k < kEach; ++k) {
        in_flight.push_back(
            ctx.rget(ctx.on_rank(blocks, 0) + std::ptrdiff_t{k} * std::ptrdiff_t{kBlock},
                     got.data() + k * kBlock, kBlock));
      }
      wait_all(in_flight);
      times[me] = ctx.now_s() - start_s;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], static_cast<std::byte>(i / kBlock)) << i;
      }
    }
    end_together(ctx, start_s);
  });
  if (!is_virtual()) return;
  const Costs c(profile().get, kBlock);
  EXPECT_NEAR(*std::max_element(times.begin(), times.end()),
              c.round_trip() + (kEach * (P() - 1) - 1) * c.x, kRounding_s);
}

// A variable that is not atomic, under a lock, and a log of who held it.
//
// All ranks ask at once, hence in the order of ranks; who has had the lock asks again at once and
// is behind all others, as computing inside of it takes longer than all swaps together. So they get
// it by turns.
//
// A turn takes H, one get and two blocking puts (o + 2 L + S G + r each), which rank P-1 has in its
// own memory, and handing over: at least a message of no bytes. At most, one of 256 bytes (it is of
// 8 words or so) and, for each of three messages that may keep the CPU when the holder has to go on
// (the answer to the one before, the one that tells of a successor, the answer to that), o + r.
// Before the first turn there are as many swaps as ranks.
TEST_P(Programs, LockContention) {
  constexpr rank_t kEach = 3;
  constexpr double kHeld_s = 1e-4;
  std::vector<double> times(P());
  on_ranks([&times](Context& ctx) {
    const rank_t me = ctx.rank_me();
    const auto words = array<uint64_t>(ctx, 1 + size_t{P()} * kEach);
    auto made = global_lock::create(ctx);
    ASSERT_TRUE(made.ok());
    global_lock& lock = *made;
    const auto variable = ctx.on_rank(words, P() - 1);
    const double start_s = start_together(ctx);
    for (rank_t k = 0; k < kEach; ++k) {
      const std::lock_guard hold(lock);
      const uint64_t value = ctx.rget(variable);
      ctx.compute_for(kHeld_s);
      ctx.rput(uint64_t{me}, variable + 1 + static_cast<std::ptrdiff_t>(value));
      ctx.rput(value + 1, variable);
    }
    times[me] = ctx.now_s() - start_s;
    end_together(ctx, start_s);
    if (me == P() - 1) {
      const uint64_t* const found = ctx.local(words);
      EXPECT_EQ(found[0], uint64_t{P()} * kEach);
      std::vector<uint64_t> turns(P());
      for (uint64_t i = 0; i < uint64_t{P()} * kEach; ++i) {
        const uint64_t holder = found[1 + i];
        ASSERT_LT(holder, P());
        ++turns[holder];
        if (is_virtual()) {
          EXPECT_EQ(holder, i % P()) << i;
        }
      }
      EXPECT_EQ(turns, std::vector<uint64_t>(P(), kEach));
    }
    ctx.barrier();
  });
  if (!is_virtual()) return;
  const Costs get(profile().get, sizeof(uint64_t));
  const Costs put(profile().put, sizeof(uint64_t));
  const Costs shortest(profile().am, 0);
  const Costs longest(profile().am, 256);
  const double remote_s = get.round_trip() + 2 * put.round_trip();
  const double last_s = *std::max_element(times.begin(), times.end());
  const double turns = P() * kEach;
  // The lock is handed over by a message, or by a flag that travels as a put does.
  const double hand_over_s = std::min(shortest.message(), put.one_way());
  EXPECT_GE(last_s, turns * kHeld_s + (P() - 1) * kEach * remote_s + (turns - 1) * hand_over_s);
  EXPECT_LE(last_s,
            get.round_trip() + P() * get.x +
                turns * (kHeld_s + remote_s + longest.message() + 3 * (longest.o + longest.r)));
}

INSTANTIATE_TEST_SUITE_P(Places, Programs,
                         testing::Values(Place{"virtual", kNetwork, "virtual", "network", 2},
                                         Place{"virtual", kNetwork, "virtual", "network", 4},
                                         Place{"virtual", kNetwork, "virtual", "network", 16},
                                         Place{"virtual", kNetwork, "virtual", "network", 64},
                                         Place{"mapped", "tcp", "real", "mapped", 2},
                                         Place{"mapped", "tcp", "real", "mapped", 4},
                                         Place{"shm", "shm", "real", "network", 2},
                                         Place{"shm", "shm", "real", "network", 4}),
                         [](const auto& test) {
                           return test.param.label + std::to_string(test.param.ranks);
                         });

}  // namespace
}  // namespace stripline
