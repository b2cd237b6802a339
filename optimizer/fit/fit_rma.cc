#include "optimizer/fit/fit_rma.h"

#include <cmath>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/paired_runs.h"

namespace stripline::fit {
namespace {

const WayTimes* way_at(const std::map<std::string, WayTimes>& ways, const char* name) {
  const auto found = ways.find(name);
  return found == ways.end() ? nullptr : &found->second;
}

std::optional<model::Parameter> time_of(const WayTimes& way, double confidence) {
  std::vector<double> per_run;
  for (const auto& [run, time] : way.times) per_run.push_back(time);
  return over_runs(per_run, way.raw_samples, "run-medians+t", {.confidence = confidence});
}

// Of the runs that measured the way at every value of the factor.
WayTimes mean_over_factor(const WaysByFactor& by_factor, const char* way) {
  WayTimes mean;
  std::map<uint32_t, std::vector<double>> logs;
  for (const auto& [factor, ways] : by_factor) {
    const WayTimes* of_way = way_at(ways, way);
    if (of_way == nullptr) continue;
    for (const auto& [run, time] : of_way->times) logs[run].push_back(std::log(time));
    mean.raw_samples += of_way->raw_samples;
  }
  for (const auto& [run, of_run] : logs) {
    if (of_run.size() != by_factor.size()) continue;
    double sum = 0;
    for (const double one : of_run) sum += one;
    mean.times[run] = std::exp(sum / static_cast<double>(of_run.size()));
  }
  return mean;
}

}  // namespace

std::optional<model::AtomicModel> fit_atomic(const RmaSamples& samples, double confidence,
                                             std::vector<std::string>& notes) {
  if (samples.atomic.empty()) return std::nullopt;
  const auto& lone = samples.atomic.begin()->second;
  const WayTimes* provider = way_at(lone, "provider");
  const WayTimes* message = way_at(lone, "message");
  if (provider == nullptr || message == nullptr) return std::nullopt;
  const WayTimes by_messages = mean_over_factor(samples.atomic, "message");
  const auto ratio =
      ratio_of(by_messages.times, mean_over_factor(samples.atomic, "provider").times, confidence);
  auto provider_s = time_of(*provider, confidence);
  auto message_s = time_of(*message, confidence);
  if (!ratio || !provider_s || !message_s) {
    notes.emplace_back("the way of atomic operations is absent: fewer than two runs measured both");
    return std::nullopt;
  }
  model::AtomicModel atomic{model::AtomicWay::provider, *std::move(provider_s),
                            *std::move(message_s), std::nullopt};
  if (ratio->interval.high < 1) {
    atomic.way = model::AtomicWay::message;
    atomic.gain = gain_of(*ratio, by_messages.raw_samples);
  }
  return atomic;
}

std::optional<model::RmaModel> fit_rma(const RmaSamples& samples, double confidence,
                                       std::vector<std::string>& notes) {
  model::RmaModel rma{.atomic = fit_atomic(samples, confidence, notes)};
  if (!rma.atomic) return std::nullopt;
  return rma;
}

}  // namespace stripline::fit
