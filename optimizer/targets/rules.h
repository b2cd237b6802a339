// From decisions about cells to rules that are closed: a choice holds for the numbers of ranks and
// the sizes that it was measured at, and between two sizes with the same choice; everywhere else
// the default does, but for predictions between numbers of ranks. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/targets/candidate.h"
#include "optimizer/targets/collectives.h"

namespace stripline::targets {

/// What was decided in a cell.
struct Choice {
  Cell cell;
  Candidate candidate;  ///< id 0: the default
};

/// Sizes from `first` to `last`, both included, in the bytes of cells.
struct SizeRange {
  uint64_t first = 0;
  uint64_t last = 0;
  Candidate candidate;
};

/// For communicators of exactly this many ranks. Ranges ascend and do not overlap; none is of the
/// default.
struct RankRules {
  uint32_t ranks = 0;
  std::vector<SizeRange> ranges;
};

struct CollectiveRules {
  Collective collective = Collective::allreduce;
  std::vector<RankRules> by_ranks;  ///< ascending; without those that only have the default
  /// False: for ranks on a node of their own each; else for those of one node. A target that does
  /// not distinguish that takes them for both.
  bool one_node = true;
};

/// `by_size`: whether the target distinguishes sizes of this collective. Where it does not, or
/// ranks may see other sizes, a choice holds only where it was made at every size. Two choices at
/// neighbouring sizes meet at their geometric mean, unless one is the default, which begins beside
/// the measured size. All choices are of one collective, and of ranks of one node or of one rank of
/// each; a cell that comes twice counts once.
CollectiveRules closed_rules(Collective collective, std::span<const Choice> choices, bool by_size);

/// Numbers of ranks that choices are predicted for: what lies between two neighbours of `measured`,
/// which is sorted, where these are within a factor of two, and both have a processor for each
/// rank, or neither has. Two ranks say nothing about more.
std::vector<uint32_t> predictable_ranks(std::span<const uint32_t> measured, uint32_t processors);

/// The rules with predictions for these numbers: the choices that both neighbours have, at the
/// sizes at which both have them, where the candidate may be used there.
CollectiveRules with_predictions(const CollectiveRules& rules, std::span<const uint32_t> measured,
                                 uint32_t processors, const Safety& safety);

/// The candidate that rules give a call, or null for the default.
const Candidate* chosen_by(const CollectiveRules& rules, uint32_t ranks, uint64_t bytes);

}  // namespace stripline::targets
