#include "optimizer/campaign/replay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/enum_names.h"
#include "base/random.h"
#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/campaign/straddle.h"

namespace stripline::campaign {
namespace {

constexpr std::array<std::string_view, 5> kStrategies = {"grid", "race", "straddle", "random",
                                                         "halving"};
// Runs of a recording have no ranks to be started.
constexpr double kNoStartS = 1e-12;
// A choice that is slower than the best by no more is as good.
constexpr double kNear = 0.03;

// All that was recorded.
PointTable table_of(const Recording& recording) {
  PointTable table(recording.points);
  uint32_t run = 0;
  for (const auto& [number, results] : recording.runs) {
    std::vector<PointResult> of_run;
    for (const auto& [place, result] : results) of_run.push_back(result);
    table.add_run(++run, of_run);
  }
  return table;
}

// A campaign whose runs are taken from a recording.
class Replay {
 public:
  Replay(const Recording& recording, const ReplayTerms& terms)
      : terms_(terms),
        whole_s_(recording.seconds()),
        table_(recording.points),
        choices_(choices_of(table_)) {
    for (const auto& [run, results] : recording.runs) recorded_.push_back(&results);
  }

  Status run() {
    switch (terms_.strategy) {
      case Strategy::grid:
        while (left() > 0) measure(everything());
        return {};
      case Strategy::race:
      case Strategy::straddle:
        race();
        return {};
      case Strategy::random:
        at_random();
        return {};
      case Strategy::halving:
        halve();
        return {};
    }
    return {};
  }

  const PointTable& table() const { return table_; }
  size_t runs() const { return finished_.size(); }
  double seconds() const { return seconds_; }
  double share() const { return whole_s_ > 0 ? seconds_ / whole_s_ : 0; }

 private:
  double budget_s() const { return terms_.share * whole_s_; }
  size_t left() const { return recorded_.size() - finished_.size(); }

  std::vector<uint32_t> everything() const {
    std::vector<uint32_t> places(table_.points().size());
    std::iota(places.begin(), places.end(), 0U);
    return places;
  }

  double cost_s(uint32_t place) const {
    const auto& run = *recorded_[finished_.size()];
    const auto found = run.find(place);
    return found == run.end() ? 0 : found->second.seconds;
  }

  // The next recorded run, as far as these points are in it.
  void measure(const std::vector<uint32_t>& places) {
    const auto& run = *recorded_[finished_.size()];
    std::vector<PointResult> results;
    double seconds = 0;
    for (const uint32_t place : places) {
      const auto found = run.find(place);
      if (found == run.end()) continue;
      results.push_back(found->second);
      seconds += found->second.seconds;
    }
    const auto points = static_cast<uint32_t>(places.size());
    finished_.push_back({points, points, kNoStartS, seconds});
    seconds_ += seconds;
    table_.add_run(static_cast<uint32_t>(finished_.size()), results);
  }

  void race() {
    Rule rule;
    rule.runs = static_cast<uint32_t>(recorded_.size());
    rule.enough_runs = std::min(rule.enough_runs, rule.runs);
    rule.fewest_runs = 1;
    rule.race = true;
    rule.all_points = static_cast<uint32_t>(table_.points().size());
    rule.core_points = rule.all_points;
    rule.time_budget_s = budget_s();
    rule.straddle = terms_.strategy == Strategy::straddle;
    if (terms_.prior != nullptr) {
      measure(within_budget(promising(table_, table_of(*terms_.prior))));
    } else if (rule.straddle) {
      measure(within_budget(sparse_places(table_)));
    }
    while (left() > 0) {
      const Next next =
          next_run(rule, {finished_, seconds_, finished_.empty() ? nullptr : &table_});
      if (next.done) return;
      const auto wanted = next.places.empty() ? everything() : next.places;
      const auto places = within_budget(wanted);
      measure(places);
      if (places.size() < wanted.size()) return;
    }
  }

  // As many of these as there are seconds for, and of a choice all or none: an alternative that was
  // measured less often than the others is taken for given up.
  std::vector<uint32_t> within_budget(const std::vector<uint32_t>& places) const {
    std::vector<bool> wanted(table_.points().size());
    for (const uint32_t place : places) wanted[place] = true;
    std::vector<std::vector<uint32_t>> groups;
    for (const Choice& choice : choices_) {
      std::vector<uint32_t>& group = groups.emplace_back();
      for (const uint32_t place : choice.places) {
        if (wanted[place]) group.push_back(place);
        wanted[place] = false;
      }
    }
    for (const uint32_t place : places) {
      if (wanted[place]) groups.push_back({place});
    }
    std::vector<uint32_t> kept;
    double seconds = seconds_;
    for (const auto& group : groups) {
      double more = 0;
      for (const uint32_t place : group) more += cost_s(place);
      if (seconds + more > budget_s()) break;
      seconds += more;
      kept.insert(kept.end(), group.begin(), group.end());
    }
    std::ranges::sort(kept);
    return kept;
  }

  void at_random() {
    while (left() > 0) {
      std::vector<uint32_t> places = everything();
      shuffle(places, derive_seed(terms_.seed, finished_.size()));
      double seconds = seconds_;
      size_t kept = 0;
      // Each run takes its share of the seconds.
      const double until_s = budget_s() * static_cast<double>(finished_.size() + 1) /
                             static_cast<double>(recorded_.size());
      while (kept < places.size() && seconds + cost_s(places[kept]) <= until_s) {
        seconds += cost_s(places[kept++]);
      }
      places.resize(kept);
      measure(places);
    }
  }

  void halve() {
    std::vector<Choice> alive = choices_;
    while (left() > 0 && !alive.empty()) {
      std::vector<uint32_t> places;
      double seconds = seconds_;
      for (const Choice& choice : alive) {
        for (const uint32_t place : choice.places) {
          seconds += cost_s(place);
          places.push_back(place);
        }
      }
      if (seconds > budget_s()) return;
      measure(places);
      for (Choice& choice : alive) keep_half(choice);
      std::erase_if(alive, [](const Choice& choice) { return choice.places.size() < 2; });
    }
  }

  void keep_half(Choice& choice) const {
    std::ranges::stable_sort(choice.places, {}, [&](uint32_t place) {
      const auto estimate = estimate_of(table_.points()[place], kPointConfidence);
      return estimate ? estimate->median : std::numeric_limits<double>::infinity();
    });
    choice.places.resize((choice.places.size() + 1) / 2);
  }

  const ReplayTerms terms_;
  const double whole_s_;
  PointTable table_;
  const std::vector<Choice> choices_;
  std::vector<const std::map<uint32_t, PointResult>*> recorded_;
  std::vector<FinishedRun> finished_;
  double seconds_ = 0;
};

double median_of(const PointTable& table, uint32_t place) {
  const auto estimate = estimate_of(table.points()[place], kPointConfidence);
  return estimate ? estimate->median : std::numeric_limits<double>::infinity();
}

// What a strategy takes in the end. Chance gives nothing up, so that an alternative that it
// measured once counts beside one that it measured often. What was never measured is what programs
// do anyway.
uint32_t chosen_by(Strategy strategy, const PointTable& table, const Choice& choice) {
  if (strategy != Strategy::random) {
    const auto leader =
        strategy == Strategy::straddle ? expected_leader(table, choice) : leader_of(table, choice);
    return leader.value_or(choice.places.front());
  }
  return *std::ranges::min_element(choice.places, {},
                                   [&](uint32_t place) { return median_of(table, place); });
}

}  // namespace

std::string_view to_string(Strategy strategy) { return enum_name(kStrategies, strategy); }

std::optional<Strategy> strategy_from_string(std::string_view name) {
  return enum_named<Strategy>(kStrategies, name);
}

Result<ReplayResult> replay(const Recording& recording, const ReplayTerms& terms) {
  if (!(terms.share > 0)) {
    return Error(ErrorCode::invalid_argument, "a share of the seconds must be above 0");
  }
  const PointTable truth = table_of(recording);
  Replay played(recording, terms);
  STRIPLINE_RETURN_IF_ERROR(played.run());

  ReplayResult result;
  result.runs = played.runs();
  result.seconds = played.seconds();
  result.share = played.share();
  double logs = 0;
  for (const Choice& choice : choices_of(truth)) {
    const uint32_t best = *std::ranges::min_element(
        choice.places, {}, [&](uint32_t place) { return median_of(truth, place); });
    if (!(median_of(truth, best) > 0)) continue;
    const uint32_t chosen = chosen_by(terms.strategy, played.table(), choice);
    const double ratio = median_of(truth, chosen) / median_of(truth, best);
    if (!std::isfinite(ratio)) continue;
    ++result.choices;
    logs += std::log(ratio);
    result.worst_regret = std::max(result.worst_regret, ratio - 1);
    if (ratio - 1 <= kNear) ++result.near;
  }
  if (result.choices == 0) {
    return Error(ErrorCode::failed_precondition,
                 "the recording holds no alternatives to choose from; record a collective "
                 "operation, a transfer of many regions or a kernel in several variants");
  }
  result.mean_regret = std::expm1(logs / static_cast<double>(result.choices));
  return result;
}

}  // namespace stripline::campaign
