#include "suites/targets/search_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "optimizer/search/race.h"
#include "optimizer/stats/order.h"
#include "suites/targets/grid.h"

namespace stripline::suites::tune {
namespace {

using targets::Candidate;
using targets::Cell;
using targets::Scope;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// An alternative that takes so much longer than the fastest after this many runs is not measured
// again: other work on the host would have had to hit it alone, in each.
constexpr size_t kLeastRunsToDrop = 2;
constexpr double kHopeless = 2.0;
// Where an alternative has to be good in several cells, what it may lose in one before it is clear
// that the margin is lost.
constexpr double kLosesGroup = 1.5;

std::vector<double> present(const std::vector<double>& times) {
  std::vector<double> all;
  std::ranges::copy_if(times, std::back_inserter(all), [](double t) { return !std::isnan(t); });
  return all;
}

double median_of(const Runner& runner) {
  const auto times = present(runner.times_s);
  return times.empty() ? std::numeric_limits<double>::infinity() : stats::median(times);
}

std::vector<targets::Alternative> alternatives_of(const SearchCell& cell) {
  std::vector<targets::Alternative> all;
  for (const Runner& runner : cell.runners) {
    all.push_back({runner.candidate.name, runner.times_s,
                   !runner.failure.empty()           ? runner.failure
                   : runner.in_race || cell.left_out ? ""
                                                     : "slower than another one"});
  }
  return all;
}

}  // namespace

void SearchTable::add(const Cell& cell, const std::vector<Candidate>& among) {
  SearchCell added{.cell = cell};
  const std::vector<double> missing(runs_, kMissing);
  for (const Candidate& candidate : target_.candidates(cell.collective)) {
    const bool wanted =
        among.empty() || candidate.id == 0 ||
        std::ranges::any_of(among, [&](const Candidate& one) { return same(one, candidate); });
    if (!wanted || !targets::refusal(candidate, cell, safety_).empty()) continue;
    added.runners.push_back({.candidate = candidate, .times_s = missing});
  }
  cells_.push_back(std::move(added));
}

void SearchTable::begin_run() {
  ++runs_;
  for (SearchCell& cell : cells_) {
    for (Runner& runner : cell.runners) runner.times_s.push_back(kMissing);
  }
}

void SearchTable::record(size_t cell, size_t runner, double median_s) {
  // A clock that did not move says that it took less than it distinguishes.
  cells_[cell].runners[runner].times_s.back() = std::max(median_s, 1e-9);
}

void SearchTable::fail(size_t cell, size_t runner, const std::string& reason) {
  const Candidate failed = cells_[cell].runners[runner].candidate;
  if (failed.id == 0) return;
  const Cell at = cells_[cell].cell;
  for (SearchCell& other : cells_) {
    if (other.cell.collective != at.collective || other.cell.ranks != at.ranks) continue;
    for (Runner& one : other.runners) {
      if (!same(one.candidate, failed)) continue;
      one.failure = reason;
      one.in_race = false;
    }
  }
}

// Cells that one decision is about, by ascending sizes.
std::vector<std::vector<size_t>> SearchTable::groups() const {
  std::map<std::tuple<int, uint32_t>, std::vector<size_t>> found;
  for (size_t i = 0; i < cells_.size(); ++i) {
    const Cell& cell = cells_[i].cell;
    const bool all_ranks = targets::scope_of(target_, cell.collective) == Scope::collective;
    found[{static_cast<int>(cell.collective), all_ranks ? 0 : cell.ranks}].push_back(i);
  }
  std::vector<std::vector<size_t>> all;
  for (auto& [key, group] : found) {
    std::ranges::sort(group, {}, [&](size_t i) {
      return std::tuple(cells_[i].cell.ranks, cells_[i].cell.bytes);
    });
    all.push_back(std::move(group));
  }
  return all;
}

Status SearchTable::race() {
  for (SearchCell& cell : cells_) {
    if (targets::scope_of(target_, cell.cell.collective) != Scope::cell) continue;
    search::TimeTable times;
    std::vector<size_t> alive;
    for (size_t i = 0; i < cell.runners.size(); ++i) {
      times.push_back(cell.runners[i].times_s);
      if (cell.runners[i].in_race) alive.push_back(i);
    }
    size_t complete = 0;
    for (size_t run = 0; run < runs_; ++run) {
      if (std::ranges::none_of(alive, [&](size_t i) { return std::isnan(times[i][run]); })) {
        ++complete;
      }
    }
    if (complete < kLeastRunsToDrop || alive.size() < 2) continue;
    const search::RaceRule rule{.target_rounds = std::numeric_limits<size_t>::max(),
                                .hopeless_factor = kHopeless,
                                .keep = {0}};
    STRIPLINE_ASSIGN_OR_RETURN(const search::RaceStep step,
                               search::race_step(times, alive, rule, 0));
    for (const search::Dropped& dropped : step.dropped) {
      cell.runners[dropped.candidate].in_race = false;
    }
  }
  // A choice for several cells is not in the race of one of them.
  for (const auto& group : groups()) {
    const auto scope = targets::scope_of(target_, cells_[group.front()].cell.collective);
    if (scope == Scope::cell) continue;
    for (const size_t at : group) {
      const SearchCell& cell = cells_[at];
      const double limit = kLosesGroup * median_of(cell.runners.front());
      for (const Runner& runner : cell.runners) {
        if (!runner.in_race || runner.candidate.id == 0) continue;
        const auto times = present(runner.times_s);
        if (times.size() < kLeastRunsToDrop || stats::median(times) < limit) continue;
        const Candidate lost = runner.candidate;
        for (const size_t other : group) {
          for (Runner& one : cells_[other].runners) {
            if (same(one.candidate, lost)) one.in_race = false;
          }
        }
      }
    }
  }
  return {};
}

size_t SearchTable::leader(const SearchCell& cell) const {
  size_t best = 0;
  for (size_t i = 1; i < cell.runners.size(); ++i) {
    const Runner& runner = cell.runners[i];
    if (runner.in_race && median_of(runner) < median_of(cell.runners[best])) best = i;
  }
  return best;
}

size_t SearchTable::refine() {
  std::vector<std::pair<Cell, std::vector<Candidate>>> added;
  for (const auto& group : groups()) {
    if (targets::scope_of(target_, cells_[group.front()].cell.collective) != Scope::cell) continue;
    for (size_t i = 0; i + 1 < group.size(); ++i) {
      const SearchCell& below = cells_[group[i]];
      const SearchCell& above = cells_[group[i + 1]];
      const Candidate& first = below.runners[leader(below)].candidate;
      const Candidate& second = above.runners[leader(above)].candidate;
      if (same(first, second)) continue;
      Cell between = below.cell;
      between.bytes = size_between(below.cell.bytes, above.cell.bytes);
      if (between.bytes != 0) added.push_back({between, {first, second}});
    }
  }
  for (const auto& [cell, among] : added) add(cell, among);
  return added.size();
}

size_t SearchTable::leave_out_after(size_t keep) {
  size_t count = 0;
  for (size_t at = keep; at < cells_.size(); ++at) {
    cells_[at].left_out = true;
    for (Runner& runner : cells_[at].runners) runner.in_race = runner.candidate.id == 0;
    ++count;
  }
  return count;
}

bool SearchTable::undecided() const {
  return std::ranges::any_of(cells_, [](const SearchCell& cell) {
    return std::ranges::any_of(cell.runners, [](const Runner& runner) {
      return runner.in_race && runner.candidate.id != 0;
    });
  });
}

std::vector<targets::CellSeries> SearchTable::defaults() const {
  std::vector<targets::CellSeries> all;
  for (const SearchCell& cell : cells_) {
    all.push_back({cell.cell, cell.runners.front().times_s});
  }
  return all;
}

std::vector<targets::CellTimes> SearchTable::chosen(const SearchResult& result) const {
  std::vector<targets::CellTimes> all;
  for (const targets::Choice& choice : result.by_cell) {
    const auto cell = std::ranges::find(cells_, choice.cell, &SearchCell::cell);
    const auto runner = std::ranges::find_if(
        cell->runners, [&](const Runner& one) { return same(one.candidate, choice.candidate); });
    all.push_back({choice.cell, cell->runners.front().times_s, runner->times_s});
  }
  return all;
}

std::optional<std::pair<Cell, Candidate>> SearchTable::slowest(uint32_t ranks) const {
  std::optional<std::pair<Cell, Candidate>> found;
  std::pair<bool, double> most{false, kLosesGroup};
  for (const SearchCell& cell : cells_) {
    for (const Runner& runner : cell.runners) {
      const bool usable =
          runner.failure.empty() && runner.candidate.id != 0 && runner.candidate.segment_bytes == 0;
      if (!usable || present(runner.times_s).size() < kLeastRunsToDrop) continue;
      const double factor = median_of(runner) / median_of(cell.runners.front());
      const std::pair candidate{cell.cell.ranks <= ranks, factor};
      if (factor < kLosesGroup || candidate <= most) continue;
      most = candidate;
      found = {cell.cell, runner.candidate};
    }
  }
  return found;
}

Status SearchTable::decide_cells(const std::vector<size_t>& row, const targets::DecisionRule& rule,
                                 SearchResult& result) const {
  // Neighbours are compared by candidates: all cells of the row get the indices of the target's own
  // list.
  const auto all = target_.candidates(cells_[row.front()].cell.collective);
  std::vector<targets::CellDecision> decisions;
  for (const size_t at : row) {
    const auto own = alternatives_of(cells_[at]);
    std::vector<targets::Alternative> alternatives;
    for (const Candidate& candidate : all) {
      const auto found = std::ranges::find_if(cells_[at].runners, [&](const Runner& runner) {
        return same(runner.candidate, candidate);
      });
      if (found == cells_[at].runners.end()) {
        alternatives.push_back(
            {candidate.name, std::vector<double>(runs_, kMissing), "was not measured here"});
      } else {
        alternatives.push_back(own[static_cast<size_t>(found - cells_[at].runners.begin())]);
      }
    }
    STRIPLINE_ASSIGN_OR_RETURN(auto decision,
                               targets::decide_cell(cells_[at].cell, alternatives, rule));
    decisions.push_back(std::move(decision));
  }
  targets::settle_row(decisions);
  for (auto& decision : decisions) {
    result.by_cell.push_back({decision.cell, all[decision.chosen]});
    result.decisions.push_back(std::move(decision));
  }
  return {};
}

Status SearchTable::decide_group(const std::vector<size_t>& group,
                                 const targets::DecisionRule& rule, SearchResult& result) const {
  const Cell& first = cells_[group.front()].cell;
  const auto all = target_.candidates(first.collective);
  size_t chosen = 0;
  bool enough_runs = false;
  bool few_runs = std::ranges::any_of(group, [&](size_t at) { return cells_[at].left_out; });
  targets::KnobDecision best;
  targets::DecisionRule shared = rule;
  shared.confidence = 1 - (1 - rule.confidence) / static_cast<double>(all.size());
  for (size_t i = 1; i < all.size(); ++i) {
    std::vector<targets::CellTimes> times;
    for (const size_t at : group) {
      for (const Runner& runner : cells_[at].runners) {
        if (!same(runner.candidate, all[i]) || !runner.in_race) continue;
        times.push_back({cells_[at].cell, cells_[at].runners.front().times_s, runner.times_s});
      }
    }
    if (times.size() < group.size()) continue;  // it may not be used, or lost, in one of them
    STRIPLINE_ASSIGN_OR_RETURN(const auto decision, targets::decide_knob(times, shared));
    (decision.outcome == targets::KnobOutcome::few_runs ? few_runs : enough_runs) = true;
    if (decision.outcome != targets::KnobOutcome::departs) continue;
    if (chosen != 0 && decision.ratio.value >= best.ratio.value) continue;
    chosen = i;
    best = decision;
  }
  for (const size_t at : group) {
    targets::CellDecision decision{.cell = cells_[at].cell, .chosen = chosen, .nearest = chosen};
    decision.outcome = chosen != 0   ? targets::Outcome::departs
                       : enough_runs ? targets::Outcome::tie
                       : few_runs    ? targets::Outcome::few_runs
                                     : targets::Outcome::default_best;
    for (const Runner& runner : cells_[at].runners) {
      if (chosen == 0 || !same(runner.candidate, all[chosen])) continue;
      const std::vector<targets::Alternative> two = {
          {"default", cells_[at].runners.front().times_s, ""}, {"", runner.times_s, ""}};
      STRIPLINE_ASSIGN_OR_RETURN(const auto alone, targets::decide_cell(decision.cell, two, rule));
      decision.ratio = alone.ratio;
    }
    result.by_cell.push_back({decision.cell, all[chosen]});
    result.decisions.push_back(std::move(decision));
  }
  if (chosen != 0 && targets::scope_of(target_, first.collective) == Scope::collective) {
    result.choices.emplace_back(first.collective, all[chosen]);
  }
  return {};
}

Result<SearchResult> SearchTable::decide(const targets::DecisionRule& rule) const {
  SearchResult result;
  for (const auto& group : groups()) {
    const auto collective = cells_[group.front()].cell.collective;
    const bool by_cell = targets::scope_of(target_, collective) == Scope::cell;
    STRIPLINE_RETURN_IF_ERROR(by_cell ? decide_cells(group, rule, result)
                                      : decide_group(group, rule, result));
  }
  return result;
}

}  // namespace stripline::suites::tune
