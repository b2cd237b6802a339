// The order in which ranks make their updates, on emulated networks on the virtual clock, on which
// what computation takes is declared: what is sorted by its owner takes about as long as what is
// not, and what is mostly one owner's as long as that takes.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <stripline/memory_use.h>
#include <stripline/update.h>

#include "base/random.h"
#include "runtime/rma/fiber_group.h"

namespace stripline {
namespace {

constexpr uint32_t kRanks = 16;
constexpr uint64_t kCells = 4096;  // of a rank

struct Taken {
  double seconds = 0;
  uint64_t buffer_bytes = 0;  // of the rank that has the most
};

// `owner_of(rank, i, updates)` owns the cell of an update; they are made in that order.
using OwnerOf = std::function<rank_t(rank_t, uint64_t, uint64_t)>;

Taken taken_by(const std::string& network, uint64_t updates, const OwnerOf& owner_of,
               uint64_t budget_bytes = UpdateOptions{}.budget_bytes) {
  Taken taken;
  bootstrap::FiberGroupOptions group{.ranks = kRanks};
  group.context.fabric = "emulated:" + network + ",jitter=off,compute=declared";
  group.context.clock = "virtual";
  group.context.same_node = "network";
  group.context.segment_bytes = size_t{4} << 20;
  const Status ran = bootstrap::run_fibers(group, [&](Context& context) {
    const rank_t me = context.rank_me();
    const auto memory = context.new_symmetric_array<uint64_t>(kCells);
    ASSERT_TRUE(memory.ok());
    context.barrier();
    UpdateEpoch<uint64_t, op_add> epoch(
        context, {.mode = UpdateMode::log, .budget_bytes = budget_bytes, .use_model = false});
    const double begun_s = context.now_s();
    for (uint64_t i = 0; i < updates; ++i) {
      epoch.update(context.on_rank(*memory, owner_of(me, i, updates)) +
                       static_cast<std::ptrdiff_t>(hash_of(1, me, i) % kCells),
                   1);
    }
    epoch.end();
    const double took_s = context.reduce_all(context.now_s() - begun_s, Context::ReduceOp::max);
    const uint64_t bytes =
        context.reduce_all(memory_use(context).mechanism_bytes, Context::ReduceOp::max);
    uint64_t counted = 0;
    for (uint64_t i = 0; i < kCells; ++i) counted += context.local(*memory)[i];
    EXPECT_EQ(context.reduce_all(counted, Context::ReduceOp::sum), kRanks * updates);
    if (me == 0) taken = {took_s, bytes};
  });
  EXPECT_TRUE(ran.ok()) << ran.error().message();
  return taken;
}

rank_t shuffled(rank_t me, uint64_t i, uint64_t) {
  return static_cast<rank_t>(hash_of(2, me, i) % kRanks);
}
rank_t sorted(rank_t, uint64_t i, uint64_t updates) {
  return static_cast<rank_t>(i * kRanks / updates);
}
rank_t mostly_of_0(rank_t me, uint64_t i, uint64_t updates) {
  return hash_of(3, me, i) % 10 > 0 ? 0 : shuffled(me, i, updates);
}

TEST(UpdateOrder, SortedTakesAboutAsLongAsShuffled) {
  constexpr uint64_t kUpdates = 400000;
  for (const char* network : {"congested-tree", "cloud-ethernet"}) {
    const Taken apart = taken_by(network, kUpdates, shuffled);
    const Taken together = taken_by(network, kUpdates, sorted);
    EXPECT_LE(together.seconds, 1.2 * apart.seconds) << network;
    // Buffers wait for owners that are busy; where none is, it takes but a few.
    EXPECT_GT(together.buffer_bytes, 2 * apart.buffer_bytes) << network;
    EXPECT_LE(together.buffer_bytes, UpdateOptions{}.budget_bytes) << network;
  }
}

TEST(UpdateOrder, KeepsToTheBudget) {
  constexpr uint64_t kUpdates = 200000;
  constexpr uint64_t kBudgetBytes = uint64_t{1} << 20;
  // By itself it would take more.
  EXPECT_GT(taken_by("congested-tree", kUpdates, sorted).buffer_bytes, kBudgetBytes);
  EXPECT_LE(taken_by("congested-tree", kUpdates, sorted, kBudgetBytes).buffer_bytes, kBudgetBytes);
}

// docs/programming.md names this bound.
TEST(UpdateOrder, MostlyOfOneOwnerTakesAsLongAsThatOwner) {
  constexpr uint64_t kUpdates = 40000;
  const double seconds = taken_by("cloud-ethernet", kUpdates, mostly_of_0).seconds;
  // A cell and a value of a parcel are looked at, a cell is read and written.
  constexpr double kUpdateBytes = 4 + 4 + 16;
  constexpr double kMemoryBytesPerSecond = 8e9;  // of that network's processors
  constexpr double kOfOwner = kRanks * kUpdates * (0.9 + 0.1 / kRanks);
  const double bound_s = kOfOwner * kUpdateBytes / kMemoryBytesPerSecond;
  EXPECT_GE(seconds, bound_s * 0.9);
  EXPECT_LE(seconds, bound_s * 1.7);
}

}  // namespace
}  // namespace stripline
