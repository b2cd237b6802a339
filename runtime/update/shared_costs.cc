#include "runtime/update/shared_costs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "runtime/update/team_blocks.h"

namespace stripline::update {
namespace {

using detail::CellOperations;
using plan::SharedCosts;

// Enough that reading the clock does not count, on so much memory that a cache of the first level
// holds it.
constexpr size_t kUpdates = 2048;
constexpr size_t kRegionBytes = 8192;
constexpr size_t kMostFoldedBytes = size_t{2} << 20;
constexpr int kTries = 3;  // the fastest counts: others are disturbed

// What a try takes for each of `parts`, at best.
template <typename Try>
double fastest_s(worker_team& team, size_t parts, const Try& one) {
  double best_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const double start_s = team.now_s();
    one();
    best_s = std::min(best_s, (team.now_s() - start_s) / static_cast<double>(parts));
  }
  return best_s;
}

// Cells at random, as many for all types.
std::vector<uint16_t> random_cells(size_t cells, uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<uint16_t> at(kUpdates);
  for (uint16_t& one : at) one = static_cast<uint16_t>(random.next() % cells);
  return at;
}

// The mean over the workers, so that all decide alike.
double agreed(worker_team& team, double mine) {
  double sum = 0;
  for (const uint64_t one : team.allgather(std::bit_cast<uint64_t>(mine))) {
    sum += std::bit_cast<double>(one);
  }
  return sum / team.count();
}

// Combining a cell of as much memory as will be combined, as far as it matters how much.
Result<double> measure_fold_s(worker_team& team, const CellOperations& operations,
                              size_t replica_bytes) {
  const size_t cells =
      std::max<size_t>(1, std::min(replica_bytes, kMostFoldedBytes) / operations.bytes);
  STRIPLINE_ASSIGN_OR_RETURN(const TeamBlocks blocks,
                             TeamBlocks::create(team, 2 * cells * operations.bytes));
  std::byte* const into = blocks.of(team.index());
  std::byte* const replica = into + cells * operations.bytes;
  operations.fill(into, cells);
  operations.fill(replica, cells);
  team.barrier();
  return fastest_s(team, cells, [&] {
    operations.fold(into, replica, cells);
    operations.fill(replica, cells);
  });
}

}  // namespace

Result<SharedCosts> measure_shared_costs(worker_team& team, const CellOperations& operations,
                                         size_t replica_bytes) {
  const size_t cells = std::max<size_t>(1, kRegionBytes / operations.bytes);
  // What this worker updates by itself, and at last what all update, which is the first worker's.
  STRIPLINE_ASSIGN_OR_RETURN(const TeamBlocks blocks,
                             TeamBlocks::create(team, cells * operations.bytes));
  std::byte* const mine = blocks.of(team.index());
  std::byte* const common = blocks.of(0);
  std::memset(mine, 0, cells * operations.bytes);
  std::vector<std::byte> value(operations.bytes);
  const std::vector<uint16_t> at = random_cells(cells, team.index());

  SharedCosts costs;
  costs.barrier_s = fastest_s(team, 4, [&] {
    for (int i = 0; i < 4; ++i) team.barrier();
  });
  costs.plain_s = fastest_s(team, kUpdates, [&] { operations.plain(mine, value.data(), at); });

  // A lock costs two atomic operations and the update. They are measured on a word, so that types
  // without atomic operations are no different.
  const CellOperations words = detail::CellUpdates<uint64_t, op_add>::operations();
  const std::vector<uint16_t> word_at =
      random_cells(cells * operations.bytes / sizeof(uint64_t), team.index());
  const uint64_t nothing = 0;
  const auto* const no_value = reinterpret_cast<const std::byte*>(&nothing);
  const auto update_words = [&](std::byte* at_words) { words.atomic(at_words, no_value, word_at); };
  const double word_s = fastest_s(team, kUpdates, [&] { update_words(mine); });
  costs.lock_s = 2 * word_s + costs.plain_s;
  costs.atomic_s =
      operations.has_atomic
          ? fastest_s(team, kUpdates, [&] { operations.atomic(mine, value.data(), at); })
          : std::numeric_limits<double>::infinity();

  if (operations.has_replicas) {
    STRIPLINE_ASSIGN_OR_RETURN(costs.fold_s, measure_fold_s(team, operations, replica_bytes));
  }

  // An update in a box reads where the box is, besides.
  std::vector<std::byte*> table(cells, mine);
  const std::vector<uint16_t> box_at = random_cells(cells, team.count() + team.index());
  costs.box_s = fastest_s(team, kUpdates, [&] {
    for (size_t i = 0; i < kUpdates; ++i) {
      std::byte* volatile* const box = &table[box_at[i]];
      operations.plain(*box, value.data(), std::span(&at[i], 1));
    }
  });

  // Where all update the same cells, each line was most likely last changed by another worker.
  team.barrier();
  const double contended_s = fastest_s(team, kUpdates, [&] { update_words(common); });
  team.barrier();
  const double others = static_cast<double>(team.count() - 1) / team.count();
  costs.transfer_s = others > 0 ? std::max(0.0, contended_s - word_s) / others : 0;

  for (double* const one : {&costs.plain_s, &costs.lock_s, &costs.transfer_s, &costs.box_s,
                            &costs.fold_s, &costs.barrier_s}) {
    *one = agreed(team, *one);
  }
  if (operations.has_atomic) costs.atomic_s = agreed(team, costs.atomic_s);
  return costs;
}

}  // namespace stripline::update
