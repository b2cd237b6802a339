// Updates of cells side by side, and of cells that get many, against the same updates carried out
// one by one, on each fabric.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/rpc.h>
#include <stripline/update.h>

#include "base/exit_codes.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;

class UpdateRun : public bootstrap::RanksTest {};
class UpdateRunDeathTest : public bootstrap::RanksDeathTest {};

constexpr uint64_t kCells = 1000;
constexpr UpdateOptions kSmall{.settings = {.buffer_bytes = 200}};

// Larger than they are aligned.
struct Three {
  std::array<uint32_t, 3> parts;
};
struct add_parts {
  static constexpr bool kAssociative = true;
  static constexpr bool kCommutative = true;
  template <typename T>
  static constexpr T identity() {
    return {};
  }
  Three operator()(Three sum, const Three& value) const {
    for (size_t i = 0; i < 3; ++i) sum.parts[i] += value.parts[i];
    return sum;
  }
};

/// An array of kCells, and what its cells should be.
template <typename T, typename Layout>
struct Checked {
  Checked(Context& job, Layout layout, const T& initial)
      : context(job),
        array(*shared_array<T, Layout>::create(job, kCells, layout)),
        expected(kCells, initial) {
    std::ranges::fill(array.local_span(), initial);
    context.barrier();
  }
  template <typename Op>
  void update(uint64_t cell, const T& value) {
    expected[cell] = Op{}(expected[cell], value);
  }
  void verify() {
    const std::span<const T> mine = array.local_span();
    for (size_t i = 0; i < mine.size(); ++i) {
      ASSERT_EQ(mine[i], expected[array.index_of(i)]) << array.index_of(i);
    }
    context.barrier();
  }

  Context& context;
  shared_array<T, Layout> array;
  std::vector<T> expected;
};

// Runs begin anywhere, and go on over blocks of other ranks; cells are updated by several methods.
template <typename T, typename Op, typename Layout>
void update_runs(Context& context, Layout layout, const UpdateOptions& options) {
  Checked<T, Layout> checked(context, layout, T{1});
  {
    UpdateEpoch<T, Op> epoch(context, options);
    const auto cells = epoch.into(checked.array);
    for (int round = 0; round < 3; ++round) {
      for (rank_t rank = 0; rank < context.rank_n(); ++rank) {
        std::mt19937_64 random(rank + 1);
        for (int i = 0; i < 600; ++i) {
          const uint64_t first = random() % kCells;
          std::vector<T> values(std::min<uint64_t>(random() % 12, kCells - first));
          for (size_t k = 0; k < values.size(); ++k) {
            values[k] = static_cast<T>(random() % 100);
            checked.template update<Op>(first + k, values[k]);
          }
          if (rank == context.rank_me()) cells.update_run(first, values);
        }
      }
      round == 1 ? epoch.flush() : epoch.end();
      context.barrier();
      checked.verify();
    }
  }
  checked.array.destroy();
}

TEST_P(UpdateRun, OfRunsIsThatOfEachOfTheirCells) {
  for (const rank_t ranks : {1U, 2U, 5U}) {
    on_ranks(ranks, [](Context& context) {
      update_runs<uint64_t, op_add>(context, cyclic{}, {});
      update_runs<double, op_add>(context, blocked(kCells, context.rank_n()), {});
      update_runs<uint64_t, op_bit_xor>(context, block_cyclic<>{7}, kSmall);
      update_runs<int32_t, op_min>(context, block_cyclic<4>{}, {.mode = UpdateMode::log});
      update_runs<uint16_t, op_add>(context, indefinite{context.rank_n() - 1}, {});
      update_runs<uint64_t, op_add>(context, block_cyclic<>{7},
                                    {.settings = {.method = UpdateMethod::messages}});
    });
  }
  on_ranks(5, [](Context& context) {
    update_runs<uint64_t, op_add>(context, block_cyclic<>{7}, {.settings = {.hops = 2}});
  });
}

TEST_P(UpdateRun, OfRunsOfLargerValuesKeepsThemApart) {
  on_ranks(2, [](Context& context) {
    const auto cells = *context.new_symmetric_array<Three>(10);
    std::fill_n(context.local(cells), 10, Three{});
    context.barrier();
    UpdateEpoch<Three, add_parts> epoch(context);
    const std::vector<Three> values = {{{1, 2, 3}}, {{4, 5, 6}}, {{7, 8, 9}}};
    for (int turn = 0; turn < 4; ++turn) {
      for (rank_t rank = 0; rank < 2; ++rank) {
        epoch.update_run(context.on_rank(cells, rank) + 4, values);
        epoch.update_run(context.on_rank(cells, rank) + 5, values);
      }
      epoch.end();
    }
    const Three* const mine = context.local(cells);
    for (uint32_t i = 0; i < 3; ++i) {
      EXPECT_EQ(mine[3].parts[i], 0U);
      EXPECT_EQ(mine[4].parts[i], 8 * (1 + i));
      EXPECT_EQ(mine[5].parts[i], 8 * (4 + i + 1 + i));
      EXPECT_EQ(mine[7].parts[i], 8 * (7 + i));
      EXPECT_EQ(mine[8].parts[i], 0U);
    }
    context.barrier();
  });
}

// Planes of the grid begin within blocks, and end in others.
TEST_P(UpdateRun, SpreadsPatchesOverTheRowsOfAGrid) {
  on_ranks(3, [](Context& context) {
    constexpr grid_extent kGrid{8, 9, 10};
    constexpr grid_extent kPatch{2, 3, 4};
    Checked<double, block_cyclic<>> checked(context, {77}, 0);
    UpdateEpoch<double, op_add> epoch(context);
    const auto cells = epoch.into(checked.array);
    for (int round = 0; round < 3; ++round) {
      for (rank_t rank = 0; rank < 3; ++rank) {
        std::mt19937_64 random(rank);
        for (int i = 0; i < 200; ++i) {
          const grid_cell corner{random() % 7, random() % 7, random() % 7};
          std::vector<double> patch(kPatch.cells());
          for (double& value : patch) value = static_cast<double>(random() % 100);
          for (uint64_t k = 0; k < patch.size(); ++k) {
            const uint64_t x = corner.x + k / kPatch.z / kPatch.y;
            const uint64_t y = corner.y + k / kPatch.z % kPatch.y;
            checked.update<op_add>((x * kGrid.y + y) * kGrid.z + corner.z + k % kPatch.z, patch[k]);
          }
          if (rank == context.rank_me()) cells.spread(kGrid, corner, kPatch, patch.data());
        }
      }
      epoch.end();
      checked.verify();
    }
  });
}

// From the second epoch on each cell is sent once, whatever there is between its updates; later
// ones may be of other cells.
TEST_P(UpdateRun, OfCellsThatGetManyIsSummedUpFirst) {
  const bootstrap::WithoutDebugMode summing;  // it sends each update, to see its place
  on_ranks(2, [](Context& context) {
    const auto array = *context.new_symmetric_array<uint64_t>(kCells);
    std::fill_n(context.local(array), kCells, 0);
    context.barrier();
    constexpr uint64_t kUpdates = 8 * kCells;
    UpdateEpoch<uint64_t, op_add> epoch(context, kSmall);
    const auto there = context.on_rank(array, 1 - context.rank_me());
    uint64_t sent = 0;
    for (uint64_t turn = 0; turn < 4; ++turn) {
      const uint64_t first = turn < 3 ? 0 : kCells / 2;
      for (uint64_t i = 0; i < kUpdates; ++i) {
        epoch.update(there + static_cast<std::ptrdiff_t>(first + i * 7 % (kCells / 2)), 1);
      }
      turn == 1 ? epoch.flush() : epoch.end();
      const UpdateStatistics seen = epoch.statistics();
      EXPECT_EQ(seen.updates + seen.merged, (turn + 1) * kUpdates);
      // What lies outside of what is summed up goes as in the first epoch.
      EXPECT_EQ(seen.updates - sent == kCells / 2, turn == 1 || turn == 2) << turn;
      sent = seen.updates;
    }
    context.barrier();
    for (uint64_t i = 0; i < kCells; ++i) {
      EXPECT_EQ(context.local(array)[i], i < kCells / 2 ? 3 * 16U : 16U);
    }
    context.barrier();
  });
}

// A rank that sums up sends nothing meanwhile; messages of others run all the same.
TEST_P(UpdateRun, OfSummedUpCellsServesOthers) {
  const bootstrap::WithoutDebugMode summing;  // it sends each update, to see its place
  on_ranks(2, [](Context& context) {
    constexpr uint64_t kUpdated = 8;
    const auto array = *context.new_symmetric_array<uint64_t>(kUpdated + 1);
    const uint64_t* const flag = context.local(array) + kUpdated;
    std::fill_n(context.local(array), kUpdated + 1, 0);
    context.barrier();
    UpdateEpoch<uint64_t, op_add> epoch(context);
    const auto there = context.on_rank(array, 1 - context.rank_me());
    const auto update = [&epoch, there](uint64_t i) {
      epoch.update(there + static_cast<std::ptrdiff_t>(i % kUpdated), 1);
    };
    for (uint64_t i = 0; i < 100; ++i) update(i);
    epoch.end();
    if (context.rank_me() == 1) {
      rpc_ff(
          context, 0,
          [](Context& asked, global_ptr<uint64_t> mine) {
            asked.local(asked.on_rank(mine, 0))[kUpdated] = 1;
          },
          array);
    } else {
      for (uint64_t i = 0; *flag == 0; ++i) update(i);
    }
    epoch.end();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, UpdateRun, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());

TEST_F(UpdateRunDeathTest, NamesTheFirstCellOfARunThatIsNotThere) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto cells = *context.new_symmetric_array<uint64_t>(1);
                         const std::vector<uint64_t> values(size_t{1} << 21, 1);
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.update_run(context.on_rank(cells, 1), values);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update of 8 bytes.*out of bounds");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto array = *shared_array<uint64_t>::create(context, 100);
                         const std::vector<uint64_t> values(7, 1);
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.into(array).update_run(95, values);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::update_run of elements 95 to 102, but the shared array has 100");
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 auto array = *shared_array<uint64_t>::create(context, 1000);
                 const std::vector<uint64_t> values(8, 1);
                 UpdateEpoch<uint64_t, op_add> epoch(context);
                 epoch.into(array).spread({10, 10, 10}, {0, 9, 0}, {2, 2, 2}, values.data());
               }),
      ::testing::ExitedWithCode(kExitUsage),
      "UpdateEpoch::spread, but a patch of 2,2,2 cells from 0,9,0 on is not within the grid");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto array = *shared_array<uint64_t>::create(context, 1000);
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         const auto cells = epoch.into(array);
                         cells.spread({10, 10, 10}, {}, {0, 2, 2}, nullptr);  // no cells
                         cells.spread({10, 10, 10}, {}, {1, 2, 2}, nullptr);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "update_run_test.cc:[0-9]+: UpdateEpoch::spread with a null pointer for the values");
  // The place of the cell among those of the grid is 2^64.
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto array = *shared_array<uint64_t>::create(context, 1000);
                         constexpr uint64_t kSide = uint64_t{1} << 33;
                         const uint64_t value = 1;
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.into(array).spread({kSide, kSide, 1}, {kSide / 4, 0, 0}, {}, &value);
                       }),
              ::testing::ExitedWithCode(kExitUsage),
              "UpdateEpoch::spread of elements 0 to [0-9]+, but the shared array has 1000");
}

TEST_F(UpdateRunDeathTest, NamesValuesThatAreNull) {
  static constexpr const uint64_t* kNothing = nullptr;
  const char* const said =
      "update_run_test.cc:[0-9]+: UpdateEpoch::update_run of 2 elements at a null pointer";
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const auto cells = *context.new_symmetric_array<uint64_t>(8);
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.update_run(context.on_rank(cells, 1), std::span(kNothing, 2));
                       }),
              ::testing::ExitedWithCode(kExitUsage), said);
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         auto array = *shared_array<uint64_t>::create(context, 100);
                         UpdateEpoch<uint64_t, op_add> epoch(context);
                         epoch.into(array).update_run(10, std::span(kNothing, 2));
                       }),
              ::testing::ExitedWithCode(kExitUsage), said);
}

TEST_F(UpdateRunDeathTest, ArraysDoNotGoBeforeWhatIsSummedUp) {
  EXPECT_EXIT(
      on_ranks(2,
               [](Context& context) {
                 const auto array = *context.new_symmetric_array<uint64_t>(100);
                 UpdateEpoch<uint64_t, op_add> epoch(context);
                 for (int turn = 0; turn < 2; ++turn) {
                   for (int i = 0; i < 50; ++i) {
                     epoch.update(context.on_rank(array, 1 - context.rank_me()) + i % 3, 1);
                   }
                   if (turn == 0) epoch.end();
                 }
                 context.delete_symmetric_array(array);
               }),
      ::testing::ExitedWithCode(kExitUsage),
      "of which the UpdateEpoch of .*update_run_test.cc:[0-9]+ holds 3 updates, the first at "
      "offset 0;");
}

}  // namespace
}  // namespace stripline
