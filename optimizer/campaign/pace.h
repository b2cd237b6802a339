// How long runs take: from what finished ones took to what further ones will. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace stripline::campaign {

struct Pace {
  double start_s = 0;  ///< From giving the run out to its first point.
  double point_s = 0;  ///< For each point.
};

/// Points measured for less say little about the pace: it may be what comes once in each run.
inline constexpr double kLeastEvidenceS = 2;

/// A run that has ended well.
struct FinishedRun {
  uint32_t grid = 0;      ///< Number of the plan's first points that it was given.
  uint32_t points = 0;    ///< That it measured.
  double start_s = 0;     ///< Before the first point; 0: unknown.
  double duration_s = 0;  ///< All of it.
};

/// The mean time of these runs; 0 without any.
double typical_run_s(const std::vector<FinishedRun>& runs);

/// The mean pace of these runs; nullopt without any.
std::optional<Pace> typical_pace(const std::vector<FinishedRun>& runs);

/// What a run of `points` points takes.
double run_seconds(const Pace& pace, double points);

}  // namespace stripline::campaign
