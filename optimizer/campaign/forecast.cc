#include "optimizer/campaign/forecast.h"

#include <algorithm>
#include <cmath>

namespace stripline::campaign {
namespace {

double width_after(const EarlierWidth& earlier, uint32_t runs) {
  return earlier.width * std::sqrt(static_cast<double>(earlier.runs) / runs);
}

// The first number of runs that reaches the width; nullopt where none that may be made does.
std::optional<uint32_t> runs_needed(const Rule& rule, const std::optional<EarlierWidth>& earlier) {
  if (!earlier || rule.width <= 0) return std::nullopt;
  for (uint32_t runs = rule.enough_runs; runs <= rule.runs + kExtraRuns; ++runs) {
    if (width_after(*earlier, runs) <= rule.width) return runs;
  }
  return std::nullopt;
}

}  // namespace

Forecast forecast(const Rule& rule, const Pace& pace, const std::optional<EarlierWidth>& earlier) {
  Rule expected = rule;
  expected.width = 0;
  expected.race = false;
  const auto needed = runs_needed(rule, earlier);
  if (needed) expected.runs = std::max(rule.runs, *needed);
  Progress progress;
  Next next = next_run(expected, progress);
  Forecast forecast;
  for (; !next.done; next = next_run(expected, progress)) {
    const double seconds = run_seconds(pace, next.grid);
    // The budget ends within this run, which is then given up.
    if (progress.spent_s + seconds > budget_s(rule)) {
      progress.spent_s = budget_s(rule);
      continue;
    }
    progress.runs.push_back({next.grid, next.grid, pace.start_s, seconds});
    progress.spent_s += seconds;
    forecast.points += next.grid;
    if (next.grid >= rule.all_points) ++forecast.runs_of_all;
    // Every point has enough runs, and the intervals are narrow.
    if (needed && progress.runs.size() >= *needed && forecast.runs_of_all >= rule.enough_runs) {
      expected.runs = static_cast<uint32_t>(progress.runs.size());
    }
  }
  forecast.runs = static_cast<uint32_t>(progress.runs.size());
  forecast.seconds = progress.spent_s;
  forecast.node_s = forecast.seconds * rule.nodes;
  forecast.reason = *next.done;
  forecast.usable = next.usable && forecast.runs >= rule.fewest_runs;
  if (earlier && forecast.runs > 0) forecast.width = width_after(*earlier, forecast.runs);
  const bool reached = needed && forecast.width && *forecast.width <= rule.width;
  if (forecast.reason == StopReason::max_runs && reached) forecast.reason = StopReason::converged;
  return forecast;
}

}  // namespace stripline::campaign
