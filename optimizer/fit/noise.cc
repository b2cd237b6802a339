#include "optimizer/fit/noise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "optimizer/stats/order.h"
#include "optimizer/stats/variance.h"

namespace stripline::fit {
namespace {

using LogTimes = std::map<uint32_t, std::vector<double>>;  // of one point, by run

// How much slower each run was than the typical one: the median over points of log ratios.
std::map<uint32_t, double> slowness_of_runs(const std::map<std::string, LogTimes>& points) {
  std::map<uint32_t, std::vector<double>> ratios;
  for (const auto& [key, runs] : points) {
    std::vector<double> medians;
    for (const auto& [run, logs] : runs) medians.push_back(stats::median(logs));
    const double typical = stats::median(medians);
    size_t i = 0;
    for (const auto& [run, logs] : runs) ratios[run].push_back(medians[i++] - typical);
  }
  std::map<uint32_t, double> slowness;
  for (const auto& [run, values] : ratios) slowness[run] = stats::median(values);
  return slowness;
}

std::optional<double> drift_of(const std::map<std::string, LogTimes>& points) {
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [run, slowness] : slowness_of_runs(points)) {
    x.push_back(run);
    y.push_back(slowness);
  }
  if (x.size() < 2) return std::nullopt;
  const auto line = stats::theil_sen(x, y);
  if (!line.ok() || !line->significant) return std::nullopt;
  return std::expm1(line->slope * (x.back() - x.front()));
}

std::optional<double> between_runs_of(const std::map<std::string, LogTimes>& points) {
  std::vector<double> shares;
  for (const auto& [key, by_run] : points) {
    stats::Runs runs;
    for (const auto& [run, logs] : by_run) runs.push_back(logs);
    const auto variance = stats::nested_variance(runs);
    if (variance.ok()) shares.push_back(variance->icc);
  }
  if (shares.empty()) return std::nullopt;
  return stats::median(shares);
}

}  // namespace

Noise judge_noise(std::span<const experiment::SampleSeries> series) {
  Noise noise;
  std::map<std::string, LogTimes> points;
  for (const experiment::SampleSeries& one : series) {
    const auto finite = [](double value) { return std::isfinite(value); };
    if (!one.verified || one.values.empty() || !std::ranges::all_of(one.values, finite)) continue;
    noise.samples += one.values.size();
    const stats::OutlierCounts outliers = stats::tukey_outliers(one.values);
    noise.outliers += outliers.low + outliers.high;
    if (std::ranges::any_of(one.values, [](double value) { return value <= 0; })) continue;
    std::vector<double>& logs = points[point_key(one.point)][one.run];
    for (const double value : one.values) logs.push_back(std::log(value));
  }
  noise.drift = drift_of(points);
  noise.between_runs = between_runs_of(points);
  return noise;
}

}  // namespace stripline::fit
