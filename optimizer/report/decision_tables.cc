#include "optimizer/report/decision_tables.h"

#include <utility>

#include "optimizer/plan/kinds.h"

namespace stripline::reports {
namespace {

Axis axis_of(const plan::AskedValues& asked) {
  return {std::string(asked.option), split_values(asked.values)};
}

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

Json to_json(const Axis& axis) { return {{"option", axis.option}, {"values", axis.values}}; }

}  // namespace

const std::vector<DecisionTable>& decision_tables() {
  static const std::vector<DecisionTable> kTables = [] {
    std::vector<DecisionTable> tables;
    for (const plan::Words* const kind : plan::all_kinds()) {
      const plan::UsualDecisions& usual = kind->table;
      if (usual.x.option.empty()) continue;
      DecisionTable& table =
          tables.emplace_back(DecisionTable{kind->command, axis_of(usual.x), axis_of(usual.y), {}});
      for (const plan::AskedValues& choice : usual.choices) {
        if (!choice.option.empty()) table.choices.push_back(axis_of(choice));
      }
    }
    return tables;
  }();
  return kTables;
}

std::vector<Question> questions_of(const DecisionTable& table) {
  std::vector<Question> all = {
      {{table.x.option, joined(table.x.values)}, {table.y.option, joined(table.y.values)}}};
  for (const Axis& choice : table.choices) {
    std::vector<Question> more;
    for (const Question& question : all) {
      for (const std::string& value : choice.values) {
        more.push_back(question);
        more.back()[choice.option] = value;
      }
    }
    all = std::move(more);
  }
  return all;
}

Json to_json(const DecisionTable& table) {
  Json choices = Json::array();
  for (const Axis& choice : table.choices) choices.push_back(to_json(choice));
  return {{"command", table.command},
          {"x", to_json(table.x)},
          {"y", to_json(table.y)},
          {"choices", std::move(choices)}};
}

}  // namespace stripline::reports
