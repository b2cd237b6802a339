// The questions that a model is usually looked at by: for a mechanism two options that vary, and
// some that choose, as the mechanism has them (plan::Words::table). Pages draw a map of each,
// reports hold them, and two models are compared by them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "optimizer/report/questions.h"

namespace stripline::reports {

/// An option and the values that are asked.
struct Axis {
  std::string option;  ///< without dashes: "region-bytes"
  std::vector<std::string> values;
};

struct DecisionTable {
  std::string command;  ///< of `stripline explain`
  Axis x;
  Axis y;
  std::vector<Axis> choices;  ///< what a map is drawn for one value of each of
};

/// In the order of `stripline explain`.
const std::vector<DecisionTable>& decision_tables();

/// A question of many decisions (tabulate_decisions()) for each combination of the choices.
std::vector<Question> questions_of(const DecisionTable& table);

/// {"command", "x": {"option", "values"}, "y": ..., "choices": [...]}
Json to_json(const DecisionTable& table);

}  // namespace stripline::reports
