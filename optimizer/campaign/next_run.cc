#include "optimizer/campaign/next_run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/enum_names.h"
#include "optimizer/campaign/breaks.h"
#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/refinement.h"
#include "optimizer/campaign/straddle.h"
#include "optimizer/campaign/widths.h"
#include "optimizer/experiment/held_out.h"

namespace stripline::campaign {
namespace {

constexpr std::array<std::string_view, 5> kStopReasons = {"CONVERGED", "MAX_RUNS", "TIME_BUDGET",
                                                          "NODE_BUDGET", "CANCELLED"};
// Runs vary: a plan that would just fit will not.
constexpr double kBudgetReserve = 0.9;
// What is advised is a multiple of this, with the reserve.
constexpr double kBudgetStepS = 10;

// The grid that a run falls back to when it cannot even measure the coarse one. Plans of before
// there was one have none.
uint32_t coarsest(const Rule& rule) {
  return rule.least_points > 0 ? rule.least_points : rule.core_points;
}

// The number of finished runs that measured the first `points` points of the plan.
size_t runs_of(uint32_t points, const Progress& progress) {
  return static_cast<size_t>(std::ranges::count_if(
      progress.runs, [&](const FinishedRun& run) { return run.grid >= points; }));
}

uint32_t most_runs(const Rule& rule) { return rule.runs + (rule.width > 0 ? kExtraRuns : 0); }

Next ended(StopReason reason, bool usable = true) {
  Next next;
  next.done = reason;
  next.usable = usable;
  return next;
}

// The budget that ends first.
StopReason budget_reason(const Rule& rule) {
  return rule.node_budget_s / rule.nodes < rule.time_budget_s ? StopReason::node_budget
                                                              : StopReason::time_budget;
}

// The points of the grid, and those that were added: they are of experiments that the grid holds.
std::vector<uint32_t> with_added(uint32_t grid, const Rule& rule, const PointTable& table) {
  std::vector<uint32_t> places;
  for (uint32_t place = 0; place < table.points().size(); ++place) {
    if (place < grid || place >= rule.all_points) places.push_back(place);
  }
  return places;
}

// An experiment that needs more runs.
struct Need {
  Block block;
  bool for_points = false;  // added ones lack runs
};

// What deserves runs once every point of the plan has enough: points that were added later, and
// intervals that are too wide and can become narrow enough in the runs that are left.
std::vector<Need> needs_of(const Rule& rule, const Progress& progress) {
  std::vector<Need> needs;
  const auto runs = static_cast<double>(progress.runs.size());
  const auto most = static_cast<double>(most_runs(rule));
  for (Block& block : blocks_of(*progress.points, rule.width)) {
    const bool lacks_runs = std::ranges::any_of(block.places, [&](uint32_t place) {
      return place >= rule.all_points && progress.points->points()[place].runs() < rule.enough_runs;
    });
    const bool wide = block.width > rule.width;
    // Intervals narrow with the root of the number of runs.
    const bool can_narrow = block.width * std::sqrt(runs / most) <= rule.width;
    const bool is_planned = progress.runs.size() < rule.runs;
    if (lacks_runs || (wide && (can_narrow || is_planned))) {
      needs.push_back({std::move(block), lacks_runs});
    }
  }
  return needs;
}

// What deserves runs beyond those that were asked for, where these measured a coarser grid: points
// that were added, as long as they can still have enough runs, with what has been measured of their
// experiments. Without them, of a switch only the two points of the grid that it is between are
// known.
std::vector<Need> needs_of_added(const Rule& rule, const Progress& progress) {
  const auto& points = progress.points->points();
  const size_t left = most_runs(rule) - progress.runs.size();
  std::vector<Need> needs;
  for (Block& block : blocks_of(*progress.points, rule.width)) {
    const bool lacks_runs = std::ranges::any_of(block.places, [&](uint32_t place) {
      const size_t runs = points[place].runs();
      return place >= rule.all_points && runs < rule.enough_runs && runs + left >= rule.enough_runs;
    });
    if (!lacks_runs) continue;
    std::erase_if(block.places, [&](uint32_t place) { return points[place].runs() == 0; });
    needs.push_back({std::move(block), true});
  }
  return needs;
}

// The needs that gain most for their time come first; as many as the time that is left allows in
// each of the runs that are left.
std::vector<uint32_t> affordable(std::vector<Need> needs, const Rule& rule,
                                 const Progress& progress) {
  std::ranges::stable_sort(needs, [](const Need& a, const Need& b) {
    return std::pair(a.for_points, a.block.gain) > std::pair(b.for_points, b.block.gain);
  });
  const auto pace = typical_pace(progress.runs);
  const auto left = static_cast<double>(most_runs(rule) - progress.runs.size());
  const double left_s = kBudgetReserve * (budget_s(rule) - progress.spent_s);
  std::vector<uint32_t> places;
  for (const Need& need : needs) {
    const auto points = static_cast<double>(places.size() + need.block.places.size());
    const bool fits = !pace || run_seconds(*pace, points) * left <= left_s;
    if (!fits && !places.empty()) continue;
    places.insert(places.end(), need.block.places.begin(), need.block.places.end());
  }
  std::ranges::sort(places);
  return places;
}

// Every point of the plan has been tried in enough runs, or will not be.
bool plan_is_measured(const Rule& rule, const Progress& progress) {
  const auto& points = progress.points->points();
  return std::all_of(points.begin(),
                     points.begin() + std::min<std::ptrdiff_t>(rule.all_points, std::ssize(points)),
                     [&](const PointStatus& point) { return point.runs() >= rule.enough_runs; });
}

// What points may take in the next run, if each of those that a paired test needs takes as long.
double allowed_s(const Rule& rule, const Progress& progress) {
  const auto finished = progress.runs.size();
  const size_t rounds = finished < rule.enough_runs ? rule.enough_runs - finished : 1;
  const auto pace = typical_pace(progress.runs);
  const double start_s = pace ? pace->start_s : 0;
  return (budget_s(rule) - progress.spent_s) / static_cast<double>(rounds) - start_s;
}

// The leaders and who may still be faster, the nearest ones first, as many as the time allows.
std::vector<uint32_t> contestants(const std::vector<Contest>& contests, double run_s,
                                  const Progress& progress) {
  struct Duel {
    const Contest* contest = nullptr;
    Contest::Contender contender;
  };
  std::vector<Duel> duels;
  for (const Contest& contest : contests) {
    for (const Contest::Contender& contender : contest.contenders) {
      duels.push_back({&contest, contender});
    }
  }
  std::ranges::stable_sort(duels, {}, [](const Duel& duel) { return duel.contender.excess; });
  std::set<uint32_t> places;
  double cost_s = 0;
  for (const Duel& duel : duels) {
    double more_s = progress.points->points()[duel.contender.place].seconds;
    const bool leader_counts = !places.contains(duel.contest->leader);
    if (leader_counts) more_s += progress.points->points()[duel.contest->leader].seconds;
    if (cost_s + more_s > run_s) continue;
    cost_s += more_s;
    places.insert(duel.contender.place);
    places.insert(duel.contest->leader);
  }
  return {places.begin(), places.end()};
}

// After the first run, which measures all.
Next next_of_race(const Rule& rule, const Progress& progress) {
  const auto contests = contests_of(*progress.points);
  const auto open = rule.straddle ? uncertain_choices(*progress.points) : std::vector<Uncertain>();
  if (contests.empty() && open.empty()) return ended(StopReason::converged);
  const double run_s = allowed_s(rule, progress);
  Next next;
  next.grid = rule.all_points;
  // What has not been measured may be lost by more than what is compared once more.
  const double for_open_s = contests.empty() ? run_s : run_s / 2;
  for (const Uncertain& one : open) {
    if (next.expected_s + one.seconds > for_open_s) continue;
    next.expected_s += one.seconds;
    next.places.insert(next.places.end(), one.choice.places.begin(), one.choice.places.end());
  }
  for (const uint32_t place : contestants(contests, run_s - next.expected_s, progress)) {
    next.expected_s += progress.points->points()[place].seconds;
    next.places.push_back(place);
  }
  std::ranges::sort(next.places);
  if (next.places.empty()) return ended(budget_reason(rule));
  return next;
}

// Points added now can still be measured often enough.
bool may_refine(const Rule& rule, const Progress& progress) {
  return rule.refine_breaks && progress.runs.size() + rule.enough_runs <= most_runs(rule);
}

std::vector<experiment::Point> added_points(const Rule& rule, const Progress& progress) {
  if (!rule.held_out) return points_at_breaks(*progress.points);
  const uint64_t seeds[] = {rule.held_out->seed};
  const experiment::HeldOutPoints held_out(seeds, rule.held_out->ranks);
  return points_at_breaks(*progress.points, &held_out);
}

void expect(Next& next, const Progress& progress) {
  const auto points = next.places.empty() ? next.grid : next.places.size();
  const auto pace = typical_pace(progress.runs);
  if (pace) next.expected_s = run_seconds(*pace, static_cast<double>(points + next.added.size()));
}

}  // namespace

std::string_view to_string(StopReason reason) { return enum_name(kStopReasons, reason); }

std::optional<StopReason> stop_reason_from_string(std::string_view name) {
  return enum_named<StopReason>(kStopReasons, name);
}

void limit(Rule& rule, const Spec& spec) {
  rule.time_budget_s = spec.time_budget_s;
  if (spec.node_budget_s > 0) rule.node_budget_s = spec.node_budget_s;
  rule.nodes = std::max(1U, spec.nodes);
}

double budget_s(const Rule& rule) {
  return std::min(rule.time_budget_s, rule.node_budget_s / rule.nodes);
}

std::optional<Next> used_up(const Rule& rule, const Progress& progress) {
  if (progress.spent_s < budget_s(rule)) return std::nullopt;
  return ended(budget_reason(rule), progress.runs.size() >= rule.fewest_runs);
}

uint32_t next_grid(const Rule& rule, const Progress& progress) {
  const auto pace = typical_pace(progress.runs);
  if (!pace) return rule.pilot ? coarsest(rule) : rule.all_points;
  const auto finished = progress.runs.size();
  const size_t left = rule.runs > finished ? rule.runs - finished : 1;
  const double left_s = kBudgetReserve * (budget_s(rule) - progress.spent_s);
  const auto can_be_used = [&](uint32_t points) {
    return left + runs_of(points, progress) >= rule.enough_runs;
  };
  const auto is_affordable = [&](uint32_t points) {
    return can_be_used(points) && run_seconds(*pace, points) * static_cast<double>(left) <= left_s;
  };
  // The most of a grid that is affordable; none of it: what the coarser one has.
  const auto affordable_part = [&](uint32_t coarser, uint32_t grid) {
    for (uint32_t part = kGridParts; part > 0; --part) {
      const uint32_t points =
          part == kGridParts ? grid : coarser + (grid - coarser) / kGridParts * part;
      if (is_affordable(points)) return points;
    }
    return coarser;
  };
  const uint32_t finest = affordable_part(rule.core_points, rule.all_points);
  if (finest > rule.core_points || is_affordable(rule.core_points)) return finest;
  // The few points of a pilot take little beside what comes once in each run, which cannot be
  // separated where all are reported at once: so that points seem to take longer than they do.
  // Tried is what leaves enough time for the coarsest grid should it take as long as it seems.
  const bool guessed = rule.pilot && finished == 1 &&
                       progress.runs[0].duration_s - progress.runs[0].start_s < kLeastEvidenceS;
  const double fallback_s = static_cast<double>(left - 1) * run_seconds(*pace, coarsest(rule));
  if (guessed && can_be_used(rule.core_points) &&
      run_seconds(*pace, rule.core_points) + fallback_s <= left_s) {
    return rule.core_points;
  }
  return affordable_part(coarsest(rule), rule.core_points);
}

Next next_run(const Rule& rule, const Progress& progress) {
  const size_t finished = progress.runs.size();
  const bool enough = finished >= rule.enough_runs;
  const bool adaptive = rule.width > 0 && !rule.race && progress.points != nullptr;
  if (finished >= (adaptive ? most_runs(rule) : rule.runs)) return ended(StopReason::max_runs);
  if (auto over = used_up(rule, progress)) return *std::move(over);
  if (enough && !rule.race && progress.spent_s + typical_run_s(progress.runs) > budget_s(rule)) {
    return ended(budget_reason(rule));
  }
  if (rule.race && progress.points != nullptr) return next_of_race(rule, progress);
  Next next;
  next.grid = next_grid(rule, progress);
  if (adaptive) {
    // A run of the coarse grid leaves points without the runs that they need, whatever follows.
    const bool whole = plan_is_measured(rule, progress);
    if (may_refine(rule, progress)) next.added = added_points(rule, progress);
    if (!whole && finished >= rule.runs) {
      next.added.clear();
      next.places = affordable(needs_of_added(rule, progress), rule, progress);
      if (next.places.empty()) return ended(StopReason::max_runs);
    } else if (whole && next.added.empty()) {
      next.places = affordable(needs_of(rule, progress), rule, progress);
      if (next.places.empty()) {
        const bool narrow = achieved_width(*progress.points) <= rule.width;
        return ended(narrow ? StopReason::converged : StopReason::max_runs);
      }
    } else if (progress.points->points().size() > rule.all_points) {
      next.places = with_added(next.grid, rule, *progress.points);
    }
  }
  expect(next, progress);
  return next;
}

std::optional<double> sufficient_budget_s(const Rule& rule, const Progress& progress,
                                          const std::optional<ActiveRun>& active) {
  const size_t finished = progress.runs.size();
  if (finished >= rule.enough_runs) return std::nullopt;
  auto pace = typical_pace(progress.runs);
  uint32_t points = coarsest(rule);
  if (!pace && active) {
    pace = active->pace;
    points = active->points;
  }
  if (!pace) return std::nullopt;
  const double finished_s = progress.spent_s - (active ? active->active_s : 0);
  const double needed_s =
      finished_s + run_seconds(*pace, points) * static_cast<double>(rule.enough_runs - finished);
  if (needed_s <= budget_s(rule)) return std::nullopt;
  return std::ceil(needed_s / kBudgetReserve / kBudgetStepS) * kBudgetStepS;
}

}  // namespace stripline::campaign
