// How noisy the measurements behind a fit were: what a person should know before trusting it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "optimizer/experiment/experiment.h"

namespace stripline::fit {

struct Noise {
  std::size_t samples = 0;
  /// Samples outside Tukey's fences of their series. They are counted, not deleted: every estimate
  /// is a median.
  std::size_t outliers = 0;
  /// Relative change of all times from the first run to the last, when its 95% interval excludes
  /// zero (Theil and Sen's slope over runs); absent with fewer than six runs, too.
  std::optional<double> drift;
  /// The share of the variance of log times that lies between runs, 0 to 1 (intraclass
  /// correlation), median over points. Near 1, more repetitions per run would add nothing; runs do.
  std::optional<double> between_runs;
};

/// Judges verified series; others, and those with values that are not finite, are left out. Series
/// with values of zero or less (differences of times) count for outliers only. Pure.
Noise judge_noise(std::span<const experiment::SampleSeries> series);

}  // namespace stripline::fit
