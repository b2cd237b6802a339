// A model judged by the problems that a campaign has held out for that: what it predicts against
// what was measured, and what its decisions take against the fastest of the measured alternatives
// and against what is done without a model. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "optimizer/experiment/held_out.h"
#include "optimizer/fit/judge_model.h"
#include "optimizer/fit/sample_table.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::fit {

/// What a campaign has measured of a held-out problem: of each of its alternatives the medians of
/// runs, none of those that were not measured.
struct HeldOutTimes {
  experiment::HeldOutProblem problem;
  std::vector<RunMedians> alternatives;
};

/// Series of a campaign in two parts.
struct HeldOutSeries {
  std::vector<experiment::SampleSeries> fitted;  ///< To fit a model to.
  std::vector<HeldOutTimes> judged;              ///< To judge one by; those that were measured.
};

/// Takes apart what campaigns with these seeds and `ranks` ranks have measured. Series that failed
/// verification, or hold a value that is no time above zero, judge nothing, and are not fitted.
HeldOutSeries take_held_out(std::span<const experiment::SampleSeries> series,
                            std::span<const uint64_t> seeds, uint32_t ranks);

/// A prediction of the time of a single operation or of a burst.
struct JudgedTime {
  std::string what;  ///< experiment::describe()
  std::string kind;  ///< "size of get": what is predicted in the same manner.
  double predicted_s = 0;
  double measured_s = 0;
  bool missed = false;  ///< By more than kMiss, and by more than the model's interval.
};

/// How far a prediction may be off, as a share of what was measured, before it counts as a miss.
inline constexpr double kMiss = 0.2;

/// A decision. Runs that have measured all three count.
struct JudgedChoice {
  experiment::HeldOutKind kind = experiment::HeldOutKind::call;
  std::string what;    ///< experiment::describe()
  std::string chosen;  ///< The alternative, for people.
  /// Logarithms of ratios, by run: of the chosen alternative's time over that of the one that is
  /// taken without a model, and over the fastest one's. The latter is chosen on every other run and
  /// compared in the runs between them, so that it is not the one that luck favours.
  std::vector<double> over_untuned;
  std::vector<double> over_best;
};

struct Judged {
  std::vector<JudgedTime> times;
  std::vector<JudgedChoice> choices;
};

/// What a valid model says of them. Problems that it says nothing of are left out.
Judged judge_held_out(const model::TunedModel& model, std::span<const HeldOutTimes> held_out,
                      uint32_t ranks);

/// The figures.
Judgement summed_up(const Judged& judged);

/// How one model's decisions do beside another's on the same problems.
struct Comparison {
  std::size_t choices = 0;
  double ratio = 1;  ///< Geometric mean of what the first one's take over what the second one's do.
  double low = 1;    ///< One-sided lower bound, at 95 %, by the runs' spread.
};
/// Problems that both decide about are compared, run by run. `by_both` were judged by the same
/// campaigns.
Comparison compare_choices(const Judged& one, const Judged& other);

}  // namespace stripline::fit
