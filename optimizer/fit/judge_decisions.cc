#include "optimizer/fit/judge_decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "optimizer/fit/held_out_plans.h"
#include "optimizer/stats/compare.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

using experiment::HeldOutProblem;
using experiment::SampleSeries;

// A decision that takes so much longer than without a model, beyond doubt, loses.
constexpr double kLossMargin = 0.02;
constexpr double kConfidence = 0.95;

bool holds_times(const SampleSeries& series) {
  return series.verified && !series.values.empty() &&
         std::ranges::all_of(series.values,
                             [](double value) { return std::isfinite(value) && value > 0; });
}

std::string text_of(const experiment::ParamValue& value) {
  if (const auto* whole = std::get_if<int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
  return std::get<std::string>(value);
}

// What tells an alternative from the first one: "packed", "forced, schedule B, strip_bytes 4096".
std::string alternative_text(const HeldOutProblem& problem, size_t alternative) {
  const experiment::Point& point = problem.points[alternative];
  const experiment::Point& first = problem.points.front();
  std::string text = point.variant;
  for (const auto& [factor, value] : point.params) {
    const auto same = first.params.find(factor);
    if (alternative == 0 || (same != first.params.end() && same->second == value)) continue;
    text += ", " + factor + " " + text_of(value);
  }
  return text;
}

std::vector<size_t> measured_of(const HeldOutTimes& times) {
  std::vector<size_t> measured;
  for (size_t i = 0; i < times.alternatives.size(); ++i) {
    if (!times.alternatives[i].empty()) measured.push_back(i);
  }
  return measured;
}

// Runs that have measured all of these.
std::vector<uint32_t> common_runs(const HeldOutTimes& times, std::span<const size_t> measured) {
  std::vector<uint32_t> runs;
  for (const auto& [run, time_s] : times.alternatives[measured.front()]) {
    const bool is_in_all = std::ranges::all_of(
        measured, [&, run = run](size_t one) { return times.alternatives[one].contains(run); });
    if (is_in_all) runs.push_back(run);
  }
  return runs;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// The fastest alternative of runs whose place is of the parity.
size_t fastest_of(const HeldOutTimes& times, std::span<const size_t> measured,
                  const std::vector<uint32_t>& runs, size_t parity) {
  size_t best = measured.front();
  double best_log = 0;
  for (const size_t one : measured) {
    std::vector<double> logs;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (i % 2 == parity) logs.push_back(std::log(times.alternatives[one].at(runs[i])));
    }
    const double log = stats::median(logs);
    if (one != measured.front() && log >= best_log) continue;
    best = one;
    best_log = log;
  }
  return best;
}

std::optional<JudgedChoice> judge_choice(const plan::CompiledModel& model,
                                         const HeldOutTimes& times, uint32_t ranks) {
  const std::vector<size_t> measured = measured_of(times);
  if (measured.size() < 2) return std::nullopt;
  const auto chosen = chosen_alternative(model, times.problem, measured, ranks);
  const auto untuned = untuned_alternative(times.problem, measured);
  if (!chosen || !untuned) return std::nullopt;
  const std::vector<uint32_t> runs = common_runs(times, measured);
  if (runs.size() < 2) return std::nullopt;
  JudgedChoice judged;
  judged.kind = times.problem.kind;
  judged.what = describe(times.problem);
  judged.chosen = alternative_text(times.problem, *chosen);
  const std::array<size_t, 2> best = {fastest_of(times, measured, runs, 0),
                                      fastest_of(times, measured, runs, 1)};
  const auto log_ratio = [&](size_t one, size_t other, uint32_t run) {
    return std::log(times.alternatives[one].at(run) / times.alternatives[other].at(run));
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    judged.over_untuned.push_back(log_ratio(*chosen, *untuned, runs[i]));
    judged.over_best.push_back(log_ratio(*chosen, best[1 - i % 2], runs[i]));
  }
  return judged;
}

std::optional<JudgedTime> judge_time(const plan::CompiledModel& model, const HeldOutTimes& times) {
  const auto expected = expected_of(model, times.problem);
  if (!expected || times.alternatives.front().empty()) return std::nullopt;
  JudgedTime judged;
  judged.what = describe(times.problem);
  judged.kind =
      std::string(to_string(times.problem.kind)) + " of " + times.problem.points.front().variant;
  judged.predicted_s = expected->predicted_s;
  judged.measured_s = across_runs(times.alternatives.front());
  judged.missed = std::abs(judged.predicted_s - judged.measured_s) > kMiss * judged.measured_s &&
                  is_outside(*expected, judged.measured_s);
  return judged;
}

// How much longer one decision takes than without a model, at least.
bool surely_loses(const JudgedChoice& choice) {
  const auto bounds = stats::geometric_mean({choice.over_untuned}, kConfidence);
  return bounds.ok() && bounds->lower > 1 + kLossMargin;
}

void sum_up_times(const std::vector<JudgedTime>& times, Judgement& sum) {
  std::map<std::string, std::vector<double>> errors;
  for (const JudgedTime& one : times) {
    const double error = std::abs(one.predicted_s - one.measured_s) / one.measured_s;
    errors[one.kind].push_back(error);
    sum.largest_error = std::max(sum.largest_error, error);
    if (one.missed) ++sum.missed;
    ++sum.points;
  }
  set_errors(errors, sum);
}

void sum_up_choices(const std::vector<JudgedChoice>& choices, Judgement& sum) {
  std::map<experiment::HeldOutKind, std::vector<double>> by_kind;
  std::vector<std::vector<double>> over_untuned;
  std::vector<double> regrets;
  double worst_loss = 0;
  for (const JudgedChoice& one : choices) {
    const double regret = std::max(0.0, mean(one.over_best));
    regrets.push_back(regret);
    by_kind[one.kind].push_back(regret);
    sum.worst_regret = std::max(sum.worst_regret, std::expm1(regret));
    over_untuned.push_back(one.over_untuned);
    const double loss = mean(one.over_untuned);
    if (!surely_loses(one)) continue;
    ++sum.losses;
    if (loss <= worst_loss) continue;
    worst_loss = loss;
    sum.worst_loss = one.what + ", by " + one.chosen;
    sum.worst_loss_share = std::expm1(loss);
  }
  sum.choices = choices.size();
  sum.mean_regret = std::expm1(mean(regrets));
  for (const auto& [kind, of_kind] : by_kind) {
    sum.kinds.push_back({std::string(to_string(kind)), of_kind.size(), std::expm1(mean(of_kind)),
                         std::expm1(*std::ranges::max_element(of_kind))});
  }
  const auto against = stats::geometric_mean(over_untuned, kConfidence);
  if (!against.ok()) return;
  sum.compared = against->cells;
  sum.over_untuned = against->value - 1;
  sum.over_untuned_low = against->lower - 1;
}

}  // namespace

HeldOutSeries take_held_out(std::span<const SampleSeries> series, std::span<const uint64_t> seeds,
                            uint32_t ranks) {
  HeldOutSeries parts;
  const experiment::HeldOutPoints points(seeds, ranks);
  using Values = std::map<uint32_t, std::vector<double>>;  // by run
  std::map<size_t, std::vector<Values>> judged;
  for (const SampleSeries& one : series) {
    const auto place = points.find(one.point);
    if (!place) {
      parts.fitted.push_back(one);
      continue;
    }
    if (!holds_times(one)) continue;
    std::vector<Values>& alternatives = judged[place->problem];
    alternatives.resize(points.problems()[place->problem].points.size());
    std::vector<double>& values = alternatives[place->alternative][one.run];
    values.insert(values.end(), one.values.begin(), one.values.end());
  }
  for (const auto& [problem, alternatives] : judged) {
    HeldOutTimes times{points.problems()[problem], {}};
    for (const Values& by_run : alternatives) {
      RunMedians& medians = times.alternatives.emplace_back();
      for (const auto& [run, values] : by_run) medians[run] = stats::median(values);
    }
    parts.judged.push_back(std::move(times));
  }
  return parts;
}

Judged judge_held_out(const model::TunedModel& model, std::span<const HeldOutTimes> held_out,
                      uint32_t ranks) {
  const plan::CompiledModel compiled(model);
  Judged judged;
  for (const HeldOutTimes& times : held_out) {
    if (!has_choice(times.problem.kind)) {
      if (const auto one = judge_time(compiled, times)) judged.times.push_back(*one);
    } else if (auto one = judge_choice(compiled, times, ranks)) {
      judged.choices.push_back(*std::move(one));
    }
  }
  return judged;
}

Judgement summed_up(const Judged& judged) {
  Judgement sum;
  sum_up_times(judged.times, sum);
  if (!judged.choices.empty()) sum_up_choices(judged.choices, sum);
  return sum;
}

Comparison compare_choices(const Judged& one, const Judged& other) {
  std::map<std::string, const JudgedChoice*> others;
  for (const JudgedChoice& choice : other.choices) others.emplace(choice.what, &choice);
  std::vector<std::vector<double>> cells;
  for (const JudgedChoice& choice : one.choices) {
    const auto same = others.find(choice.what);
    if (same == others.end()) continue;
    const std::vector<double>& theirs = same->second->over_untuned;
    if (theirs.size() != choice.over_untuned.size()) continue;
    // Both were held against the same times of what is done without a model.
    std::vector<double>& cell = cells.emplace_back();
    for (size_t i = 0; i < theirs.size(); ++i) cell.push_back(choice.over_untuned[i] - theirs[i]);
  }
  Comparison comparison;
  const auto ratio = stats::geometric_mean(cells, kConfidence);
  if (!ratio.ok()) return comparison;
  return {ratio->cells, ratio->value, ratio->lower};
}

}  // namespace stripline::fit
