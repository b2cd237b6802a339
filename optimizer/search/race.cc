#include "optimizer/search/race.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "optimizer/stats/order.h"
#include "optimizer/stats/wilcoxon.h"

namespace stripline::search {
namespace {

Status check_table(const TimeTable& times) {
  if (times.empty() || times.front().empty()) {
    return Error(ErrorCode::invalid_argument, "the table of candidates and runs is empty");
  }
  for (std::size_t candidate = 0; candidate < times.size(); ++candidate) {
    const std::vector<double>& row = times[candidate];
    if (row.size() != times.front().size()) {
      return Error(ErrorCode::invalid_argument,
                   "every candidate needs an entry for every run; mark missing ones with NaN");
    }
    for (std::size_t run = 0; run < row.size(); ++run) {
      if (std::isnan(row[run]) || (row[run] > 0.0 && std::isfinite(row[run]))) continue;
      return Error(ErrorCode::invalid_argument,
                   "candidate " + std::to_string(candidate) + ", run " + std::to_string(run) +
                       ": a time must be finite and above zero; mark a missing one with NaN");
    }
  }
  return {};
}

Status check_rule(const RaceRule& rule) {
  if (rule.level > 0.0 && rule.level < 1.0 && rule.hopeless_factor >= 1.0) return {};
  return Error(ErrorCode::invalid_argument,
               "a race needs a level between 0 and 1 and a hopeless_factor of at least 1, got " +
                   std::to_string(rule.level) + " and " + std::to_string(rule.hopeless_factor));
}

bool contains(const std::vector<std::size_t>& set, std::size_t value) {
  return std::find(set.begin(), set.end(), value) != set.end();
}

// A race in progress: the rounds that all live candidates share.
class Race {
 public:
  Race(const TimeTable& times, const std::vector<std::size_t>& alive, const RaceRule& rule)
      : rule_(rule), alive_(alive) {
    std::sort(alive_.begin(), alive_.end());
    alive_.erase(std::unique(alive_.begin(), alive_.end()), alive_.end());
    rows_.resize(times.size());
    medians_.assign(times.size(), std::numeric_limits<double>::infinity());
    for (std::size_t run = 0; run < times.front().size(); ++run) {
      const bool all = std::none_of(alive_.begin(), alive_.end(),
                                    [&](std::size_t c) { return std::isnan(times[c][run]); });
      if (!all) continue;
      ++rounds_;
      for (const std::size_t c : alive_) rows_[c].push_back(times[c][run]);
    }
    for (const std::size_t c : alive_) medians_[c] = stats::median(rows_[c]);
  }

  std::size_t rounds() const { return rounds_; }
  const std::vector<std::size_t>& alive() const { return alive_; }
  double median_of(std::size_t candidate) const { return medians_[candidate]; }

  std::size_t leader() const {
    return *std::min_element(alive_.begin(), alive_.end(), [this](std::size_t a, std::size_t b) {
      return medians_[a] < medians_[b];
    });
  }

  // Seconds that one more round of the live candidates is expected to take.
  double round_cost() const {
    double cost = 0.0;
    for (const std::size_t c : alive_) cost += medians_[c];
    return cost;
  }

  // Removes every candidate for which `test` holds, except the leader and the kept ones.
  template <typename Test>
  void drop_if(DropReason reason, std::vector<Dropped>& dropped, Test test) {
    const std::size_t best = leader();
    std::vector<std::size_t> rest;
    for (const std::size_t c : alive_) {
      if (c != best && !contains(rule_.keep, c) && test(c)) {
        dropped.push_back({c, reason});
      } else {
        rest.push_back(c);
      }
    }
    alive_ = std::move(rest);
  }

  bool slower_than_leader(std::size_t candidate) const {
    const auto test = stats::wilcoxon_signed_rank(rows_[candidate], rows_[leader()]);
    return test.ok() && test->p_greater <= rule_.level;
  }

 private:
  const RaceRule& rule_;
  std::vector<std::size_t> alive_;
  TimeTable rows_;
  std::vector<double> medians_;
  std::size_t rounds_ = 0;
};

}  // namespace

const char* to_string(DropReason reason) {
  switch (reason) {
    case DropReason::hopeless:
      return "hopeless";
    case DropReason::slower:
      return "slower";
    case DropReason::halved:
      return "halved";
  }
  return "slower";
}

Result<RaceStep> race_step(const TimeTable& times, const std::vector<std::size_t>& alive,
                           const RaceRule& rule, double spent_s) {
  STRIPLINE_RETURN_IF_ERROR(check_table(times));
  STRIPLINE_RETURN_IF_ERROR(check_rule(rule));
  if (alive.empty() ||
      std::any_of(alive.begin(), alive.end(), [&](std::size_t c) { return c >= times.size(); })) {
    return Error(ErrorCode::invalid_argument,
                 "the live candidates must be one or more rows of the table");
  }
  Race race(times, alive, rule);
  if (race.rounds() == 0) {
    return Error(ErrorCode::failed_precondition,
                 "no round in which all live candidates were measured; finish one first");
  }
  RaceStep step;
  step.leader = race.leader();
  const double limit = rule.hopeless_factor * race.median_of(step.leader);
  race.drop_if(DropReason::hopeless, step.dropped,
               [&](std::size_t c) { return race.median_of(c) > limit; });
  race.drop_if(DropReason::slower, step.dropped,
               [&](std::size_t c) { return race.slower_than_leader(c); });

  const double left_s = rule.time_budget_s - spent_s;
  const std::size_t missing =
      rule.target_rounds > race.rounds() ? rule.target_rounds - race.rounds() : 0;
  if (missing > 0 && race.alive().size() > 1 &&
      static_cast<double>(missing) * race.round_cost() > left_s) {
    std::vector<double> medians;
    for (const std::size_t c : race.alive()) medians.push_back(race.median_of(c));
    std::sort(medians.begin(), medians.end());
    const double cut = medians[(medians.size() - 1) / 2];
    race.drop_if(DropReason::halved, step.dropped,
                 [&](std::size_t c) { return race.median_of(c) > cut; });
  }
  step.survivors = race.alive();
  step.done = step.survivors.size() == 1 || missing == 0 || race.round_cost() > left_s;
  return step;
}

}  // namespace stripline::search
