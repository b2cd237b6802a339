#include "optimizer/fit/collective.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "optimizer/fit/over_runs.h"
#include "optimizer/fit/paired_runs.h"
#include "optimizer/model/validate.h"

namespace stripline::fit {
namespace {

using model::CollectiveAlgorithm;
using model::CollectiveOperation;

std::optional<model::CollectiveRule> rule_of(CollectiveOperation operation, uint32_t ranks,
                                             uint64_t bytes, const CollectiveSamples& samples,
                                             double confidence) {
  const CollectiveAlgorithm standard =
      model::default_collective({.operation = operation, .ranks = ranks, .bytes = bytes});
  const auto baseline = samples.times.find(standard);
  if (baseline == samples.times.end()) return std::nullopt;
  // The fastest of several is fast by chance, too: each alternative gets its share of the error.
  const auto alternatives = static_cast<double>(model::algorithms_of(operation).size() - 1);
  const double shared = 1 - (1 - confidence) / alternatives;
  CollectiveAlgorithm chosen = standard;
  std::optional<model::Parameter> gain;
  double best = 1;
  for (const auto& [algorithm, times] : samples.times) {
    if (algorithm == standard) continue;
    const auto ratio = ratio_of(times, baseline->second, shared);
    if (!ratio || ratio->interval.high >= 1 || ratio->value >= best) continue;
    best = ratio->value;
    chosen = algorithm;
    gain = gain_of(*ratio, samples.raw_samples.at(algorithm));
  }
  std::vector<double> per_run;
  for (const auto& [run, time] : samples.times.at(chosen)) per_run.push_back(time);
  auto time = over_runs(per_run, samples.raw_samples.at(chosen), "run-medians+t",
                        {.confidence = confidence});
  if (!time) return std::nullopt;
  return model::CollectiveRule{.operation = operation,
                               .algorithm = chosen,
                               .min_ranks = ranks,
                               .max_ranks = ranks,
                               .bytes = bytes,
                               .time_s = *std::move(time),
                               .gain = std::move(gain)};
}

uint64_t between(uint64_t low, uint64_t high) {
  const double mean = std::sqrt(static_cast<double>(low) * static_cast<double>(high));
  return std::max(low + 1, static_cast<uint64_t>(mean));
}

}  // namespace

std::optional<model::CollectiveModel> fit_collectives(const SortedSamples& samples, uint32_t ranks,
                                                      double confidence,
                                                      std::vector<std::string>& notes) {
  model::CollectiveModel model;
  for (const auto& [operation, by_size] : samples.collectives) {
    const size_t first = model.rules.size();
    for (const auto& [bytes, of_size] : by_size) {
      auto rule = rule_of(operation, ranks, bytes, of_size, confidence);
      if (!rule) {
        notes.push_back(std::string(model::to_string(operation)) + " of " + std::to_string(bytes) +
                        " bytes has no rule: the default algorithm was measured in fewer than two "
                        "runs");
        continue;
      }
      model.rules.push_back(*std::move(rule));
    }
    for (size_t i = first; i < model.rules.size(); ++i) {
      model::CollectiveRule& rule = model.rules[i];
      rule.from_bytes = i == first ? 0 : model.rules[i - 1].to_bytes;
      rule.to_bytes = i + 1 == model.rules.size() ? model::kMaxBytes
                                                  : between(rule.bytes, model.rules[i + 1].bytes);
    }
  }
  if (model.rules.empty()) return std::nullopt;
  return model;
}

}  // namespace stripline::fit
