#include "optimizer/fit/judge_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "optimizer/cost/link_costs.h"
#include "optimizer/fit/sample_rules.h"
#include "optimizer/fit/sample_table.h"
#include "optimizer/fit/samples.h"
#include "optimizer/fit/sentinels.h"
#include "optimizer/fit/vis_samples.h"
#include "optimizer/model/paths.h"
#include "optimizer/plan/collective.h"
#include "optimizer/plan/compiled_model.h"
#include "optimizer/stats/order.h"

namespace stripline::fit {
namespace {

namespace factor = experiment::factor;
namespace micro = experiment::micro;
namespace variant = experiment::variant;
using experiment::Point;

constexpr size_t kEvery = 4;

// Sums up what was judged.
class Judge {
 public:
  void add_prediction(const std::string& kind, double predicted_s, double measured_s) {
    const double error = std::abs(predicted_s - measured_s) / measured_s;
    errors_[kind].push_back(error);
    result_.largest_error = std::max(result_.largest_error, error);
    ++result_.points;
  }

  // `chosen_s` is one of `times_s`.
  void add_choice(double chosen_s, const std::vector<double>& times_s) {
    const double best_s = *std::ranges::min_element(times_s);
    if (times_s.size() < 2 || !(best_s > 0)) return;
    logs_ += std::log(chosen_s / best_s);
    result_.worst_regret = std::max(result_.worst_regret, chosen_s / best_s - 1);
    ++result_.choices;
  }

  Judgement result() const {
    Judgement result = result_;
    set_errors(errors_, result);
    if (result.choices > 0) {
      result.mean_regret = std::expm1(logs_ / static_cast<double>(result.choices));
    }
    return result;
  }

 private:
  Judgement result_;
  std::map<std::string, std::vector<double>> errors_;  // by kind
  double logs_ = 0;
};

// Calls `look(name, costs, bytes, measured time)` for each size of a blocking get or put.
template <typename Look>
void for_each_size(const model::TunedModel& model, const SortedSamples& samples, const Look& look) {
  const auto* const entry = model::find_path(model, model::Path::network);
  if (entry == nullptr) return;
  for (const auto& [name, operation] :
       {std::pair(variant::kGet, &entry->second.get), {variant::kPut, &entry->second.put}}) {
    const auto measured = samples.operations.find(name);
    if (!operation->has_value() || measured == samples.operations.end()) continue;
    const cost::LinkCosts costs(**operation);
    for (const auto& [bytes, medians] : measured->second.latency) {
      const double measured_s = across_runs(medians);
      if (measured_s > 0) look(std::string(name), costs, bytes, measured_s);
    }
  }
}

void judge_operations(const model::TunedModel& model, const SortedSamples& samples, Judge& judge) {
  for_each_size(model, samples,
                [&](const std::string& name, const cost::LinkCosts& costs, uint64_t bytes,
                    double measured_s) {
                  judge.add_prediction("size of " + name, costs.blocking(bytes), measured_s);
                });
}

// The fastest measured setting of each method; nullopt where it was not measured.
std::array<std::optional<double>, plan::kVisMethods> fastest_of(const VisTimes& times) {
  std::array<std::optional<double>, plan::kVisMethods> fastest;
  for (size_t method = 0; method < plan::kVisMethods; ++method) {
    for (const auto& [setting, medians] : times.methods[method]) {
      const double time_s = across_runs(medians);
      if (!fastest[method] || time_s < *fastest[method]) fastest[method] = time_s;
    }
  }
  return fastest;
}

// The request as it was measured.
plan::VisRequest request_of(const VisShape& shape, plan::ComputeClass compute,
                            const VisTimes& times) {
  uint64_t chunk_bytes = 0;
  for (const auto& [setting, medians] :
       times.methods[static_cast<size_t>(plan::VisMethod::packed)]) {
    chunk_bytes = std::max(chunk_bytes, setting.chunk_bytes);
  }
  plan::VisRequest request =
      request_of(shape, compute, chunk_bytes > 0 ? chunk_bytes : plan::kLandingSlotBytes);
  for (const auto& [setting, medians] :
       times.methods[static_cast<size_t>(plan::VisMethod::native_iov)]) {
    request.iov_limit = std::max(request.iov_limit, setting.iov_limit);
  }
  request.bounding_box_allowed =
      !times.methods[static_cast<size_t>(plan::VisMethod::bounding_box)].empty();
  return request;
}

void judge_transfers(const model::TunedModel& model, const VisSamples& samples, Judge& judge) {
  const plan::CompiledModel compiled(model);
  const plan::VisCosts* const costs = compiled.vis(model::Path::network);
  for (size_t c = 0; c < plan::kComputeClasses; ++c) {
    const auto compute = static_cast<plan::ComputeClass>(c);
    for (const auto& [shape, times] : samples.cells[c]) {
      const auto measured = fastest_of(times);
      const plan::VisPlan chosen = plan::plan_vis(request_of(shape, compute, times), costs);
      const auto& of_chosen = measured[static_cast<size_t>(chosen.method)];
      if (!of_chosen) continue;
      std::vector<double> times_s;
      for (const auto& one : measured) {
        if (one) times_s.push_back(*one);
      }
      judge.add_choice(*of_chosen, times_s);
    }
  }
}

void judge_collectives(const model::TunedModel& model, const SortedSamples& samples, uint32_t ranks,
                       Judge& judge) {
  const plan::CollectivePlanner planner =
      model.collective ? plan::CollectivePlanner(*model.collective) : plan::CollectivePlanner();
  for (const auto& [operation, by_bytes] : samples.collectives) {
    for (const auto& [bytes, of_size] : by_bytes) {
      const auto chosen =
          of_size.times.find(planner.choose({operation, std::max(1U, ranks), bytes}));
      if (chosen == of_size.times.end()) continue;
      std::vector<double> times_s;
      for (const auto& [algorithm, medians] : of_size.times) {
        times_s.push_back(across_runs(medians));
      }
      judge.add_choice(across_runs(chosen->second), times_s);
    }
  }
}

// Where a point lies among those of its kind: they are held out or fitted together. nullopt of
// points that nothing is judged by.
struct JudgedPlace {
  std::string kind;
  uint64_t first = 0;
  uint64_t second = 0;
  auto operator<=>(const JudgedPlace&) const = default;
};

uint64_t count_of(const Point& point, const char* name) {
  const double value = experiment::number_param(point, name).value_or(0);
  return value >= 0 && value <= kLargestCount ? static_cast<uint64_t>(value) : 0;
}

std::optional<JudgedPlace> judged_place(const Point& point) {
  if (point.experiment == micro::kLatency ||
      point.experiment.starts_with(experiment::kCollectivePrefix)) {
    return JudgedPlace{point.experiment, count_of(point, factor::kBytes), 0};
  }
  if (point.experiment == micro::kVis) {
    const std::string direction = experiment::text_param(point, factor::kDirection).value_or("");
    return JudgedPlace{point.experiment + direction, count_of(point, factor::kRegionBytes),
                       count_of(point, factor::kBytes)};
  }
  return std::nullopt;
}

double mean_of_kinds(const std::vector<TimesJudgement>& times) {
  double sum = 0;
  for (const TimesJudgement& kind : times) sum += kind.mean_error;
  return times.empty() ? 0 : sum / static_cast<double>(times.size());
}

}  // namespace

void set_errors(const std::map<std::string, std::vector<double>>& errors, Judgement& judgement) {
  judgement.times.clear();
  for (const auto& [kind, of_kind] : errors) {
    judgement.times.push_back({kind, of_kind.size(), stats::mean_and_variance(of_kind).mean});
  }
  judgement.mean_error = mean_of_kinds(judgement.times);
}

Judgement joined(const Judgement& one, const Judgement& other) {
  const auto mean = [](double a, std::size_t of_a, double b, std::size_t of_b) {
    const auto all = static_cast<double>(of_a + of_b);
    return all > 0 ? (a * static_cast<double>(of_a) + b * static_cast<double>(of_b)) / all : 0.0;
  };
  Judgement all = one.compared > 0 ? one : other;
  all.points = one.points + other.points;
  all.times = one.times;
  for (const TimesJudgement& more : other.times) {
    const auto same = std::ranges::find(all.times, more.kind, &TimesJudgement::kind);
    if (same == all.times.end()) {
      all.times.push_back(more);
      continue;
    }
    same->mean_error = mean(same->mean_error, same->points, more.mean_error, more.points);
    same->points += more.points;
  }
  all.mean_error = mean_of_kinds(all.times);
  all.largest_error = std::max(one.largest_error, other.largest_error);
  all.missed = one.missed + other.missed;
  all.choices = one.choices + other.choices;
  all.mean_regret = std::expm1(
      mean(std::log1p(one.mean_regret), one.choices, std::log1p(other.mean_regret), other.choices));
  all.worst_regret = std::max(one.worst_regret, other.worst_regret);
  return all;
}

Judgement judge_model(const model::TunedModel& model,
                      std::span<const experiment::SampleSeries> series, uint32_t ranks) {
  const SampleTable table(series);
  const SortedSamples samples = sort_samples(table);
  Judge judge;
  judge_operations(model, samples, judge);
  judge_transfers(model, sort_vis_samples(table), judge);
  judge_collectives(model, samples, ranks, judge);
  return judge.result();
}

SentinelReading read_sentinels(const model::TunedModel& model,
                               std::span<const experiment::SampleSeries> series) {
  struct Measured {
    const experiment::Point* point = nullptr;
    std::vector<double> medians;  // of runs
  };
  std::map<std::string, Measured> points;
  for (const auto& one : series) {
    if (!one.verified || one.values.empty()) continue;
    Measured& measured = points[point_key(one.point)];
    measured.point = &one.point;
    measured.medians.push_back(stats::median(one.values));
  }
  const plan::CompiledModel compiled(model);
  SentinelReading reading;
  std::vector<double> ratios;
  for (const auto& [key, measured] : points) {
    const auto expected = expected_sentinel(compiled, *measured.point);
    const double measured_s = stats::median(measured.medians);
    if (!expected || !(measured_s > 0)) continue;
    const std::size_t outside = is_outside(*expected, measured_s) ? 1 : 0;
    switch (expected->kind) {
      case Sentinel::size:
        ++reading.points;
        reading.outside += outside;
        if (expected->predicted_s > 0) ratios.push_back(measured_s / expected->predicted_s);
        break;
      case Sentinel::burst:
        ++reading.bursts;
        reading.bursts_outside += outside;
        break;
      case Sentinel::shape:
        ++reading.shapes;
        reading.shapes_outside += outside;
        break;
    }
  }
  if (!ratios.empty()) reading.ratio = stats::median(ratios);
  return reading;
}

HeldOut hold_out(std::span<const experiment::SampleSeries> series) {
  std::map<std::string, std::pair<std::set<uint64_t>, std::set<uint64_t>>> values;
  std::set<JudgedPlace> places;
  for (const auto& one : series) {
    const auto place = judged_place(one.point);
    if (!place) continue;
    values[place->kind].first.insert(place->first);
    values[place->kind].second.insert(place->second);
    places.insert(*place);
  }
  const auto is_within = [](const std::set<uint64_t>& all, uint64_t value) {
    return all.size() == 1 || (value != *all.begin() && value != *all.rbegin());
  };
  std::set<JudgedPlace> held_out;
  std::map<std::string, size_t> seen;
  for (const JudgedPlace& place : places) {
    const auto& [firsts, seconds] = values[place.kind];
    if (!is_within(firsts, place.first) || !is_within(seconds, place.second)) continue;
    if (seen[place.kind]++ % kEvery == kEvery / 2 - 1) held_out.insert(place);
  }
  HeldOut parts;
  for (const auto& one : series) {
    const auto place = judged_place(one.point);
    (place && held_out.contains(*place) ? parts.held_out : parts.fitted).push_back(one);
  }
  return parts;
}

}  // namespace stripline::fit
