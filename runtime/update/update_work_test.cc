// What updates take of processors, on a clock on which that is declared, and how many messages of
// many ranks.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include <stripline/update.h>

#include "base/random.h"
#include "runtime/rma/fiber_group.h"

namespace stripline {
namespace {

bootstrap::FiberGroupOptions fibers(uint32_t ranks, const std::string& compute) {
  bootstrap::FiberGroupOptions group{.ranks = ranks};
  group.context.fabric = "emulated:opteron-vapi,jitter=off,compute=" + compute;
  group.context.clock = "virtual";
  group.context.same_node = "network";
  group.context.segment_bytes = size_t{4} << 20;
  return group;
}

// A byte of memory that an Opteron of that network reads or writes.
constexpr double kByte_s = 1 / 3e9;
constexpr uint64_t kUpdates = 20000;

// Rank 0 updates cells of `owner`, and has nothing else to do; in the last of some epochs.
double seconds_of(rank_t owner, UpdateMode mode, uint64_t cells, const std::string& compute,
                  int epochs) {
  double taken_s = 0;
  const Status ran = bootstrap::run_fibers(fibers(2, compute), [&](Context& context) {
    const auto memory = context.new_symmetric_array<uint64_t>(cells);
    ASSERT_TRUE(memory.ok());
    const auto first = context.on_rank(*memory, owner);
    UpdateEpoch<uint64_t, op_add> epoch(context, {.mode = mode});
    context.barrier();
    for (int turn = 0; turn < epochs; ++turn) {
      const double begun_s = context.now_s();
      if (context.rank_me() == 0) {
        for (uint64_t i = 0; i < kUpdates; ++i) {
          epoch.update(first + static_cast<std::ptrdiff_t>(i % cells), i);
        }
      }
      epoch.end();
      if (context.rank_me() == 0) taken_s = context.now_s() - begun_s;
    }
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return taken_s;
}

double declared_s(rank_t owner, UpdateMode mode, uint64_t cells, int epochs = 1) {
  return seconds_of(owner, mode, cells, "declared", epochs) -
         seconds_of(owner, mode, cells, "none", epochs);
}

TEST(UpdateWork, OfOwnCellsIsThatOfTheCells) {
  constexpr double kBytes = kUpdates * 16;  // read and written
  EXPECT_NEAR(declared_s(0, UpdateMode::log, kUpdates), kBytes * kByte_s, 1e-9);
}

TEST(UpdateWork, OfOtherCellsIsDoneByBothRanks) {
  // Written here, while what was sent before is carried out there: at least what rank 0 does.
  const double taken_s = declared_s(1, UpdateMode::log, kUpdates);
  EXPECT_GT(taken_s, kUpdates * 12 * kByte_s);
  EXPECT_LT(taken_s, kUpdates * (12 + 12 + 16 + 4 + 16) * kByte_s);
}

TEST(UpdateWork, OfMergedUpdatesIsThatOfTheBuffer) {
  // Looked up, compared, and added to the value in the buffer; what is left to send is little.
  constexpr double kBytes = kUpdates * (2 + 4 + 8 + 16);
  const double taken_s = declared_s(1, UpdateMode::accumulate, 10);
  EXPECT_NEAR(taken_s, kBytes * kByte_s, 0.02 * kBytes * kByte_s);
}

TEST(UpdateWork, OfSummedUpUpdatesIsThatOfOwnCells) {
  // A mark is set for each, too. What is sent are the cells, of which each takes less than 100
  // bytes.
  constexpr uint64_t kCells = 1000;
  const double taken_s = declared_s(1, UpdateMode::accumulate, kCells, 2);
  EXPECT_GE(taken_s, kUpdates * 17 * kByte_s);
  EXPECT_LT(taken_s, (kUpdates * 17 + kCells * 100) * kByte_s);
}

TEST(UpdateWork, OfManyRanksSendsOneParcelToEachOwner) {
  constexpr uint32_t kRanks = 64;
  constexpr uint64_t kCells = 100;  // of a rank
  const Status ran = bootstrap::run_fibers(fibers(kRanks, "declared"), [&](Context& context) {
    auto counts = shared_array<uint64_t>::create(context, kRanks * kCells);
    ASSERT_TRUE(counts.ok());
    {
      UpdateEpoch<uint64_t, op_add> epoch(context, {.fills_gaps = true});
      const auto cells = epoch.into(*counts);
      for (uint64_t epochs = 1; epochs <= 2; ++epochs) {
        for (uint64_t i = 0; i < kUpdates; ++i) {
          cells.update(hash_of(epochs, context.rank_me(), i) % (kRanks * kCells), 1);
        }
        epoch.end();
        EXPECT_EQ(epoch.statistics().parcels, epochs * (kRanks - 1));
      }
    }
    uint64_t counted = 0;
    for (const uint64_t count : counts->local_span()) counted += count;
    EXPECT_EQ(context.reduce_all(counted, Context::ReduceOp::sum), 2 * kRanks * kUpdates);
    counts->destroy();
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
}

}  // namespace
}  // namespace stripline
