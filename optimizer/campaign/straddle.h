// Where one alternative becomes faster than another, as transfers grow: instead of all sizes, those
// near the boundary are measured. What each alternative takes relative to another one is predicted
// by a Gaussian process over the sizes; measured next are the choices whose two best are hardest to
// distinguish, for their cost (the straddle heuristic: Bryan, Schneider, Nichol, Miller, Genovese,
// Wasserman, Active learning for identifying function threshold boundaries, NIPS 2005).
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/point_table.h"

namespace stripline::campaign {

/// Choices (choices.h) that differ in sizes alone, and have the same alternatives.
struct Plane {
  struct Cell {
    Choice choice;           ///< By alternative, the same at each cell.
    std::vector<double> at;  ///< Logarithms (base 2) of its sizes.
  };
  std::vector<Cell> cells;
};

/// In order of their first places. Choices with sizes of their own make planes of one cell.
std::vector<Plane> planes_of(const PointTable& table);

/// What a first run measures: of each plane every other size in each dimension, the ends included,
/// and all where there are few. In order of their places.
std::vector<uint32_t> sparse_places(const PointTable& table);

/// One that was not measured, and what measuring all its alternatives would take.
struct Uncertain {
  Choice choice;
  double seconds = 0;
};

/// Choices that were not measured and are not certain enough, those that gain most for their time
/// first.
std::vector<Uncertain> uncertain_choices(const PointTable& table);

/// The alternative that is the fastest: by its own medians (leader_of()) where the choice was
/// measured, else by what was measured at other sizes. Nullopt where nothing tells.
std::optional<uint32_t> expected_leader(const PointTable& table, const Choice& choice);

}  // namespace stripline::campaign
