// Decisions among the points of a campaign: alternatives that do the same thing, of which one is
// the fastest. They are raced: what is clearly slower is measured no more. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/campaign/point_table.h"

namespace stripline::campaign {

/// Alternatives, two or more, in order of their places: variants of one experiment with the same
/// parameters, and values of parameters that say how something is done and not what
/// (micro.vis_chunk, micro.vis_window).
struct Choice {
  std::vector<uint32_t> places;
};

/// Choices of collective operations, transfers of many regions, single operations and kernels.
/// Points of other experiments belong to none: their variants do different things.
std::vector<Choice> choices_of(const PointTable& table);

/// The alternative with the lowest median over the runs; of those that were dropped earlier none,
/// unless nothing else was measured. Nullopt when none has a median.
std::optional<uint32_t> leader_of(const PointTable& table, const Choice& choice);

/// The alternatives that a campaign elsewhere leaves worth a run here: of each choice those that
/// took at most `factor` times as long there as the fastest, and those that it does not know. In
/// order of their places.
std::vector<uint32_t> promising(const PointTable& table, const PointTable& elsewhere,
                                double factor = 1.5);

/// What racing needs to go on.
struct Contest {
  uint32_t leader = 0;
  /// Alternatives that may still be faster than the leader, the nearest one first, and by how much
  /// more than the leader's their medians are, as a share.
  struct Contender {
    uint32_t place = 0;
    double excess = 0;
  };
  std::vector<Contender> contenders;
};

/// The contests of the last run's measured points. A choice without contenders is settled and is
/// left out.
std::vector<Contest> contests_of(const PointTable& table);

}  // namespace stripline::campaign
