#include "suites/bench/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimizer/search/race.h"
#include "suites/bench/rows.h"

namespace stripline::suites::bench {
namespace {

constexpr size_t kTargetRounds = 12;
// Rather more runs than more repetitions: a run is what candidates are compared by.
constexpr uint32_t kMostReps = 10;
constexpr uint32_t kMostRepsWithoutHost = 2;  // where they differ by the profile's jitter only
constexpr double kLongestPointS = 0.05;
constexpr double kShortestPointS = 0.004;
// The share of the race's time that its first round may take, when all candidates are in it.
constexpr double kFirstRoundShare = 0.15;
// Runs of the race are numbered apart from those that confirm.
constexpr uint32_t kFirstRun = 1000;

}  // namespace

std::variant<BestPlan, Failure> find_best_plan(const Target& target,
                                               const std::vector<experiment::Point>& candidates,
                                               double time_budget_s, Progress& progress) {
  experiment::StopRule rule;
  rule.min_reps = 1;
  rule.max_reps = depends_on_host(target) ? kMostReps : kMostRepsWithoutHost;
  rule.time_budget_s =
      std::clamp(kFirstRoundShare * time_budget_s / static_cast<double>(candidates.size()),
                 kShortestPointS, kLongestPointS);
  search::RaceRule race;
  race.target_rounds = kTargetRounds;
  race.time_budget_s = time_budget_s;
  race.keep = {0};  // what a program does without tuning

  search::TimeTable times(candidates.size());
  std::vector<size_t> alive(candidates.size());
  std::iota(alive.begin(), alive.end(), size_t{0});
  const double start_s = progress.elapsed_s();
  search::RaceStep step;
  uint32_t round = 0;
  do {
    std::vector<experiment::Point> points;
    points.reserve(alive.size());
    for (const size_t candidate : alive) points.push_back(candidates[candidate]);
    progress.show("searching the best plan: round " + std::to_string(round + 1) + ", " +
                  std::to_string(alive.size()) + " of " + std::to_string(candidates.size()) +
                  " candidates");
    const auto series = measure_run(target, kFirstRun + round, rule, points);
    if (!series.ok()) return failure_of(series.error());
    Samples samples(points);
    samples.add(*series);
    if (auto failure = samples.check()) return *std::move(failure);
    for (std::vector<double>& row : times) row.push_back(std::nan(""));
    for (const size_t candidate : alive) {
      times[candidate].back() = samples.find(candidates[candidate])->medians().begin()->second;
    }
    ++round;
    const auto next = search::race_step(times, alive, race, progress.elapsed_s() - start_s);
    if (!next.ok()) return failure_of(next.error());
    step = *next;
    alive = step.survivors;
  } while (!step.done);
  return BestPlan{candidates[step.leader], candidates.size(), alive.size(), round};
}

}  // namespace stripline::suites::bench
