// Departs from a target's default as a production system would: only where that is known to gain,
// and nowhere where it may lose. Times are seconds, paired by run: entry i of every
// alternative was measured in run i (a launch of its own), NaN where it was not. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "optimizer/stats/compare.h"
#include "optimizer/targets/collectives.h"

namespace stripline::targets {

struct DecisionRule {
  /// What a departure has to gain at least, as a part of the default's time, by the lower end of
  /// its interval; also what nothing may lose.
  double margin = 0.03;
  double confidence = 0.95;  ///< shared by all alternatives of a cell (Bonferroni)
  std::size_t least_runs = 4;
};

/// One alternative in one cell; the first of a list is the default.
struct Alternative {
  std::string name;
  std::vector<double> times_s;
  /// Why it cannot be chosen: it hung, aborted, gave wrong data, or is refused. Empty: it can.
  std::string failure;
};

enum class Outcome {
  departs,       ///< an alternative is chosen
  default_best,  ///< every alternative was slower, or not faster than by the margin, for certain
  tie,           ///< nothing is known to gain more than the margin
  few_runs,      ///< too few runs to say anything
  // An alternative was chosen, and its validation took it back:
  not_confirmed,  ///< it is not shown to be as fast as the default
  refuted,        ///< it is slower, for certain
};
/// "departs", "default_best", "tie", "few_runs", "not_confirmed", "refuted"
const char* to_string(Outcome outcome);

struct CellDecision {
  Cell cell;
  std::size_t chosen = 0;  ///< index of the alternative; 0: the default
  Outcome outcome = Outcome::tie;
  /// Time of the chosen one over the default's; where that is the default, that of the alternative
  /// that came nearest to being chosen. The interval has the rule's confidence.
  stats::Ratio ratio;
  std::size_t nearest = 0;  ///< which alternative `ratio` is about; 0: none was comparable
  /// All that pass and are as good as the best of them; empty where the default is kept.
  std::vector<std::size_t> eligible;
  std::vector<stats::Ratio> ratios;  ///< of every alternative; `runs` 0: not comparable
};

/// Errors: invalid_argument for no alternative, rows of different lengths, or a time that is
/// neither NaN nor above zero.
Result<CellDecision> decide_cell(const Cell& cell, std::span<const Alternative> alternatives,
                                 const DecisionRule& rule);

/// Cells of one collective and number of ranks, by ascending sizes, with the same alternatives:
/// chooses among what is eligible in each so that choices change as rarely as possible, and then so
/// that the product of ratios is least. Cells at the default stay there.
void settle_row(std::span<CellDecision> row);

/// Times of one value beside the default's in one cell.
struct CellTimes {
  Cell cell;
  std::vector<double> default_s;
  std::vector<double> value_s;
};

enum class KnobOutcome {
  departs,    ///< gains more than the margin over all cells, and loses it in none
  no_effect,  ///< surely within the margin, over all cells and in each
  loses,      ///< surely slower by more than the margin in a cell
  slower,     ///< surely slower over all cells
  not_shown,  ///< neither a gain nor its absence is certain
  few_runs,
};
const char* to_string(KnobOutcome outcome);

/// About a setting that acts on all cells at once.
struct KnobDecision {
  KnobOutcome outcome = KnobOutcome::few_runs;
  /// Geometric mean of value over default, with one-sided bounds at the rule's confidence.
  stats::GeometricMean ratio;
  std::size_t worst = 0;  ///< the cell with the largest ratio
  stats::Ratio worst_ratio;
};

/// A value departs from the default where the upper bound of its mean ratio is below 1 - margin and
/// no cell is found to be slower by more than the margin. Errors: as decide_cell(), and for no
/// cell.
Result<KnobDecision> decide_knob(std::span<const CellTimes> cells, const DecisionRule& rule);

/// "no effect measured, 0.4 % ± 1.1 %", "faster by 12 % (9 % to 15 %)": for people.
std::string describe(const KnobDecision& decision);

/// Says if the exported settings are slower than the default by more than the rule's margin in a
/// cell, from fresh runs of both, in turns. "Non-inferior" is said of each at the rule's
/// confidence, "inferior" at one that all cells share, as some look slower by chance.
struct CellVerdict {
  Cell cell;
  stats::NonInferiorityTest test;
};
Result<std::vector<CellVerdict>> judge_cells(std::span<const CellTimes> cells,
                                             const DecisionRule& rule);

/// What a comparison that stays inconclusive may lose at most, as a part of the default's time, by
/// the upper end of its interval.
inline constexpr double kBoundedLoss = 0.10;

/// Whether exported settings may have this comparison: it is non-inferior, or inconclusive and
/// bounded by kBoundedLoss. Never without pairs.
bool is_accepted(const stats::NonInferiorityTest& test);

/// What a wrong size or order of magnitude cannot do by chance: the probe, which must slow its cell
/// down, was slower in every pair, by this factor at least in the median.
inline constexpr double kProbeFactor = 1.2;
/// Pairs that show it: all of five are slower by chance in one of 32 cases.
inline constexpr std::size_t kProbePairs = 5;

/// Confirms that a probe was seen to slow its cell down. Errors: invalid_argument for rows of
/// different lengths; failed_precondition, with the factor that was seen, where it did not.
Result<double> proven_by_probe(std::span<const double> without_s, std::span<const double> with_s);

}  // namespace stripline::targets
