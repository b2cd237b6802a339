// Racing candidates: those that a paired test finds slower are dropped, round by round. Pure.
//
// The time of the winner is not its result: the minimum of noisy medians is too low, it was chosen
// for its luck. Measure it again in fresh runs.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "base/result.h"

namespace stripline::search {

/// times[candidate][run]: the candidate's median time in that run, in seconds. Runs are shared by
/// all candidates. NaN stands for "not measured in this run".
using TimeTable = std::vector<std::vector<double>>;

/// How to race candidates.
struct RaceRule {
  /// One-sided Wilcoxon level, in (0, 1), at which a slower one is dropped.
  double level = 0.05;
  std::size_t target_rounds = 12;  ///< Rounds (runs) every survivor should get.
  /// One whose median exceeds the leader's this many times, at least 1, is dropped at once.
  double hopeless_factor = 3.0;
  double time_budget_s = std::numeric_limits<double>::infinity();  ///< For the whole race.
  std::vector<std::size_t> keep;  ///< Candidates never dropped: the default, the one in production.
};

/// Why a candidate left the race.
enum class DropReason { hopeless, slower, halved };
const char* to_string(DropReason reason);

struct Dropped {
  std::size_t candidate = 0;
  DropReason reason = DropReason::slower;
};

/// What to do next.
struct RaceStep {
  std::vector<std::size_t> survivors;  ///< Ascending. Measure these for one more round if not done.
  std::vector<Dropped> dropped;        ///< Candidates that this step removed.
  std::size_t leader = 0;              ///< Survivor with the lowest median.
  bool done = false;  ///< One survivor, enough rounds, or no time for another round.
};

/// Judges a race after a round. `alive` are the candidates still in it; all of them must have been
/// measured in the same rounds, which are the runs where none of them is NaN. Three rules, in
/// order: hopeless ones go; those that the paired Wilcoxon test finds slower than the leader go;
/// and when the rest of the budget cannot bring all others to target_rounds, the slower half goes
/// (successive halving). Pruning tests are not corrected for multiplicity: a wrong drop costs at
/// most the difference to the leader, and the leader is confirmed on fresh runs anyway. `spent_s`
/// is the time spent so far. Errors: invalid_argument for an empty or ragged table, an index
/// outside it, a time that is not above zero, or a rule out of its bounds; failed_precondition when
/// no round is complete.
Result<RaceStep> race_step(const TimeTable& times, const std::vector<std::size_t>& alive,
                           const RaceRule& rule, double spent_s);

}  // namespace stripline::search
