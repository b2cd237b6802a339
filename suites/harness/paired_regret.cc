#include "suites/harness/paired_regret.h"

#include <algorithm>

#include "optimizer/stats/interval.h"
#include "optimizer/stats/order.h"
#include "suites/harness/table.h"

namespace stripline::suites {
namespace {

// Over every other run, or over all.
double mean(const std::vector<double>& logs, std::optional<size_t> half) {
  double sum = 0;
  size_t count = 0;
  for (size_t i = half.value_or(0); i < logs.size(); i += half ? 2 : 1) {
    sum += logs[i];
    ++count;
  }
  return sum / static_cast<double>(count);
}

size_t fastest(const std::vector<std::vector<double>>& log_times, std::optional<size_t> half) {
  const auto found = std::ranges::min_element(
      log_times,
      [half](const auto& one, const auto& other) { return mean(one, half) < mean(other, half); });
  return static_cast<size_t>(found - log_times.begin());
}

}  // namespace

std::optional<PairedRegret> paired_regret(const std::vector<std::vector<double>>& log_times,
                                          size_t chosen) {
  const std::vector<double>& ours = log_times.at(chosen);
  if (ours.size() < 2) return std::nullopt;
  std::vector<double> lost(ours.size());
  for (const size_t half : {0U, 1U}) {
    const std::vector<double>& rival = log_times[fastest(log_times, half)];
    for (size_t i = 1 - half; i < lost.size(); i += 2) lost[i] = ours[i] - rival[i];
  }
  const auto interval = stats::mean_interval(lost, kConfidence);
  if (!interval.ok()) return std::nullopt;
  return PairedRegret{fastest(log_times, std::nullopt), stats::mean_and_variance(lost).mean,
                      interval->low, interval->high};
}

}  // namespace stripline::suites
