#include "optimizer/fit/fit_rma.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/paired_runs.h"
#include "optimizer/stats/order.h"

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

// The means of the runs that measured the way at every value of the factor.
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

// A larger message must be so much faster to be worth its memory.
constexpr double kNearlyBest = 1.02;

// Puts up to here are combined without a model (runtime/rma/put_combiner.h).
constexpr uint64_t kCombinedByDefault = 64;

// Buffered puts up to here are copied without a model (runtime/rma/tuning.h).
constexpr uint64_t kCopiedByDefault = uint64_t{64} << 10;

struct LargestGain {
  uint64_t bytes = 0;
  std::optional<model::Parameter> gain;
};

// The largest size up to which `candidate` is surely faster than `baseline`, or, up to
// `by_default`, not surely slower. nullopt if no size was measured in both ways.
std::optional<LargestGain> largest_gain(const WaysByFactor& by_bytes, const char* candidate,
                                        const char* baseline, uint64_t by_default,
                                        double confidence) {
  LargestGain largest;
  bool any = false;
  for (const auto& [bytes, ways] : by_bytes) {
    const WayTimes* tried = way_at(ways, candidate);
    const WayTimes* base = way_at(ways, baseline);
    if (tried == nullptr || base == nullptr) continue;
    const auto ratio = ratio_of(tried->times, base->times, confidence);
    if (!ratio) continue;
    any = true;
    const bool faster = ratio->interval.high < 1;
    const bool slower = ratio->interval.low > 1;
    if (!faster && (slower || bytes > by_default)) break;
    largest = {bytes, gain_of(*ratio, tried->raw_samples)};
    largest.gain->value = std::max(largest.gain->value, 0.0);
    largest.gain->ci_high = std::max(largest.gain->ci_high, largest.gain->value);
  }
  return any ? std::optional(largest) : std::nullopt;
}

// Per run the slope of the time per put over the messages per put.
std::optional<model::Parameter> message_cost(const WaysByFactor& by_message, double confidence) {
  std::map<uint32_t, std::vector<std::pair<double, double>>> points;
  uint32_t raw_samples = 0;
  for (const auto& [message_bytes, ways] : by_message) {
    const WayTimes* combined = way_at(ways, "combined");
    const uint64_t puts = message_bytes / kMessageEntryBytes;
    if (combined == nullptr || puts == 0) continue;
    for (const auto& [run, time] : combined->times) {
      points[run].emplace_back(1 / static_cast<double>(puts), time);
    }
    raw_samples += combined->raw_samples;
  }
  std::vector<double> per_run;
  for (const auto& [run, of_run] : points) {
    if (of_run.size() != by_message.size() || of_run.size() < 2) continue;
    const auto count = static_cast<double>(of_run.size());
    double mean_x = 0;
    double mean_y = 0;
    for (const auto& [x, y] : of_run) {
      mean_x += x / count;
      mean_y += y / count;
    }
    double xx = 0;
    double xy = 0;
    for (const auto& [x, y] : of_run) {
      xx += (x - mean_x) * (x - mean_x);
      xy += (x - mean_x) * (y - mean_y);
    }
    per_run.push_back(xy / xx);
  }
  return over_runs(per_run, raw_samples, "line-per-run+t", {.confidence = confidence});
}

std::optional<uint64_t> best_message(const WaysByFactor& by_message) {
  std::map<uint64_t, double> means;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [message_bytes, ways] : by_message) {
    const WayTimes* combined = way_at(ways, "combined");
    if (combined == nullptr) continue;
    std::vector<double> per_run;
    for (const auto& [run, time] : combined->times) per_run.push_back(time);
    means[message_bytes] = stats::mean_and_variance(per_run).mean;
    best = std::min(best, means[message_bytes]);
  }
  for (const auto& [message_bytes, mean] : means) {
    if (mean <= kNearlyBest * best) return message_bytes;
  }
  return std::nullopt;
}

// By how much `one` takes longer than `other`, within the runs that have both.
std::optional<model::Parameter> excess(const WayTimes* one, const WayTimes* other,
                                       double confidence) {
  if (one == nullptr || other == nullptr) return std::nullopt;
  std::vector<double> per_run;
  for (const auto& [run, time] : one->times) {
    const auto same_run = other->times.find(run);
    if (same_run != other->times.end()) per_run.push_back(time - same_run->second);
  }
  return over_runs(per_run, one->raw_samples + other->raw_samples, "difference-per-run+t",
                   {.confidence = confidence});
}

model::Parameter scaled(model::Parameter parameter, double factor) {
  parameter.value *= factor;
  parameter.ci_low *= factor;
  parameter.ci_high *= factor;
  return parameter;
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

std::optional<model::BufferedPutModel> fit_buffered_put(const RmaSamples& samples,
                                                        double confidence,
                                                        std::vector<std::string>& notes) {
  if (samples.buffered_put.empty()) return std::nullopt;
  auto largest =
      largest_gain(samples.buffered_put, "copied", "waited", kCopiedByDefault, confidence);
  if (!largest) {
    notes.emplace_back("the cut-off of buffered puts is absent: fewer than two runs measured both");
    return std::nullopt;
  }
  return model::BufferedPutModel{largest->bytes, std::move(largest->gain)};
}

std::optional<model::PutCombiningModel> fit_put_combining(const RmaSamples& samples,
                                                          double confidence,
                                                          std::vector<std::string>& notes) {
  if (samples.put_combining.empty() && samples.put_message.empty()) return std::nullopt;
  const char* const unknown =
      "the rule of combining puts is absent: fewer than two runs measured both ways, or the sizes "
      "of messages";
  auto message_s = message_cost(samples.put_message, confidence);
  const auto message_bytes = best_message(samples.put_message);
  const auto largest =
      largest_gain(samples.put_combining, "combined", "alone", kCombinedByDefault, confidence);
  if (!message_s || !message_bytes || !largest) {
    notes.emplace_back(unknown);
    return std::nullopt;
  }
  model::PutCombiningModel combining;
  combining.max_put_bytes = std::min(largest->bytes, *message_bytes / 2 - sizeof(uint64_t));
  combining.message_bytes = *message_bytes;
  combining.max_delay_s = scaled(*message_s, kMessagesOfDelay);
  combining.message_s = *std::move(message_s);
  if (combining.max_put_bytes != 0) combining.gain = largest->gain;
  return combining;
}

std::optional<model::ProgressModel> fit_progress(const RmaSamples& samples, double confidence,
                                                 std::vector<std::string>& notes) {
  if (samples.progress_call.empty() && samples.progress_wait.empty()) return std::nullopt;
  std::optional<model::Parameter> call_s;
  std::optional<model::Parameter> answer_s;
  if (!samples.progress_call.empty()) {
    const auto& smallest = samples.progress_call.begin()->second;
    call_s = excess(way_at(smallest, "thread"), way_at(smallest, "calls"), confidence);
  }
  if (samples.progress_wait.size() > 1) {
    answer_s = excess(way_at(samples.progress_wait.rbegin()->second, "thread"),
                      way_at(samples.progress_wait.begin()->second, "thread"), confidence);
  }
  if (!call_s || !answer_s) {
    notes.emplace_back(
        "what a progress thread costs is absent: fewer than two runs measured calls and answers "
        "with it");
    return std::nullopt;
  }
  return model::ProgressModel{*std::move(call_s), *std::move(answer_s)};
}

std::optional<model::RmaModel> fit_rma(const RmaSamples& samples, double confidence,
                                       std::vector<std::string>& notes) {
  model::RmaModel rma{.buffered_put = fit_buffered_put(samples, confidence, notes),
                      .put_combining = fit_put_combining(samples, confidence, notes),
                      .atomic = fit_atomic(samples, confidence, notes),
                      .progress = fit_progress(samples, confidence, notes)};
  if (!rma.buffered_put && !rma.put_combining && !rma.atomic && !rma.progress) return std::nullopt;
  return rma;
}

}  // namespace stripline::fit
