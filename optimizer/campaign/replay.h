// A recorded campaign measured again, without hardware: which alternatives a strategy would have
// chosen, and what that would have cost. The strategies of next_run() are compared with simpler
// ones by such replays. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "optimizer/campaign/recording.h"

namespace stripline::campaign {

enum class Strategy {
  grid,      ///< All points in all runs.
  race,      ///< As next_run() says.
  straddle,  ///< The same, of choices of every other size first, and then of those that are
             ///< uncertain.
  random,    ///< Points by chance.
  halving,   ///< The slower half of each choice is given up after each run.
};
std::string_view to_string(Strategy strategy);  ///< The enumerator's name.
std::optional<Strategy> strategy_from_string(std::string_view name);

struct ReplayTerms {
  Strategy strategy = Strategy::race;
  double share = 0.15;  ///< Share of the recording's seconds, above 0, that all but grid may take.
  uint64_t seed = 1;    ///< Seed of chance.
  /// What a campaign on another machine has said: a race begins with what was nearly the fastest
  /// there (promising()). None: it begins with everything.
  const Recording* prior = nullptr;
};

struct ReplayResult {
  size_t runs = 0;
  double seconds = 0;  ///< Time of measuring, on the clock of the recording.
  double share = 0;    ///< Part of the recording's.
  size_t choices = 0;
  size_t near = 0;         ///< Choices slower than the best by at most 3 %.
  double mean_regret = 0;  ///< Geometric mean of chosen time over the best one's, less 1.
  double worst_regret = 0;
};

/// The best alternative of a choice is that with the lowest median over all recorded runs, which is
/// also by what the chosen one is judged. Errors: failed_precondition for a recording without a
/// choice; invalid_argument for a share that is not above 0.
Result<ReplayResult> replay(const Recording& recording, const ReplayTerms& terms);

}  // namespace stripline::campaign
