// What a choice among several methods loses against the best of them, by times that were measured
// side by side. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace stripline::suites {

/// Logarithms of the ratio of the chosen time to the best one's.
///
/// The best of some noisy times is by luck among the fast ones in just these runs. So it is chosen
/// on every other run and compared, paired, in the runs between them, and vice versa:
/// `value` is the mean over all runs, which may be less than nothing.
struct PairedRegret {
  size_t best = 0;  ///< over all runs
  double value = 0;
  double low = 0;  ///< the 95 % interval over runs
  double high = 0;
};

/// `log_times` of each method, as logarithms: of each run one, the same runs of all. Nothing with
/// fewer than two runs.
std::optional<PairedRegret> paired_regret(const std::vector<std::vector<double>>& log_times,
                                          size_t chosen);

}  // namespace stripline::suites
