#include "optimizer/fit/rma_samples.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::SampleSeries;

constexpr double kMostCount = 9007199254740992.0;  // 2^53: integers up to here are exact.

struct Kind {
  const char* experiment;
  const char* factor;
  std::vector<std::string> ways;
  WaysByFactor RmaSamples::*member;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"micro.buffered_put", "bytes", {"waited", "copied"}, &RmaSamples::buffered_put},
      {"micro.put_combining", "bytes", {"alone", "combined"}, &RmaSamples::put_combining},
      {"micro.put_message", "message_bytes", {"combined"}, &RmaSamples::put_message},
      {"micro.atomic", "in_flight", {"provider", "message"}, &RmaSamples::atomic},
      {"micro.progress_call", "bytes", {"calls", "thread"}, &RmaSamples::progress_call},
      {"micro.progress_wait", "compute_us", {"calls", "thread"}, &RmaSamples::progress_wait}};
  return all;
}

// Why the series cannot be used; empty if it can.
std::string problem_of(const Kind& kind, const SampleSeries& series) {
  const auto bad_value = [](double v) { return !std::isfinite(v) || v < 0; };
  const auto factor = experiment::number_param(series.point, kind.factor);
  if (std::ranges::find(kind.ways, series.point.variant) == kind.ways.end()) {
    return "the variant is unknown to the fitter";
  }
  if (!series.verified) return "its result was not verified";
  if (series.values.empty()) return "it holds no samples";
  if (!factor || !(*factor >= 1) || !(*factor <= kMostCount) || std::floor(*factor) != *factor) {
    return std::string("the factor ") + kind.factor + " is missing or not a whole number";
  }
  if (std::ranges::any_of(series.values, bad_value)) return "a sample is not a time";
  return {};
}

}  // namespace

RmaSamples sort_rma_samples(std::span<const SampleSeries> series) {
  RmaSamples sorted;
  std::map<std::tuple<const Kind*, uint64_t, std::string, uint32_t>, std::vector<double>> pooled;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const SampleSeries& one = series[i];
    const auto kind = std::ranges::find_if(
        kinds(), [&one](const Kind& known) { return one.point.experiment == known.experiment; });
    if (kind == kinds().end()) continue;
    if (const std::string why = problem_of(*kind, one); !why.empty()) {
      sorted.rejected.push_back(experiment::point_key(one.point) + ", run " +
                                std::to_string(one.run) + ": left out, " + why);
      continue;
    }
    const auto factor = static_cast<uint64_t>(*experiment::number_param(one.point, kind->factor));
    auto& values = pooled[{&*kind, factor, one.point.variant, one.run}];
    values.insert(values.end(), one.values.begin(), one.values.end());
    sorted.used.push_back(i);
  }
  for (const auto& [key, values] : pooled) {
    const auto& [kind, factor, way, run] = key;
    WayTimes& times = (sorted.*(kind->member))[factor][way];
    times.times[run] = stats::median(values);
    times.raw_samples += static_cast<uint32_t>(values.size());
  }
  return sorted;
}

}  // namespace stripline::fit
