#include "optimizer/fit/sections/rma.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/paired_runs.h"
#include "optimizer/fit/section_fits.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;

// One method at one value of an experiment's factor, seconds per operation.
struct MethodTimes {
  RunMedians times;
  uint32_t raw_samples = 0;
};

// By value of the factor, then name of the method.
using MethodsByFactor = std::map<uint64_t, std::map<std::string, MethodTimes>>;

MethodsByFactor methods_of(const SampleTable& table, const experiment::Known& known,
                           const char* name = factor::kBytes) {
  MethodsByFactor methods;
  for (const SampleRow& row : table.rows(known)) {
    methods[row.number(name)][row.variant] = {row.medians, row.raw_samples()};
  }
  return methods;
}

const MethodTimes* method_at(const std::map<std::string, MethodTimes>& methods, const char* name) {
  const auto found = methods.find(name);
  return found == methods.end() ? nullptr : &found->second;
}

std::optional<model::Parameter> time_of(const MethodTimes& method, double confidence) {
  std::vector<double> per_run;
  for (const auto& [run, time] : method.times) per_run.push_back(time);
  return over_runs(per_run, method.raw_samples, "run-medians+t", {.confidence = confidence});
}

// The means of the runs that measured the method at every value of the factor.
MethodTimes mean_over_factor(const MethodsByFactor& by_factor, const char* method) {
  MethodTimes mean;
  std::map<uint32_t, std::vector<double>> logs;
  for (const auto& [factor, methods] : by_factor) {
    const MethodTimes* of_method = method_at(methods, method);
    if (of_method == nullptr) continue;
    for (const auto& [run, time] : of_method->times) logs[run].push_back(std::log(time));
    mean.raw_samples += of_method->raw_samples;
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
// `by_default`, not surely slower. nullopt if no size was measured by both methods.
std::optional<LargestGain> largest_gain(const MethodsByFactor& by_bytes, const char* candidate,
                                        const char* baseline, uint64_t by_default,
                                        double confidence) {
  LargestGain largest;
  bool any = false;
  for (const auto& [bytes, methods] : by_bytes) {
    const MethodTimes* tried = method_at(methods, candidate);
    const MethodTimes* base = method_at(methods, baseline);
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
std::optional<model::Parameter> message_cost(const MethodsByFactor& by_message, double confidence) {
  std::map<uint32_t, std::vector<std::pair<double, double>>> points;
  uint32_t raw_samples = 0;
  for (const auto& [message_bytes, methods] : by_message) {
    const MethodTimes* combined = method_at(methods, variant::kCombined);
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

std::optional<uint64_t> best_message(const MethodsByFactor& by_message) {
  std::map<uint64_t, double> means;
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [message_bytes, methods] : by_message) {
    const MethodTimes* combined = method_at(methods, variant::kCombined);
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
std::optional<model::Parameter> excess(const MethodTimes* one, const MethodTimes* other,
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

std::optional<model::AtomicModel> fit_atomic(const SampleTable& table, double confidence,
                                             std::vector<std::string>& notes) {
  const MethodsByFactor methods = methods_of(table, micro::kAtomic, factor::kInFlight);
  if (methods.empty()) return std::nullopt;
  const auto& lone = methods.begin()->second;
  const MethodTimes* provider = method_at(lone, variant::kProvider);
  const MethodTimes* message = method_at(lone, variant::kMessage);
  if (provider == nullptr || message == nullptr) return std::nullopt;
  const MethodTimes by_messages = mean_over_factor(methods, variant::kMessage);
  const auto ratio =
      ratio_of(by_messages.times, mean_over_factor(methods, variant::kProvider).times, confidence);
  auto provider_s = time_of(*provider, confidence);
  auto message_s = time_of(*message, confidence);
  if (!ratio || !provider_s || !message_s) {
    notes.emplace_back(
        "the method of atomic operations is absent: fewer than two runs measured both");
    return std::nullopt;
  }
  model::AtomicModel atomic{model::AtomicPath::provider, *std::move(provider_s),
                            *std::move(message_s), std::nullopt};
  if (ratio->interval.high < 1) {
    atomic.path = model::AtomicPath::message;
    atomic.gain = gain_of(*ratio, by_messages.raw_samples);
  }
  return atomic;
}

std::optional<model::BufferedPutModel> fit_buffered_put(const SampleTable& table, double confidence,
                                                        std::vector<std::string>& notes) {
  const MethodsByFactor methods = methods_of(table, micro::kBufferedPut);
  if (methods.empty()) return std::nullopt;
  auto largest =
      largest_gain(methods, variant::kCopied, variant::kWaited, kCopiedByDefault, confidence);
  if (!largest) {
    notes.emplace_back("the cut-off of buffered puts is absent: fewer than two runs measured both");
    return std::nullopt;
  }
  return model::BufferedPutModel{largest->bytes, std::move(largest->gain)};
}

std::optional<model::PutCombiningModel> fit_put_combining(const SampleTable& table,
                                                          double confidence,
                                                          std::vector<std::string>& notes) {
  const MethodsByFactor puts = methods_of(table, micro::kPutCombining);
  const MethodsByFactor messages = methods_of(table, micro::kPutMessage, factor::kMessageBytes);
  if (puts.empty() && messages.empty()) return std::nullopt;
  const char* const unknown =
      "the rule of combining puts is absent: fewer than two runs measured both variants, or the "
      "sizes of messages";
  auto message_s = message_cost(messages, confidence);
  const auto message_bytes = best_message(messages);
  const auto largest =
      largest_gain(puts, variant::kCombined, variant::kAlone, kCombinedByDefault, confidence);
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

std::optional<model::ProgressModel> fit_progress(const SampleTable& table, double confidence,
                                                 std::vector<std::string>& notes) {
  const MethodsByFactor calls = methods_of(table, micro::kProgressCall);
  const MethodsByFactor waits = methods_of(table, micro::kProgressWait, factor::kComputeUs);
  if (calls.empty() && waits.empty()) return std::nullopt;
  std::optional<model::Parameter> call_s;
  std::optional<model::Parameter> answer_s;
  if (!calls.empty()) {
    const auto& smallest = calls.begin()->second;
    call_s = excess(method_at(smallest, variant::kThread), method_at(smallest, variant::kCalls),
                    confidence);
  }
  if (waits.size() > 1) {
    answer_s = excess(method_at(waits.rbegin()->second, variant::kThread),
                      method_at(waits.begin()->second, variant::kThread), confidence);
  }
  if (!call_s || !answer_s) {
    notes.emplace_back(
        "what a progress thread costs is absent: fewer than two runs measured calls and answers "
        "with it");
    return std::nullopt;
  }
  return model::ProgressModel{*std::move(call_s), *std::move(answer_s)};
}

std::vector<SampleRule> rma_samples() {
  return {{&micro::kBufferedPut, {{factor::kBytes, 1}}},
          {&micro::kPutCombining, {{factor::kBytes, 1}}},
          {&micro::kPutMessage, {{factor::kMessageBytes, 1}}},
          {&micro::kAtomic, {{factor::kInFlight, 1}}},
          {&micro::kProgressCall, {{factor::kBytes, 1}}},
          {&micro::kProgressWait, {{factor::kComputeUs, 1}}}};
}

std::optional<model::RmaModel> fit_rma(const SampleTable& table, double confidence,
                                       std::vector<std::string>& notes) {
  model::RmaModel rma{.buffered_put = fit_buffered_put(table, confidence, notes),
                      .put_combining = fit_put_combining(table, confidence, notes),
                      .atomic = fit_atomic(table, confidence, notes),
                      .progress = fit_progress(table, confidence, notes)};
  if (!rma.buffered_put && !rma.put_combining && !rma.atomic && !rma.progress) return std::nullopt;
  return rma;
}

}  // namespace stripline::fit
