// Updates through an epoch against the same updates carried out one by one, on each fabric.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/atomic.h>
#include <stripline/memory_use.h>
#include <stripline/update.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"
#include "runtime/update/engine.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class Update : public bootstrap::RanksTest {};

constexpr uint64_t kCells = 1000;

// Associative, but not commutative: x -> 3 x + 1 and the like, one after the other.
struct Affine {
  uint32_t factor = 1;
  uint32_t term = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};
struct compose {
  static constexpr bool kAssociative = true;
  Affine operator()(Affine first, Affine then) const {
    return {first.factor * then.factor, first.term * then.factor + then.term};
  }
};
// Neither.
struct mix {
  uint64_t operator()(uint64_t cell, uint64_t value) const {
    return cell * 6364136223846793005 + value;
  }
};

template <typename T, typename Layout = cyclic>
shared_array<T, Layout> array_of(Context& context, Layout layout, const T& initial) {
  auto made = shared_array<T, Layout>::create(context, kCells, layout);
  if (!made.ok()) std::abort();
  for (T& cell : made->local_span()) cell = initial;
  context.barrier();
  return *made;
}

template <typename T, typename Layout>
void expect_cells(Context& context, const shared_array<T, Layout>& array,
                  const std::vector<T>& expected) {
  const std::span<const T> mine = array.local_span();
  for (size_t i = 0; i < mine.size(); ++i) {
    ASSERT_EQ(mine[i], expected[array.index_of(i)]) << array.index_of(i);
  }
  context.barrier();
}

// All ranks update random cells, most of them few; what they make of them does not depend on the
// order of ranks.
template <typename T, typename Op, typename Layout>
void sum_up(Context& context, Layout layout, const UpdateOptions& options, T initial) {
  auto array = array_of<T>(context, layout, initial);
  std::vector<T> expected(kCells, initial);
  {
    UpdateEpoch<T, Op> epoch(context, options);
    const auto cells = epoch.into(array);
    for (int round = 0; round < 2; ++round) {
      for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
        std::mt19937_64 random(rank + 1);
        for (int i = 0; i < 3000; ++i) {
          const uint64_t cell = random() % (random() % 2 == 0 ? kCells : 10);
          const T value = static_cast<T>(random() % 100);
          expected[cell] = Op{}(expected[cell], value);
          if (rank == context.rank_me()) cells.update(cell, value);
        }
      }
      epoch.end();
      expect_cells(context, array, expected);
    }
  }
  array.destroy();
}

constexpr UpdateOptions kSmall{.settings = {.buffer_bytes = 200}};

TEST_P(Update, SumsIntoAllLayouts) {
  for (const rank_t ranks : {1U, 2U, 5U}) {
    on_ranks(ranks, [](Context& context) {
      sum_up<uint64_t, op_add>(context, cyclic{}, kSmall, 7);
      sum_up<uint64_t, op_add>(context, block_cyclic<4>{}, {}, 7);
      sum_up<int32_t, op_add>(context, blocked(kCells, context.rank_n()), kSmall, -3);
      sum_up<uint8_t, op_bit_xor>(context, block_cyclic<>{7}, {}, 1);
      sum_up<double, op_max>(context, indefinite{context.rank_n() - 1}, kSmall, 50.0);
    });
  }
}

TEST_P(Update, LogsEachInTheOrderOfItsSource) {
  const bootstrap::WithoutDebugMode merging;  // it merges a rank's own cells, too, in a buffer
  on_ranks(3, [](Context& context) {
    auto array = array_of<uint64_t>(context, cyclic{}, 0);
    auto maps = array_of<Affine>(context, blocked(kCells, 3), {});
    std::vector<uint64_t> expected(kCells, 0);
    std::vector<Affine> composed(kCells);
    {
      UpdateEpoch<uint64_t, mix> log(context, {.mode = UpdateMode::log});
      UpdateEpoch<Affine, compose> accumulated(context, kSmall);
      const auto cells = log.into(array);
      const auto composing = accumulated.into(maps);
      // A cell has one source.
      for (rank_t rank = 0; rank < 3; ++rank) {
        std::mt19937_64 random(rank);
        for (int i = 0; i < 5000; ++i) {
          const uint64_t cell = random() % 40 * 3 + (rank + 1) % 3;  // of the next rank
          const uint64_t value = random();
          const Affine map{static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32U)};
          expected[cell] = mix{}(expected[cell], value);
          composed[cell] = compose{}(composed[cell], map);
          if (rank != context.rank_me()) continue;
          cells.update(cell, value);
          composing.update(cell, map);
        }
      }
      // Rank 0 has all of these itself.
      EXPECT_EQ(accumulated.statistics().merged > 0, context.rank_me() != 0);
    }
    expect_cells(context, array, expected);
    expect_cells(context, maps, composed);
  });
}

TEST_P(Update, FlushCompletesThoseOfThisRank) {
  on_ranks(2, [](Context& context) {
    const auto cell = *context.new_symmetric_array<uint64_t>(1);
    const rank_t peer = 1 - context.rank_me();
    UpdateEpoch<uint64_t, op_add> epoch(context);
    for (uint64_t round = 1; round <= 20; ++round) {
      epoch.update(context.on_rank(cell, peer), 3);
      epoch.flush();
      EXPECT_EQ(context.rget(context.on_rank(cell, peer)), 3 * round);
      context.barrier();
    }
  });
}

TEST_P(Update, OfOwnCellsTakesNoBuffer) {
  const bootstrap::WithoutDebugMode own_cells;  // it has a buffer for these, too, to see each
  on_ranks(2, [](Context& context) {
    const auto cells = *context.new_symmetric_array<uint64_t>(kCells);
    uint64_t* const mine = context.local(cells);
    std::fill_n(mine, kCells, 0);
    context.barrier();
    UpdateEpoch<uint64_t, op_add> epoch(context);
    for (uint64_t i = 0; i < 3 * kCells; ++i) {
      epoch.update(context.on_rank(cells, context.rank_me()) + i % kCells, 1);
    }
    for (uint64_t i = 0; i < kCells; ++i) EXPECT_EQ(mine[i], 3U);
    epoch.end();
    EXPECT_EQ(epoch.statistics().updates, 3 * kCells);
    EXPECT_EQ(epoch.statistics().merged, 0U);
    EXPECT_EQ(epoch.statistics().parcels, 0U);
  });
}

TEST_P(Update, OfOneValueSendsItOnce) {
  on_ranks(2, [](Context& context) {
    auto counts = array_of<uint64_t>(context, cyclic{}, 0);
    UpdateEpoch<uint64_t, op_add> epoch(context, {.mode = UpdateMode::log});
    const auto bins = epoch.into(counts);
    for (uint64_t i = 0; i < kCells; ++i) bins.update(i, 1);
    epoch.end();
    expect_cells(context, counts, std::vector<uint64_t>(kCells, 2));
    const UpdateStatistics seen = epoch.statistics();
    EXPECT_EQ(seen.updates, kCells);
    EXPECT_EQ(seen.parcels, 1U);
    EXPECT_LT(seen.bytes, kCells / 2 * 5);
  });
}

TEST_P(Update, GoesOnWhileAPeerComputes) {
  on_ranks(3, [](Context& context) {
    auto array = array_of<uint64_t>(context, cyclic{}, 0);
    UpdateEpoch<uint64_t, op_add> epoch(context, kSmall);
    const auto cells = epoch.into(array);
    if (context.rank_me() == 1) context.compute_for(2e-3);
    for (uint64_t i = 0; i < 10 * kCells; ++i) cells.update(i % kCells, i);
    epoch.end();
    uint64_t sum = 0;
    for (const uint64_t cell : array.local_span()) sum += cell;
    EXPECT_EQ(context.reduce_all(sum, Context::ReduceOp::sum),
              3 * (10 * kCells * (10 * kCells - 1) / 2));
  });
}

TEST_P(Update, KeepsItsBudgetAndSaysWhatItTakes) {
  on_ranks(4, [](Context& context) {
    EXPECT_EQ(memory_use(context).mechanism_bytes, 0U);
    auto array = array_of<uint64_t>(context, cyclic{}, 0);
    {
      constexpr size_t kBudget = size_t{20} << 10;
      UpdateEpoch<uint64_t, op_add> epoch(context, {.budget_bytes = kBudget});
      const auto cells = epoch.into(array);
      for (uint64_t i = 0; i < 20 * kCells; ++i) cells.update(i % kCells, i);
      epoch.end();
      EXPECT_GT(memory_use(context).mechanism_bytes, kBudget / 4);
      EXPECT_LE(memory_use(context).mechanism_bytes, kBudget);
      EXPECT_GT(epoch.statistics().parcels, 3U);
    }
    EXPECT_EQ(memory_use(context).mechanism_bytes, 0U);
  });
}

// Two messages for each pair of ranks: the parcel, and the answer that gives its slot back.
TEST_P(Update, OfDenseCellsSendsOneBoxPerOwner) {
  on_ranks(3, [](Context& context) {
    auto array = array_of<double>(context, blocked(kCells, 3), 0);
    UpdateEpoch<double, op_add> epoch(context, {.fills_gaps = true});
    const auto cells = epoch.into(array);
    std::vector<double> expected(kCells, 0);
    for (uint64_t i = 0; i < kCells; ++i) {
      if (i % 3 == 0) continue;  // gaps
      const uint64_t cell = i * 7 % kCells;
      expected[cell] += 3.0 * static_cast<double>(i);
      cells.update(cell, static_cast<double>(i));
    }
    epoch.end();
    expect_cells(context, array, expected);
    const UpdateStatistics seen = epoch.statistics();
    EXPECT_EQ(seen.parcels, 2U);
    EXPECT_LT(seen.bytes, 2 * kCells * (sizeof(double) + 1));
  });
}

TEST_P(Update, TravelsInHopsOverAGrid) {
  struct Case {
    rank_t ranks;
    uint32_t hops;
  };
  for (const Case& one : {Case{5, 2}, Case{7, 2}, Case{11, 3}}) {
    on_ranks(one.ranks, [&one](Context& context) {
      const UpdateOptions options{.settings = {.buffer_bytes = 300, .hops = one.hops}};
      sum_up<uint64_t, op_add>(context, cyclic{}, options, 7);
      sum_up<int16_t, op_bit_xor>(context, indefinite{context.rank_n() - 1}, options, 1);
      auto array = array_of<uint64_t>(context, cyclic{}, 0);
      UpdateEpoch<uint64_t, op_add> epoch(context, options);
      EXPECT_EQ(epoch.in_use().hops, one.hops);
      const auto cells = epoch.into(array);
      for (uint64_t i = 0; i < kCells; ++i) {
        cells.update(i, 1);
        if (i % 400 == 0) epoch.flush();
      }
      // All of this rank have been carried out.
      epoch.flush();
      context.barrier();
      for (uint64_t i = 0; i < kCells; i += 77) EXPECT_EQ(array.read(i), context.rank_n());
      epoch.end();
      expect_cells(context, array, std::vector<uint64_t>(kCells, context.rank_n()));
      const uint64_t forwarded =
          context.reduce_all(epoch.statistics().forwarded, Context::ReduceOp::sum);
      EXPECT_GT(forwarded, kCells / 2);
    });
  }
}

// Ranks of this host as if a few of them were a node, which the last one is not full of.
TEST(UpdateInNodes, TravelsWithinNodesAndBetweenThem) {
  for (const uint32_t of_node : {2U, 3U}) {
    const auto group =
        bootstrap::group_on({"nodes", "tcp", "real", "mapped:" + std::to_string(of_node)}, 11);
    bootstrap::on_ranks(group, [of_node](Context& context) {
      auto& engine = context.state().mechanisms.of<update::EpochEngine>(context.state());
      EXPECT_EQ(engine.node_ranks(context, CallSite::current()), of_node);
      for (const uint32_t hops : {2U, 3U}) {
        const UpdateOptions options{.settings = {.buffer_bytes = 300, .hops = hops}};
        sum_up<uint64_t, op_add>(context, cyclic{}, options, 7);
        sum_up<int16_t, op_bit_xor>(context, indefinite{context.rank_n() - 1}, options, 1);
      }
    });
  }
}

// Tickets are given out once each, whether they are waited for one by one or together.
TEST_P(Update, FetchesWhatWasThereBefore) {
  on_ranks(3, [](Context& context) {
    constexpr uint64_t kTickets = 400;
    auto counters = array_of<uint64_t>(context, cyclic{}, 0);
    auto seen = array_of<uint32_t>(context, cyclic{}, 0);
    UpdateEpoch<uint64_t, op_add> epoch(context, kSmall);
    UpdateEpoch<uint32_t, op_add> marks(context);
    const auto tickets = epoch.into(counters);
    const auto marking = marks.into(seen);
    std::vector<uint64_t> drawn(kTickets);
    std::vector<future> futures;
    for (uint64_t i = 0; i < kTickets; ++i) {
      switch (i % 4) {
        case 0:
          drawn[i] = tickets.fetch_async(1, 1).wait();
          break;
        case 1:
          tickets.fetch(1, 1, &drawn[i]).wait();
          break;
        default:
          futures.push_back(tickets.fetch(1, 1, &drawn[i]));
      }
      tickets.update(2, i);
    }
    wait_all(futures);
    for (const uint64_t ticket : drawn) {
      ASSERT_LT(ticket, 3 * kTickets);
      marking.update(ticket % kCells, 1);
    }
    // What no one waits for is there when the epoch ends.
    uint64_t last = 0;
    tickets.fetch(4, 5 + context.rank_me(), &last);
    epoch.end();
    marks.end();
    EXPECT_EQ(counters.read(1), 3 * kTickets);
    EXPECT_EQ(counters.read(2), 3 * kTickets * (kTickets - 1) / 2);
    EXPECT_EQ(counters.read(4), 18U);
    EXPECT_LT(last, 18U);
    uint64_t marked = 0;
    for (const uint32_t mark : seen.local_span()) {
      EXPECT_LE(mark, 2U);
      marked += mark;
    }
    EXPECT_EQ(context.reduce_all(marked, Context::ReduceOp::sum), 3 * kTickets);
    EXPECT_EQ(epoch.statistics().fetches, kTickets + 1);
  });
}

// A budget that leaves room for few buffers: as many hops as it takes.
TEST_P(Update, TakesMoreHopsWhereTheBudgetIsSmall) {
  on_ranks(9, [](Context& context) {
    constexpr size_t kBudget = size_t{64} << 10;
    auto array = array_of<uint64_t>(context, cyclic{}, 0);
    UpdateEpoch<uint64_t, op_add> epoch(context, {.budget_bytes = kBudget});
    EXPECT_EQ(epoch.in_use().hops, 3U);
    const auto cells = epoch.into(array);
    for (uint64_t i = 0; i < kCells; ++i) cells.update(i * 7 % kCells, 1);
    EXPECT_LE(memory_use(context).mechanism_bytes, kBudget);
    epoch.end();
    expect_cells(context, array, std::vector<uint64_t>(kCells, context.rank_n()));
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Update, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

// The progress thread carries out what others send, while the program updates the same cells.
TEST(UpdateBesideAProgressThread, TakesOwnCellsAndThoseOfOthersOneByOne) {
  const bootstrap::FabricUnderTest fabric{"tcp", "tcp", "real", "network", "thread"};
  bootstrap::on_ranks(bootstrap::group_on(fabric, 2), [](Context& context) {
    constexpr uint64_t kHot = 4;
    constexpr uint64_t kUpdates = 200000;
    const auto cells = *context.new_symmetric_array<uint64_t>(kHot);
    std::fill_n(context.local(cells), kHot, 0);
    context.barrier();
    UpdateEpoch<uint64_t, op_add> epoch(context, {.mode = UpdateMode::log});
    for (uint64_t i = 0; i < kUpdates; ++i) {
      epoch.update(context.on_rank(cells, static_cast<rank_t>(i / kHot % 2)) + i % kHot, 1);
    }
    epoch.end();
    for (uint64_t i = 0; i < kHot; ++i) EXPECT_EQ(context.local(cells)[i], kUpdates / kHot);
    context.barrier();
  });
}

class UpdateDeathTest : public bootstrap::RanksDeathTest {};

TEST_F(UpdateDeathTest, NamesACellThatIsNotThere) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.update(global_ptr<uint64_t>(1, uint64_t{1} << 40), 1);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update of 8 bytes.*out of bounds");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.update(global_ptr<uint64_t>(1, 12), 1);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update of 8 bytes.*aligned to 8 bytes");
}

TEST_F(UpdateDeathTest, NamesCallsOfAnEpochThatHasBeenMoved) {
  using Epoch = UpdateEpoch<uint64_t, op_add>;
  using Cell = global_ptr<uint64_t>;
  const std::vector<std::pair<const char*, std::function<void(Epoch&, Cell)>>> calls = {
      {"update", [](Epoch& epoch, Cell cell) { epoch.update(cell, 1); }},
      {"update_run",
       [](Epoch& epoch, Cell cell) { epoch.update_run(cell, std::array<uint64_t, 1>{1}); }},
      {"fetch", [](Epoch& epoch, Cell cell) { epoch.fetch(cell, 1, nullptr); }},
      {"fetch_async", [](Epoch& epoch, Cell cell) { epoch.fetch_async(cell, 1); }},
      {"flush", [](Epoch& epoch, Cell) { epoch.flush(); }},
      {"statistics", [](Epoch& epoch, Cell) { std::ignore = epoch.statistics(); }},
      {"in_use", [](Epoch& epoch, Cell) { std::ignore = epoch.in_use(); }},
  };
  for (const auto& [name, call] : calls) {
    EXPECT_EXIT(on_ranks(1,
                         [&call = call](Context& context) {
                           const auto cell = *context.new_symmetric_array<uint64_t>(1);
                           Epoch made(context);
                           const Epoch moved = std::move(made);
                           call(made, cell);  // NOLINT(bugprone-use-after-move)
                         }),
                ::testing::ExitedWithCode(kExitUsage),
                std::string("update_test.cc:[0-9]+: UpdateEpoch::") + name +
                    " of an object that has been moved from");
  }
  // By what was made before, as soon as it needs the epoch.
  EXPECT_EXIT(on_ranks(1,
                       [](Context& context) {
                         const auto array = shared_array<uint64_t>::create(context, 4);
                         Epoch made(context);
                         const auto cells = made.into(*array);
                         const Epoch moved = std::move(made);
                         for (int i = 0; i < 1 << 20; ++i) cells.update(0, 1);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "update_test.cc:[0-9]+: UpdateEpoch::update of an object that has been moved from");
}

// Debug mode finds the first of them (update_debug_test.cc).
TEST_F(UpdateDeathTest, NamesUpdatesInHandlersThatFillABuffer) {
  using Epoch = UpdateEpoch<uint64_t, op_add>;
  using Cell = global_ptr<uint64_t>;
  const auto in_handler = [](rank_t owner, const std::function<void(Epoch&, Cell)>& body) {
    on_ranks(2, [&](Context& context) {
      const auto cell = *context.new_symmetric_array<uint64_t>(1);
      Epoch epoch(context, {.mode = UpdateMode::log});
      const uint32_t handler = context.register_am(
          [&](rank_t, std::span<const std::byte>) { body(epoch, context.on_rank(cell, owner)); });
      if (context.rank_me() == 0) context.am_send(1, handler, {});
      context.am_quiesce();
    });
  };
  const auto many = [](Epoch& epoch, Cell cell) {
    for (int i = 0; i < 1 << 20; ++i) epoch.update(cell, 1);
  };
  for (const rank_t owner : {0U, 1U}) {
    EXPECT_EXIT(in_handler(owner, many), ::testing::ExitedWithCode(kExitUsage),
                "UpdateEpoch::update inside an active message handler");
  }
  EXPECT_EXIT(in_handler(0, [](Epoch& epoch, Cell cell) { epoch.fetch_async(cell, 1); }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::fetch inside an active message handler");
}

TEST_F(UpdateDeathTest, NamesOperatorsThatDiffer) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto cell = *context.new_symmetric_array<uint64_t>(1);
                         const auto there = context.on_rank(cell, 1 - context.rank_me());
                         if (context.rank_me() == 0) {
                           UpdateEpoch<uint64_t, op_add> epoch(context);
                           epoch.update(there, 1);
                         } else {
                           UpdateEpoch<uint64_t, op_min> epoch(context);
                           epoch.update(there, 1);
                         }
                       }),
              ::testing::ExitedWithCode(kExitUsage), "sent updates by another operator");
}

TEST_F(UpdateDeathTest, RefusesValuesThatNoParcelTakes) {
  struct Large {
    std::array<std::byte, 100000> bytes;
  };
  EXPECT_EXIT(on_ranks(2, [](Context& context) { UpdateEpoch<Large, op_replace> epoch(context); }),
              ::testing::ExitedWithCode(kExitUsage), "UpdateEpoch of values of 100000 bytes");
}

TEST_F(UpdateDeathTest, SaysWhatABufferForAValueTakes) {
  struct Large {
    std::array<std::byte, 160000> bytes;
  };
  EXPECT_EXIT(on_ranks(2, [](Context& context) { UpdateEpoch<Large, op_replace> epoch(context); }),
              ::testing::ExitedWithCode(kExitUsage),
              "of values of 160000 bytes, for one of which a buffer of [0-9]+ bytes is needed, but "
              "buffer_bytes, budget_bytes and the network allow no more than [0-9]+;");
}

TEST_F(UpdateDeathTest, NamesModesThatDiffer) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto cell = *context.new_symmetric_array<uint64_t>(1);
                         const UpdateMode mode =
                             context.rank_me() == 0 ? UpdateMode::log : UpdateMode::accumulate;
                         UpdateEpoch<uint64_t, op_add> epoch(context, {.mode = mode});
                         epoch.update(context.on_rank(cell, 1 - context.rank_me()), 1);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "or in another UpdateMode, than those of the UpdateEpoch of .*update_test.cc:[0-9]+");
}

TEST_F(UpdateDeathTest, RefusesOptionsThatDoNotExist) {
  const auto refused = [](const char* message, const UpdateOptions& options) {
    EXPECT_EXIT(
        on_ranks(2,
                 [&](Context& context) { UpdateEpoch<uint64_t, op_add> epoch(context, options); }),
        ::testing::ExitedWithCode(kExitUsage), message);
  };
  refused("UpdateOptions::mode = 9", {.mode = static_cast<UpdateMode>(9)});
  refused("UpdateSettings::method = 77", {.settings = {.method = static_cast<UpdateMethod>(77)}});
  refused("UpdateSettings::hops = 9", {.settings = {.hops = 9}});
  refused("UpdateSettings::encoding = 4",
          {.settings = {.encoding = static_cast<UpdateEncoding>(4)}});
}

// With every method: no update is to be found in what is allocated there next.
TEST_P(Update, WhatHasLeftIsCarriedOutBeforeItsArrayGoes) {
  const bootstrap::WithoutDebugMode without_debug_mode;  // a mistake, which debug mode finds
  on_ranks(3, [](Context& context) {
    const rank_t me = context.rank_me();
    for (const UpdateMethod method :
         {UpdateMethod::buffers, UpdateMethod::messages, UpdateMethod::owner_locks}) {
      UpdateEpoch<uint64_t, op_add> epoch(
          context, {.mode = UpdateMode::log, .settings = {.method = method}});
      const auto array = *context.new_symmetric_array<uint64_t>(4);
      if (method == UpdateMethod::messages) {  // which hold nothing back
        for (int i = 0; i < 50; ++i) epoch.update(context.on_rank(array, (me + 1) % 3) + 1, 1);
      }
      for (int i = 0; i < 7; ++i) {
        (void)epoch.fetch_async(context.on_rank(array, (me + 2) % 3) + 2, 1);
      }
      context.delete_symmetric_array(array);
      const auto next = *context.new_symmetric_array<uint64_t>(4);
      std::fill_n(context.local(next), 4, 5);
      epoch.end();
      for (int i = 0; i < 4; ++i) ASSERT_EQ(context.local(next)[i], 5U);
      context.delete_symmetric_array(next);
    }
  });
}

TEST_F(UpdateDeathTest, ArraysDoNotGoBeforeTheirUpdates) {
  for (const uint32_t hops : {1U, 2U}) {
    EXPECT_EXIT(
        on_ranks(4,
                 [hops](Context& context) {
                   const auto array = *context.new_symmetric_array<uint64_t>(100);
                   const auto other = *context.new_symmetric_array<uint64_t>(100);
                   UpdateEpoch<uint64_t, op_add> epoch(context, {.settings = {.hops = hops}});
                   for (rank_t rank = 0; rank < 4; ++rank) {
                     epoch.update(context.on_rank(array, rank) + 9, 1);
                   }
                   context.delete_symmetric_array(other);  // of which it holds nothing
                   context.delete_symmetric_array(array);
                 }),
        ::testing::ExitedWithCode(kExitUsage),
        "update_test.cc:[0-9]+: delete_symmetric_array of the array of 832 bytes at offset 0, of "
        "which the UpdateEpoch of .*update_test.cc:[0-9]+ holds 3 updates, the first at offset "
        "72;");
  }
}

TEST_F(UpdateDeathTest, FetchesAreToSomewhere) {
  for (const rank_t distance : {0U, 1U}) {
    EXPECT_EXIT(on_ranks(2,
                         [distance](Context& context) {
                           const auto cell = *context.new_symmetric_array<uint64_t>(1);
                           UpdateEpoch<uint64_t, op_add> epoch(context);
                           const rank_t rank = (context.rank_me() + distance) % 2;
                           epoch.fetch(context.on_rank(cell, rank), 1, nullptr);
                         }),
                ::testing::ExitedWithCode(kExitUsage), "UpdateEpoch::fetch to a null pointer");
  }
}

TEST_F(UpdateDeathTest, EndsBeforeItsContext) {
  using Adding = UpdateEpoch<uint64_t, op_add>;
  // Without updates it may stay; nothing can be done with it.
  const auto outlives = [](bool updates, bool uses) {
    std::array<std::unique_ptr<Adding>, 2> kept;
    std::array<global_ptr<uint64_t>, 2> cells;
    const Status ran = bootstrap::run_ranks(
        bootstrap::group_on(bootstrap::fabrics_under_test()[1], 2), [&](Context& context) {
          const rank_t me = context.rank_me();
          cells[me] = *context.new_symmetric_array<uint64_t>(1);
          kept[me] = std::make_unique<Adding>(context, UpdateOptions(), CallSite::current());
          kept[me]->update(context.on_rank(cells[me], 1 - me), 1);
          kept[me]->end();
          if (updates) kept[me]->update(context.on_rank(cells[me], 1 - me), 1);
        });
    if (uses) kept[0]->update(cells[0], 1);
    kept = {};
    std::_Exit(ran.ok() ? 0 : 1);
  };
  EXPECT_EXIT(outlives(false, false), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(outlives(true, false), ::testing::ExitedWithCode(kExitUsage),
              "the UpdateEpoch of .*update_test.cc:[0-9]+ outlives its Context with updates");
  EXPECT_EXIT(outlives(false, true), ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update, but the Context has gone");
}

struct Refusing {
  uint64_t operator()(uint64_t cell, uint64_t value) const {
    if (value == 13) throw std::runtime_error("not thirteen");
    return cell + value;
  }
};

TEST_F(UpdateDeathTest, OperatorsThatThrowAreNamedWithTheirCell) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto cells = *context.new_symmetric_array<uint64_t>(10);
                         UpdateEpoch<uint64_t, Refusing> epoch(context);
                         if (context.rank_me() == 0) {
                           const auto there = context.on_rank(cells, 1);
                           for (uint64_t i = 9; i < 17; ++i) {
                             epoch.update(there + static_cast<std::ptrdiff_t>(i - 9), i);
                           }
                         }
                         epoch.end();
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "the operator of the UpdateEpoch of .*update_test.cc:[0-9]+ has thrown, for the cell "
              "of 8 bytes at offset 32 of rank 1: not thirteen");
}

TEST(Divisor, DividesAsTheProcessorDoes) {
  std::mt19937_64 random(1);
  const auto check = [](uint64_t number, uint64_t by) {
    const auto [quotient, remainder] = detail::Divisor(by).divide(number);
    ASSERT_EQ(quotient, number / by) << number << " / " << by;
    ASSERT_EQ(remainder, number % by) << number << " % " << by;
  };
  for (int i = 0; i < 100000; ++i)
    check(random() >> random() % 64, 1 + (random() >> random() % 64));
  for (const uint64_t by : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 63U, ~uint64_t{0} - 1}) {
    for (const uint64_t number : {uint64_t{0}, by - 1, by, by + 1, ~uint64_t{0}}) check(number, by);
  }
}

}  // namespace
}  // namespace stripline
