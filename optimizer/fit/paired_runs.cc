#include "optimizer/fit/paired_runs.h"

#include <vector>

namespace stripline::fit {

std::optional<stats::Ratio> ratio_of(const RunMedians& candidate, const RunMedians& baseline,
                                     double confidence) {
  std::vector<double> times;
  std::vector<double> base;
  for (const auto& [run, time] : candidate) {
    const auto same_run = baseline.find(run);
    if (same_run == baseline.end()) continue;
    times.push_back(time);
    base.push_back(same_run->second);
  }
  if (times.size() < 2) return std::nullopt;
  const auto ratio = stats::paired_ratio(times, base, confidence);
  if (!ratio.ok()) return std::nullopt;
  return *ratio;
}

model::Parameter gain_of(const stats::Ratio& ratio, uint32_t samples) {
  return {.value = 1 - ratio.value,
          .ci_low = 1 - ratio.interval.high,
          .ci_high = 1 - ratio.interval.low,
          .runs = static_cast<uint32_t>(ratio.runs),
          .samples = samples,
          .method = "paired-log-ratio+t"};
}

}  // namespace stripline::fit
