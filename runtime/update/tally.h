// What the updates of a rank were since the ranks have added up such tallies, as far as decisions
// about them need it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include <stripline/global_ptr.h>

#include "runtime/decide/group_execution.h"
#include "runtime/update/parcel.h"

namespace stripline::update {

struct Tally {
  uint32_t periods = 0;  ///< that have ended, from one end of an epoch to the next
  std::array<uint64_t, decide::kMostAhead> of_period = {};  ///< updates of each of them
  uint64_t updates = 0;                                     ///< merged ones, too
  uint64_t own = 0;                                         ///< of these, of cells of this rank
  uint64_t fetches = 0;
  uint64_t of_ended = 0;  ///< updates of the periods that have ended
  // The rest only where they are counted closely.
  std::vector<uint64_t> by_owner;
  std::unordered_set<uint64_t> some_cells;  ///< hashes of one cell of 2^rarity
  uint32_t rarity = 0;
  uint64_t lowest = ~uint64_t{0};  ///< cells
  uint64_t highest = 0;
  uint64_t compared = 0;  ///< values that were compared with others of their buffer
  uint64_t alike = 0;     ///< of these, in buffers with one value

  static constexpr size_t kMostSome = 2048;

  /// How many different cells there were, about; exactly if they were few.
  uint64_t cells() const { return uint64_t{some_cells.size()} << rarity; }

  /// Updates of `count` cells of an owner, counted from `first` on, of which some were merged.
  void look(rank_t owner, uint64_t first, std::span<const Cell> cells, uint64_t merged) {
    by_owner[owner] += cells.size() + merged;
    for (const Cell low : cells) {
      const uint64_t cell = first + low;
      lowest = std::min(lowest, cell);
      highest = std::max(highest, cell);
      constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
      const uint64_t hash = ((uint64_t{owner} << 44U) ^ cell) * kGolden;
      if (is_some(hash)) some_cells.insert(hash);
      if (some_cells.size() > kMostSome) {
        ++rarity;
        std::erase_if(some_cells, [this](uint64_t one) { return !is_some(one); });
      }
    }
  }
  bool is_some(uint64_t hash) const {
    return static_cast<uint32_t>(std::countl_zero(hash)) >= rarity;
  }
  void look_at_values(uint64_t values, bool same) {
    compared += values;
    if (same) alike += values;
  }
  void end_period() {
    of_period[periods++] = updates - of_ended;
    of_ended = updates;
  }
  void restart(rank_t ranks, bool closely) {
    *this = {};
    if (closely) by_owner.resize(ranks);
  }
};
}  // namespace stripline::update
