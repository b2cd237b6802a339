#include "runtime/update/shared_costs.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <sched.h>
#include <utility>

#include "base/random.h"
#include "runtime/machine/topology.h"

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

}  // namespace

Result<SharedProbe> SharedProbe::create(worker_team& team, const CellOperations& operations,
                                        size_t replica_bytes) {
  // What this worker updates by itself, and what all update, which is the first worker's.
  const size_t cells = std::max<size_t>(1, kRegionBytes / operations.bytes);
  STRIPLINE_ASSIGN_OR_RETURN(TeamBlocks blocks, TeamBlocks::create(team, cells * operations.bytes));
  // As much memory as will be combined, as far as it matters how much.
  const size_t folded =
      std::max<size_t>(1, std::min(replica_bytes, kMostFoldedBytes) / operations.bytes);
  STRIPLINE_ASSIGN_OR_RETURN(TeamBlocks folded_blocks,
                             TeamBlocks::create(team, 2 * folded * operations.bytes));
  return SharedProbe(team, operations, cells, std::move(blocks), folded, std::move(folded_blocks));
}

SharedProbe::SharedProbe(worker_team& team, const CellOperations& operations, size_t cells,
                         TeamBlocks cells_of_workers, size_t folded, TeamBlocks folded_of_workers)
    : team_(&team),
      operations_(operations),
      cells_(cells),
      blocks_(std::move(cells_of_workers)),
      folded_cells_(folded),
      folded_(std::move(folded_of_workers)),
      value_(operations.bytes),
      at_(random_cells(cells, team.index())) {
  std::memset(blocks_.of(team.index()), 0, cells * operations.bytes);
}

double SharedProbe::seconds(SharedPart part) {
  const double mine = mine_s(part);
  return mine < std::numeric_limits<double>::infinity() ? agreed(*team_, mine) : mine;
}

double SharedProbe::mine_s(SharedPart part) {
  std::byte* const mine = blocks_.of(team_->index());
  switch (part) {
    case SharedPart::plain:
      return plain_s();
    case SharedPart::atomic:
      if (!operations_.has_atomic) return std::numeric_limits<double>::infinity();
      return fastest_s(*team_, kUpdates, [&] { operations_.atomic(mine, value_.data(), at_); });
    case SharedPart::lock:
      // Two atomic operations and the update.
      return 2 * words_s(mine) + plain_s();
    case SharedPart::transfer:
      return transfer_s();
    case SharedPart::box:
      return box_s();
    case SharedPart::fold: {
      if (!operations_.has_replicas) return 0;
      std::byte* const into = folded_.of(team_->index());
      std::byte* const replica = into + folded_cells_ * operations_.bytes;
      operations_.fill(into, folded_cells_);
      operations_.fill(replica, folded_cells_);
      team_->barrier();
      return fastest_s(*team_, folded_cells_, [&] {
        operations_.fold(into, replica, folded_cells_);
        operations_.fill(replica, folded_cells_);
      });
    }
    case SharedPart::barrier:
      return fastest_s(*team_, 4, [&] {
        for (int i = 0; i < 4; ++i) team_->barrier();
      });
  }
  return 0;
}

double SharedProbe::plain_s() {
  std::byte* const mine = blocks_.of(team_->index());
  return fastest_s(*team_, kUpdates, [&] { operations_.plain(mine, value_.data(), at_); });
}

// Atomic operations on words, so that types without them are no different.
double SharedProbe::words_s(std::byte* at) {
  const CellOperations words = detail::CellUpdates<uint64_t, op_add>::operations();
  const std::vector<uint16_t> word_at = random_cells(
      std::max<size_t>(1, cells_ * operations_.bytes / sizeof(uint64_t)), team_->index());
  const uint64_t nothing = 0;
  return fastest_s(*team_, kUpdates, [&] {
    words.atomic(at, reinterpret_cast<const std::byte*>(&nothing), word_at);
  });
}

// Reads where the box is, besides.
double SharedProbe::box_s() {
  std::vector<std::byte*> table(cells_, blocks_.of(team_->index()));
  const std::vector<uint16_t> box_at = random_cells(cells_, team_->count() + team_->index());
  return fastest_s(*team_, kUpdates, [&] {
    for (size_t i = 0; i < kUpdates; ++i) {
      std::byte* volatile* const box = &table[box_at[i]];
      operations_.plain(*box, value_.data(), std::span(&at_[i], 1));
    }
  });
}

// Where all update the same cells, each line was most likely last changed by another worker.
double SharedProbe::transfer_s() {
  const double word_s = words_s(blocks_.of(team_->index()));
  team_->barrier();
  const double contended_s = words_s(blocks_.of(0));
  team_->barrier();
  const double others = static_cast<double>(team_->count() - 1) / team_->count();
  return others > 0 ? std::max(0.0, contended_s - word_s) / others : 0;
}

Result<SharedCosts> measure_shared_costs(worker_team& team, const CellOperations& operations,
                                         size_t replica_bytes) {
  STRIPLINE_ASSIGN_OR_RETURN(SharedProbe probe,
                             SharedProbe::create(team, operations, replica_bytes));
  SharedCosts costs;
  for (size_t part = 0; part < plan::kSharedParts.size(); ++part) {
    costs.*plan::kSharedParts[part].cost = probe.seconds(static_cast<SharedPart>(part));
  }
  return costs;
}

model::SharedPlacement placement_of(worker_team& team) {
  const int here = ::sched_getcpu();
  const auto place =
      here < 0 ? std::nullopt : machine::read_processor_place(static_cast<uint64_t>(here));
  const std::vector<uint64_t> cores =
      team.allgather(place ? uint64_t{place->package} << 32 | place->core : 0);
  const auto alike = [&](uint64_t mask) {
    return std::ranges::all_of(cores,
                               [&](uint64_t one) { return (one & mask) == (cores[0] & mask); });
  };
  if (team.count() > 1 && alike(~uint64_t{0})) return model::SharedPlacement::core;
  return alike(~uint64_t{0} << 32) ? model::SharedPlacement::package : model::SharedPlacement::node;
}

}  // namespace stripline::update
