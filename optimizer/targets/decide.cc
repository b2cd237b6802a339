#include "optimizer/targets/decide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/formatted.h"
#include "optimizer/stats/order.h"

namespace stripline::targets {
namespace {

// Alternatives this near to the best one are as good as it: chosen among by their neighbours.
constexpr double kTie = 0.02;

// Runs in which both were measured.
struct Pairs {
  std::vector<double> a;
  std::vector<double> b;
};

Result<Pairs> pairs_of(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) {
    return Error(ErrorCode::invalid_argument,
                 "alternatives need an entry for each run; mark a missing one with NaN");
  }
  Pairs pairs;
  for (size_t run = 0; run < a.size(); ++run) {
    for (const double time_s : {a[run], b[run]}) {
      if (std::isnan(time_s) || (time_s > 0 && std::isfinite(time_s))) continue;
      return Error(ErrorCode::invalid_argument,
                   "run " + std::to_string(run) +
                       ": a time must be finite and above zero; mark a missing one with NaN");
    }
    if (std::isnan(a[run]) || std::isnan(b[run])) continue;
    pairs.a.push_back(a[run]);
    pairs.b.push_back(b[run]);
  }
  return pairs;
}

std::string percent(double share) { return formatted("%.1f %%", 100 * share); }

}  // namespace

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::departs:
      return "departs";
    case Outcome::default_best:
      return "default_best";
    case Outcome::tie:
      return "tie";
    case Outcome::few_runs:
      return "few_runs";
    case Outcome::not_confirmed:
      return "not_confirmed";
    case Outcome::refuted:
      return "refuted";
  }
  return "tie";
}

const char* to_string(KnobOutcome outcome) {
  switch (outcome) {
    case KnobOutcome::departs:
      return "departs";
    case KnobOutcome::no_effect:
      return "no_effect";
    case KnobOutcome::loses:
      return "loses";
    case KnobOutcome::slower:
      return "slower";
    case KnobOutcome::not_shown:
      return "not_shown";
    case KnobOutcome::few_runs:
      return "few_runs";
  }
  return "not_shown";
}

Result<CellDecision> decide_cell(const Cell& cell, std::span<const Alternative> alternatives,
                                 const DecisionRule& rule) {
  if (alternatives.empty()) {
    return Error(ErrorCode::invalid_argument, "a cell needs the default among its alternatives");
  }
  CellDecision decision{.cell = cell, .ratios = std::vector<stats::Ratio>(alternatives.size())};
  const auto others = static_cast<double>(std::max<size_t>(alternatives.size() - 1, 1));
  // Two-sided, so that each bound errs in (1 - confidence) of all cells, over all alternatives.
  const double confidence = 1 - 2 * (1 - rule.confidence) / others;
  double least_upper = std::numeric_limits<double>::infinity();
  double least_lower = std::numeric_limits<double>::infinity();
  std::vector<size_t> passing;
  for (size_t i = 1; i < alternatives.size(); ++i) {
    if (!alternatives[i].failure.empty()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const Pairs pairs,
                               pairs_of(alternatives[i].times_s, alternatives[0].times_s));
    if (pairs.a.size() < std::max<size_t>(rule.least_runs, 2)) continue;
    STRIPLINE_ASSIGN_OR_RETURN(decision.ratios[i],
                               stats::paired_ratio(pairs.a, pairs.b, confidence));
    const stats::Ratio& ratio = decision.ratios[i];
    if (ratio.interval.high < least_upper) {
      least_upper = ratio.interval.high;
      decision.nearest = i;
    }
    least_lower = std::min(least_lower, ratio.interval.low);
    if (ratio.interval.high < 1 - rule.margin) passing.push_back(i);
  }
  if (decision.nearest != 0) decision.ratio = decision.ratios[decision.nearest];
  if (passing.empty()) {
    decision.outcome = decision.nearest == 0           ? Outcome::few_runs
                       : least_lower > 1 - rule.margin ? Outcome::default_best
                                                       : Outcome::tie;
    // Where nothing else may be chosen, the default is not for lack of runs.
    const auto excluded = [](const Alternative& one) { return !one.failure.empty(); };
    if (std::ranges::all_of(alternatives.subspan(1), excluded)) {
      decision.outcome = Outcome::default_best;
    }
    return decision;
  }
  const auto value_of = [&](size_t i) { return decision.ratios[i].value; };
  const size_t best = std::ranges::min(passing, {}, value_of);
  for (const size_t i : passing) {
    if (value_of(i) <= value_of(best) * (1 + kTie)) decision.eligible.push_back(i);
  }
  decision.outcome = Outcome::departs;
  decision.chosen = decision.nearest = best;
  decision.ratio = decision.ratios[best];
  return decision;
}

void settle_row(std::span<CellDecision> row) {
  if (row.empty()) return;
  // The least number of changes, and then the least sum of logarithms, up to each cell with each of
  // its choices: dynamic programming from the smallest size on.
  struct Best {
    size_t choice = 0;
    size_t changes = 0;
    double log_ratio = 0;
    size_t before = 0;  // index in the previous cell
  };
  std::vector<std::vector<Best>> table(row.size());
  for (size_t at = 0; at < row.size(); ++at) {
    std::vector<size_t> choices = row[at].eligible;
    if (row[at].chosen == 0 || choices.empty()) choices = {row[at].chosen};
    for (const size_t choice : choices) {
      Best best{.choice = choice};
      if (at > 0) {
        const auto cost = [&](const Best& one) {
          return std::tuple(one.changes + (one.choice == choice ? 0U : 1U), one.log_ratio);
        };
        const auto before = std::ranges::min_element(table[at - 1], {}, cost);
        std::tie(best.changes, best.log_ratio) = cost(*before);
        best.before = static_cast<size_t>(before - table[at - 1].begin());
      }
      if (choice != 0) best.log_ratio += std::log(row[at].ratios[choice].value);
      table[at].push_back(best);
    }
  }
  const auto cost = [](const Best& one) { return std::tuple(one.changes, one.log_ratio); };
  const auto last = std::ranges::min_element(table.back(), {}, cost);
  auto index = static_cast<size_t>(last - table.back().begin());
  for (size_t at = row.size(); at-- > 0;) {
    const Best& best = table[at][index];
    if (best.choice != 0) {
      row[at].chosen = row[at].nearest = best.choice;
      row[at].ratio = row[at].ratios[best.choice];
    }
    index = best.before;
  }
}

Result<KnobDecision> decide_knob(std::span<const CellTimes> cells, const DecisionRule& rule) {
  if (cells.empty()) {
    return Error(ErrorCode::invalid_argument, "a setting needs a cell that it was measured in");
  }
  KnobDecision decision;
  std::vector<std::vector<double>> log_ratios;
  double worst = 0;
  bool loses = false;
  bool within = true;
  const double each = 1 - 2 * (1 - rule.confidence) / static_cast<double>(cells.size());
  for (size_t at = 0; at < cells.size(); ++at) {
    STRIPLINE_ASSIGN_OR_RETURN(const Pairs pairs, pairs_of(cells[at].value_s, cells[at].default_s));
    if (pairs.a.size() < std::max<size_t>(rule.least_runs, 2)) return decision;
    STRIPLINE_ASSIGN_OR_RETURN(auto logs, stats::paired_log_ratios(pairs.a, pairs.b));
    log_ratios.push_back(std::move(logs));
    STRIPLINE_ASSIGN_OR_RETURN(const stats::Ratio ratio,
                               stats::paired_ratio(pairs.a, pairs.b, each));
    if (ratio.interval.low > 1 + rule.margin) loses = true;
    // One cell in which it acts is an effect, even if it acts against another one.
    if (ratio.interval.low > 1 + rule.margin || ratio.interval.high < 1 - rule.margin) {
      within = false;
    }
    if (ratio.value > worst) {
      worst = ratio.value;
      decision.worst = at;
      decision.worst_ratio = ratio;
    }
  }
  STRIPLINE_ASSIGN_OR_RETURN(decision.ratio, stats::geometric_mean(log_ratios, rule.confidence));
  if (loses) {
    decision.outcome = KnobOutcome::loses;
  } else if (decision.ratio.upper < 1 - rule.margin) {
    decision.outcome = KnobOutcome::departs;
  } else if (decision.ratio.lower > 1 + rule.margin) {
    decision.outcome = KnobOutcome::slower;
  } else if (within && decision.ratio.lower > 1 - rule.margin &&
             decision.ratio.upper < 1 + rule.margin) {
    decision.outcome = KnobOutcome::no_effect;
  } else {
    decision.outcome = KnobOutcome::not_shown;
  }
  return decision;
}

std::string describe(const KnobDecision& decision) {
  const double gain = 1 - decision.ratio.value;
  const double half = (decision.ratio.upper - decision.ratio.lower) / 2;
  const auto [least, most] =
      std::minmax({std::abs(1 - decision.ratio.upper), std::abs(1 - decision.ratio.lower)});
  const std::string bounds = " (" + percent(least) + " to " + percent(most) + ")";
  switch (decision.outcome) {
    case KnobOutcome::departs:
      return "faster by " + percent(gain) + bounds;
    case KnobOutcome::no_effect:
      return "no effect measured, " + percent(gain) + " ± " + percent(half);
    case KnobOutcome::loses:
      return "slower by " + percent(decision.worst_ratio.value - 1) + " in its worst cell";
    case KnobOutcome::slower:
      return "slower by " + percent(-gain) + bounds;
    case KnobOutcome::not_shown:
      return "no gain shown, " + percent(gain) + " ± " + percent(half);
    case KnobOutcome::few_runs:
      return "too few runs";
  }
  return "too few runs";
}

Result<std::vector<CellVerdict>> judge_cells(std::span<const CellTimes> cells,
                                             const DecisionRule& rule) {
  std::vector<CellVerdict> verdicts;
  // Among many cells some look slower by chance.
  const double shared =
      1 - (1 - rule.confidence) / static_cast<double>(std::max<size_t>(cells.size(), 1));
  for (const CellTimes& cell : cells) {
    STRIPLINE_ASSIGN_OR_RETURN(const Pairs pairs, pairs_of(cell.value_s, cell.default_s));
    CellVerdict verdict{.cell = cell.cell};
    if (!pairs.a.empty()) {
      STRIPLINE_ASSIGN_OR_RETURN(
          verdict.test, stats::non_inferiority(pairs.a, pairs.b, rule.margin, rule.confidence));
      STRIPLINE_ASSIGN_OR_RETURN(const auto certain,
                                 stats::non_inferiority(pairs.a, pairs.b, rule.margin, shared));
      if (verdict.test.verdict == stats::NonInferiority::inferior &&
          certain.verdict != stats::NonInferiority::inferior) {
        verdict.test.verdict = stats::NonInferiority::inconclusive;
      }
    }
    verdicts.push_back(verdict);
  }
  return verdicts;
}

bool is_accepted(const stats::NonInferiorityTest& test) {
  if (test.verdict != stats::NonInferiority::inconclusive) {
    return test.verdict == stats::NonInferiority::non_inferior;
  }
  return test.upper > 0 && test.upper < 1 + kBoundedLoss;
}

Result<double> proven_by_probe(std::span<const double> without_s, std::span<const double> with_s) {
  STRIPLINE_ASSIGN_OR_RETURN(const Pairs pairs, pairs_of(with_s, without_s));
  std::vector<double> factors;
  for (size_t i = 0; i < pairs.a.size(); ++i) factors.push_back(pairs.a[i] / pairs.b[i]);
  const bool enough = factors.size() >= kProbePairs;
  const double factor = factors.empty() ? 1 : stats::median(factors);
  const bool all_slower = std::ranges::all_of(factors, [](double one) { return one > 1; });
  if (enough && all_slower && factor >= kProbeFactor) return factor;
  return Error(
      ErrorCode::failed_precondition,
      formatted("the probe, which must slow its cell down, changed its time by a factor of %.2f "
                "over %zu pairs",
                factor, factors.size()) +
          (enough ? ": the target does not read what was written, or reads something else "
                    "besides"
                  : ": too few pairs to say anything"));
}

}  // namespace stripline::targets
