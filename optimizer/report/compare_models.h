// Two tuned models beside each other: which parameters differ beyond their intervals, which of the
// usual decisions come out otherwise, which of these are ties, and what their machines differ in.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/report/questions.h"
#include "optimizer/report/ties.h"

namespace stripline::reports {

/// What one side says of a parameter.
struct ParameterValue {
  double value = 0;
  double low = 0;
  double high = 0;
  std::size_t runs = 0;
  bool at_least = false;  ///< only a lower bound
};

struct ComparedParameter {
  std::string name;  ///< its path in the file: "network.inter-node.get.segments[2048].L_s"
  std::string unit;  ///< "s", "s/B", "1"
  std::optional<ParameterValue> a;
  std::optional<ParameterValue> b;
  /// b against a. For times that of stats::Verdict; for others "LARGER" and "SMALLER" in the
  /// place of SLOWER and FASTER; "INCOMPARABLE" where one side does not have it. Lower bounds
  /// that are alike are equivalent; a value that is surely below a bound differs from it, and all
  /// else that is at least so much may be the same.
  std::string verdict;
  std::string why;  ///< it is incomparable
  /// By what part of a they would have to differ for such estimates to show it in four of five
  /// cases: the smallest difference that could have been seen; nullopt of bounds.
  std::optional<double> detectable;
  /// What b is more than a, and its 95 % interval, as parts of a; nullopt where a is zero or they
  /// are not comparable.
  std::optional<double> change;
  double change_low = 0;
  double change_high = 0;
};

struct ComparedDecision {
  std::string command;
  Question asked;  ///< one value of each option
  std::string a;   ///< the plan as people read it
  std::string b;
  double a_predicted_s = 0;  ///< each by its own model
  double b_predicted_s = 0;
  Disagreement disagreement = Disagreement::change;
  /// What b's plan gains over a's, by each model; nullopt where it does not know.
  std::optional<PlanGain> by_a;
  std::optional<PlanGain> by_b;
};

/// Decisions of a table (decision_tables.h) that both models could make.
struct ComparedTable {
  std::string command;
  std::size_t asked = 0;
  std::size_t differ = 0;  ///< Disagreement::change
  std::size_t doubts = 0;
  std::size_t ties = 0;
};

struct ComparedFact {
  std::string field;  ///< of the fingerprint
  std::string a;      ///< empty: it does not have it
  std::string b;
};

struct ModelComparison {
  std::vector<ComparedFact> facts;            ///< those that differ
  std::vector<ComparedParameter> parameters;  ///< all, by name
  std::vector<ComparedTable> tables;
  /// Decisions for different plans: what differs, then doubts, then ties.
  std::vector<ComparedDecision> decisions;
};

/// `a` is the baseline. False discoveries among the parameters are controlled at 5 %
/// (stats/estimate.h). Decisions are asked on the first path that both have; those whose plans take
/// the same time within stats::kEquivalenceMargin, or within what the models know, are ties.
/// Errors: those of model::to_json().
Result<ModelComparison> compare_models(const model::TunedModel& a, const model::TunedModel& b);

/// How many parameters have each verdict.
std::map<std::string, std::size_t> tally(const ModelComparison& comparison);

/// For programs, with all of it.
Json to_json(const ModelComparison& comparison);

/// For people: what differs, the surest first. `a`, `b`: how the models are called.
std::string to_text(const ModelComparison& comparison, const std::string& a, const std::string& b);

}  // namespace stripline::reports
