// Tells ties from differences where two models decide otherwise: most such decisions are ties, of
// which both plans take the same time as far as either model can tell.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/report/questions.h"
#include "optimizer/stats/interval.h"

namespace stripline::reports {

/// What a model says that the second of two plans gains over the first: a part of the first one's
/// time, and the interval that its parameters' intervals give it.
struct PlanGain {
  double value = 0;
  stats::Interval interval;
};

/// What two decisions that differ are to each other.
enum class Disagreement {
  tie,     ///< neither model is sure that its own plan is faster by more than the margin, or what
           ///< they say of the gain differs by no more than that
  doubt,   ///< one is, and what they say of the gain differs by no more than their intervals allow
  change,  ///< the models contradict each other, or nothing is known of what the plans take
};
/// "tie", "doubt", "change".
std::string_view to_string(Disagreement disagreement);

/// Compares plan a of model a with plan b of model b: what each says that b gains over a. It is one
/// of `decisions` comparisons: as some of many differ by chance, what the models say must differ
/// for a change as one of as many equals does in one of twenty cases (Bonferroni).
Disagreement disagreement(const PlanGain& by_a, const PlanGain& by_b, double margin,
                          size_t decisions = 1);

/// A model and one of its paths, compiled as they are and with each of their parameters by turns at
/// the ends of its interval: what is doubtful, source by source. Those of a table (such as the
/// residuals of a method) err together, others independently, also the same ones of neighbouring
/// segments, so that what they do to a gain is added as squares, as planners do (plan/decision.h).
class DoubtfulModel {
 public:
  /// `path` is one of the model's. Errors: those of model::to_json() and model::parse_model().
  static Result<DoubtfulModel> of(const model::TunedModel& model, const std::string& path);

  /// The model and its path as they are.
  const DecidingModel& itself() const { return compiled_.front(); }

  /// What this model says of the plans that two models decide for a question (questions.h:
  /// judge_plans()); empty where it does not know what they take.
  Result<std::vector<PlanGain>> gain(const DecidingModel& a, const DecidingModel& b,
                                     const std::string& command, const Question& question) const;

 private:
  // The model as it is; then two for each source, at the low and the high ends.
  std::vector<DecidingModel> compiled_;
};

}  // namespace stripline::reports
