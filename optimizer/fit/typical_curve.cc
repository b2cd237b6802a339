#include "optimizer/fit/typical_curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numbers>
#include <vector>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

constexpr int kPolishes = 4;
// So many runs tell how far they scatter, and so many sizes how far the typical one's do.
constexpr std::size_t kRunsThatTell = 3;
constexpr std::size_t kSizesThatTell = 3;
constexpr double kInfinite = 1e9;  // degrees of freedom
// Variance of a median beside that of a mean of as many values, at most.
constexpr double kOfMedian = std::numbers::pi / 2;

using RunEffects = std::map<uint32_t, double>;

// What runs are slower by at all sizes: of the typical run 1.
RunEffects run_effects(const SizeCurve& curve) {
  RunEffects effects;
  for (const auto& [bytes, medians] : curve) {
    for (const auto& [run, value] : medians) effects[run] = 1.0;
  }
  for (int i = 0; i < kPolishes; ++i) {
    std::map<uint32_t, std::vector<double>> by_run;
    for (const auto& [bytes, medians] : curve) {
      std::vector<double> values;
      for (const auto& [run, value] : medians) values.push_back(value / effects.at(run));
      const double typical = stats::median(values);
      if (!(typical > 0.0)) continue;
      for (const auto& [run, value] : medians) by_run[run].push_back(value / typical);
    }
    std::vector<double> all;
    for (const auto& [run, ratios] : by_run) {
      if (const double effect = stats::median(ratios); effect > 0.0) effects[run] = effect;
    }
    for (const auto& [run, effect] : effects) all.push_back(effect);
    const double typical = stats::median(all);
    for (auto& [run, effect] : effects) effect /= typical;
  }
  return effects;
}

SizeCurve without(const SizeCurve& curve, const RunEffects& effects) {
  SizeCurve rest = curve;
  for (auto& [bytes, medians] : rest) {
    for (auto& [run, value] : medians) value /= effects.at(run);
  }
  return rest;
}

// The variance of a run's logarithm at the size in the middle. The median of variances lies below
// their mean.
double variance_of_runs(const SizeCurve& rest) {
  std::vector<double> variances;
  for (const auto& [bytes, medians] : rest) {
    std::vector<double> logs;
    for (const auto& [run, value] : medians) {
      if (value > 0.0) logs.push_back(std::log(value));
    }
    if (logs.size() < kRunsThatTell) continue;
    const double freedom = static_cast<double>(logs.size()) - 1.0;
    variances.push_back(stats::mean_and_variance(logs).variance /
                        stats::f_quantile(0.5, freedom, kInfinite));
  }
  if (variances.size() < kSizesThatTell) return 0.0;
  // The effects of runs were fitted to the same values.
  const auto sizes = static_cast<double>(variances.size());
  return stats::median(variances) * sizes / (sizes - 1.0);
}

}  // namespace

TypicalCurve typical_curve(const SizeCurve& curve) {
  const RunEffects effects = run_effects(curve);
  const SizeCurve rest = without(curve, effects);
  std::size_t most_runs = 1;
  for (const auto& [bytes, medians] : rest) most_runs = std::max(most_runs, medians.size());
  const std::map<uint64_t, double> weights = weights_of(rest);
  TypicalCurve typical;
  double values = 0;
  for (const auto& [bytes, medians] : rest) {
    const double share = static_cast<double>(medians.size()) / static_cast<double>(most_runs);
    typical.curve.push_back({bytes, across_runs(medians), weights.at(bytes) * share});
    values += static_cast<double>(medians.size());
  }
  const double variance = variance_of_runs(rest);
  if (!(variance > 0.0)) return typical;
  typical.noise =
      std::max(kLeastNoise, std::sqrt(kOfMedian * variance / static_cast<double>(most_runs)));
  typical.freedom = std::max(1.0, values - static_cast<double>(curve.size() + effects.size() - 1));
  return typical;
}

}  // namespace stripline::fit
