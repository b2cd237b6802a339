#include "optimizer/campaign/pace.h"

#include <algorithm>

namespace stripline::campaign {
namespace {

// What it takes to start the ranks of a run, where that has not been measured: an allowance.
constexpr double kRunStartS = 1.0;

double start_of(const FinishedRun& run) {
  return run.start_s > 0 ? run.start_s : std::min(kRunStartS, run.duration_s / 2);
}

}  // namespace

double typical_run_s(const std::vector<FinishedRun>& runs) {
  double sum = 0;
  for (const FinishedRun& run : runs) sum += run.duration_s;
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

std::optional<Pace> typical_pace(const std::vector<FinishedRun>& runs) {
  double points = 0;
  double starts_s = 0;
  double measuring_s = 0;
  for (const FinishedRun& run : runs) {
    const double start_s = start_of(run);
    points += run.points;
    starts_s += start_s;
    measuring_s += run.duration_s - start_s;
  }
  if (points == 0) return std::nullopt;
  return Pace{starts_s / static_cast<double>(runs.size()), measuring_s / points};
}

double run_seconds(const Pace& pace, double points) { return pace.start_s + pace.point_s * points; }

}  // namespace stripline::campaign
