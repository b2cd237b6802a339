// The exhaustive search behind the row "best": all candidates for a kernel race over runs
// until one is left or the time is over.
#pragma once

#include <cstddef>
#include <variant>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "suites/bench/failure.h"
#include "suites/bench/measure.h"
#include "suites/bench/progress.h"

namespace stripline::suites::bench {

/// What the race chose. Its time is not reported: the choice flatters it, so it is measured again
/// in fresh runs beside the other rows.
struct BestPlan {
  experiment::Point point;
  size_t candidates = 0;  ///< tried
  size_t survivors = 0;   ///< not distinguished from the best
  size_t rounds = 0;      ///< runs of the race
};

/// Races these candidates, at least one, for at most `time_budget_s`. Every run measures all that
/// are still in the race, shuffled (optimizer/search/race.h says who leaves it; the first stays).
std::variant<BestPlan, Failure> find_best_plan(const Target& target,
                                               const std::vector<experiment::Point>& candidates,
                                               double time_budget_s, Progress& progress);

}  // namespace stripline::suites::bench
