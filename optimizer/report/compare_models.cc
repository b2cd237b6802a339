#include "optimizer/report/compare_models.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "base/formatted.h"
#include "base/quantity.h"
#include "base/table.h"
#include "optimizer/model/model_json.h"
#include "optimizer/plan/row.h"
#include "optimizer/report/decision_tables.h"
#include "optimizer/stats/estimate.h"

namespace stripline::reports {
namespace {

// Rows that people read of each kind.
constexpr std::size_t kMostRows = 40;

struct Found {
  std::string unit;
  ParameterValue value;
};
using Parameters = std::map<std::string, Found>;

// An element of a list by what tells it from the others; by its place if nothing does.
std::string label(const Json& item, std::size_t place) {
  static constexpr std::array<const char*, 9> kKeys = {"operation",  "algorithm",    "from_bytes",
                                                       "bytes",      "region_bytes", "regions",
                                                       "span_bytes", "nodes",        "distance"};
  std::string text;
  for (const char* const key : kKeys) {
    if (!item.is_object() || !item.contains(key)) continue;
    const Json& value = item[key];
    if (!value.is_string() && !value.is_number()) continue;
    text +=
        (text.empty() ? "" : "/") + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text.empty() ? std::to_string(place) : text;
}

// All parameters below a value of the file.
void collect(const Json& value, const std::string& path, Parameters& found) {
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      collect(value[i], path + "[" + label(value[i], i) + "]", found);
    }
  } else if (value.is_object() && value.contains("value") && value.contains("ci")) {
    found[path] = {value["unit"],
                   {value["value"], value["ci"][0], value["ci"][1], value["runs"],
                    value.value("at_least", false)}};
  } else if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      collect(inner, path.empty() ? key : path + "." + key, found);
    }
  }
}

Result<Parameters> parameters_of(const model::TunedModel& model) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, model::to_json(model));
  Parameters found;
  collect(document, "", found);
  return found;
}

stats::Estimate estimate(const ParameterValue& of) {
  return {of.value, {of.low, of.high}, of.runs};
}

std::string verdict_text(stats::Verdict verdict, const std::string& unit) {
  if (unit == "1" && verdict == stats::Verdict::faster) return "SMALLER";
  if (unit == "1" && verdict == stats::Verdict::slower) return "LARGER";
  return stats::to_string(verdict);
}

// Where one side knows only a lower bound.
std::string verdict_of_bounds(const ParameterValue& a, const ParameterValue& b) {
  if (a.at_least && b.at_least) {
    const double apart = std::abs(b.value - a.value);
    return apart <= stats::kEquivalenceMargin * std::abs(a.value) ? "EQUIVALENT" : "INCONCLUSIVE";
  }
  if (a.at_least) return b.high < a.value ? "SMALLER" : "INCONCLUSIVE";
  return a.high < b.value ? "LARGER" : "INCONCLUSIVE";
}

std::vector<ComparedParameter> compare_parameters(const Parameters& a, const Parameters& b) {
  std::map<std::string, ComparedParameter> all;
  for (const auto& [name, found] : a) all[name].a = found.value;
  for (const auto& [name, found] : b) all[name].b = found.value;
  std::vector<ComparedParameter*> comparable;
  std::vector<stats::EstimateComparison> comparisons;
  for (auto& [name, one] : all) {
    one.name = name;
    one.unit = (one.a ? a : b).at(name).unit;
    one.verdict = "INCOMPARABLE";
    if (!one.a || !one.b) {
      one.why = one.a ? "only the baseline has it" : "the baseline does not have it";
      continue;
    }
    if (one.a->at_least || one.b->at_least) {
      one.verdict = verdict_of_bounds(*one.a, *one.b);
      continue;
    }
    comparable.push_back(&one);
    comparisons.push_back(stats::compare_estimates(estimate(*one.b), estimate(*one.a)));
  }
  stats::control_false_discoveries(comparisons);
  for (std::size_t i = 0; i < comparable.size(); ++i) {
    ComparedParameter& one = *comparable[i];
    one.verdict = verdict_text(comparisons[i].verdict, one.unit);
    const double of = std::abs(one.a->value);
    if (of == 0) continue;
    one.change = (one.b->value - one.a->value) / of;
    one.detectable = comparisons[i].detectable / of;
    one.change_low = comparisons[i].difference.low / of;
    one.change_high = comparisons[i].difference.high / of;
  }
  std::vector<ComparedParameter> listed;
  for (auto& [name, one] : all) listed.push_back(std::move(one));
  return listed;
}

std::vector<ComparedFact> compare_facts(const model::Fingerprint& a, const model::Fingerprint& b) {
  std::map<std::string, ComparedFact> all;
  for (const auto& [field, fact] : a) all[field].a = fact.value;
  for (const auto& [field, fact] : b) all[field].b = fact.value;
  std::vector<ComparedFact> differ;
  for (auto& [field, fact] : all) {
    if (fact.a == fact.b) continue;
    fact.field = field;
    differ.push_back(std::move(fact));
  }
  return differ;
}

// What the models say of each other's plans. Reads them with their doubts when it is first needed,
// which takes a while.
class Judges {
 public:
  Judges(const model::TunedModel& a, const model::TunedModel& b, std::string path)
      : a_(a), b_(b), path_(std::move(path)) {}

  Status judge(ComparedDecision& decision, std::size_t decisions) {
    if (!of_a_) {
      STRIPLINE_ASSIGN_OR_RETURN(of_a_, DoubtfulModel::of(a_, path_));
      STRIPLINE_ASSIGN_OR_RETURN(of_b_, DoubtfulModel::of(b_, path_));
    }
    const auto gain = [&](const DoubtfulModel& by) {
      return by.gain(of_a_->itself(), of_b_->itself(), decision.command, decision.asked);
    };
    STRIPLINE_ASSIGN_OR_RETURN(const auto by_a, gain(*of_a_));
    STRIPLINE_ASSIGN_OR_RETURN(const auto by_b, gain(*of_b_));
    if (!by_a.empty()) decision.by_a = by_a.front();
    if (!by_b.empty()) decision.by_b = by_b.front();
    if (decision.by_a && decision.by_b) {
      decision.disagreement =
          disagreement(*decision.by_a, *decision.by_b, stats::kEquivalenceMargin, decisions);
    }
    return {};
  }

 private:
  const model::TunedModel& a_;
  const model::TunedModel& b_;
  std::string path_;
  std::optional<DoubtfulModel> of_a_;
  std::optional<DoubtfulModel> of_b_;
};

std::size_t& count_of(ComparedTable& table, Disagreement disagreement) {
  if (disagreement == Disagreement::tie) return table.ties;
  return disagreement == Disagreement::doubt ? table.doubts : table.differ;
}

// Both answers to a question of many decisions.
void compare_tables(const Json& a, const Json& b, const std::string& command,
                    const Question& question, ModelComparison& out) {
  ComparedTable& table = out.tables.back();
  const Json& options = a["options"];
  for (std::size_t i = 0; i < a["decisions"].size(); ++i) {
    const Json& of_a = a["decisions"][i];
    const Json& of_b = b["decisions"][i];
    ++table.asked;
    if (of_a["text"] == of_b["text"]) continue;
    ComparedDecision& one = out.decisions.emplace_back();
    one.command = command;
    one.asked = question;
    for (std::size_t k = 0; k < options.size(); ++k) one.asked[options[k]] = of_a["values"][k];
    one.a = of_a["text"];
    one.b = of_b["text"];
    one.a_predicted_s = of_a["predicted_s"];
    one.b_predicted_s = of_b["predicted_s"];
  }
}

std::string asked_text(const ComparedDecision& decision) {
  std::string text = decision.command;
  for (const auto& [option, value] : decision.asked) text += " --" + option + " " + value;
  return text;
}

std::string value_text(const std::optional<ParameterValue>& of, const std::string& unit) {
  if (!of) return "-";
  const std::string bound = of->at_least ? ">= " : "";
  if (unit == "s") return bound + seconds_text(of->value);
  if (unit == "s/B") return bound + seconds_per_byte_text(of->value);
  return bound + formatted("%.4g", of->value);
}

std::string change_text(const ComparedParameter& one) {
  if (!one.change) return "";
  return formatted("%+.1f %% [%+.1f, %+.1f]", 100 * *one.change, 100 * one.change_low,
                   100 * one.change_high);
}

Json to_json(const std::optional<ParameterValue>& of) {
  if (!of) return {};
  return {{"value", of->value},
          {"ci", {of->low, of->high}},
          {"runs", of->runs},
          {"at_least", of->at_least}};
}

Json to_json(const std::optional<PlanGain>& gain) {
  if (!gain) return {};
  return {{"value", gain->value}, {"ci", {gain->interval.low, gain->interval.high}}};
}

std::string gain_text(const std::optional<PlanGain>& gain) {
  if (!gain) return "-";
  return formatted("%+.1f %% [%+.1f, %+.1f]", 100 * gain->value, 100 * gain->interval.low,
                   100 * gain->interval.high);
}

// How large a difference can be that does not show, where parameters have none.
std::string resolution_text(const std::vector<ComparedParameter>& parameters) {
  std::vector<double> parts;
  for (const ComparedParameter& one : parameters) {
    if (one.detectable && std::isfinite(*one.detectable)) parts.push_back(*one.detectable);
  }
  if (parts.empty()) return "";
  std::ranges::sort(parts);
  return "a difference is seen in four of five cases from " +
         plan::percent_text(parts[parts.size() / 2]) + " on in half of them, from " +
         plan::percent_text(parts[parts.size() * 9 / 10]) + " on in nine of ten\n";
}

}  // namespace

Result<ModelComparison> compare_models(const model::TunedModel& a, const model::TunedModel& b) {
  STRIPLINE_ASSIGN_OR_RETURN(const Parameters of_a, parameters_of(a));
  STRIPLINE_ASSIGN_OR_RETURN(const Parameters of_b, parameters_of(b));
  ModelComparison comparison;
  comparison.facts = compare_facts(a.fingerprint, b.fingerprint);
  comparison.parameters = compare_parameters(of_a, of_b);
  const auto path = std::ranges::find_if(
      a.network, [&](const auto& named) { return b.network.contains(named.first); });
  if (path == a.network.end()) return comparison;
  for (const DecisionTable& table : decision_tables()) {
    comparison.tables.push_back({table.command, 0, 0});
    for (Question question : questions_of(table)) {
      question["path"] = path->first;
      const auto by_a = tabulate_decisions(a, table.command, question);
      const auto by_b = tabulate_decisions(b, table.command, question);
      if (by_a.ok() && by_b.ok()) compare_tables(*by_a, *by_b, table.command, question, comparison);
    }
  }
  Judges judges(a, b, path->first);
  std::size_t asked = 0;
  for (const ComparedTable& table : comparison.tables) asked += table.asked;
  for (ComparedDecision& decision : comparison.decisions) {
    STRIPLINE_RETURN_IF_ERROR(judges.judge(decision, asked));
    const auto table =
        std::ranges::find(comparison.tables, decision.command, &ComparedTable::command);
    ++count_of(*table, decision.disagreement);
  }
  std::ranges::stable_sort(comparison.decisions, std::greater(), &ComparedDecision::disagreement);
  return comparison;
}

std::map<std::string, std::size_t> tally(const ModelComparison& comparison) {
  std::map<std::string, std::size_t> counts;
  for (const ComparedParameter& one : comparison.parameters) ++counts[one.verdict];
  return counts;
}

Json to_json(const ModelComparison& comparison) {
  Json json = {{"facts", Json::array()},
               {"parameters", Json::array()},
               {"verdicts", tally(comparison)},
               {"tables", Json::array()},
               {"decisions", Json::array()}};
  for (const ComparedFact& fact : comparison.facts) {
    json["facts"].push_back({{"field", fact.field}, {"a", fact.a}, {"b", fact.b}});
  }
  for (const ComparedParameter& one : comparison.parameters) {
    Json row = {{"name", one.name},    {"unit", one.unit},       {"a", to_json(one.a)},
                {"b", to_json(one.b)}, {"verdict", one.verdict}, {"why", one.why},
                {"change", nullptr},   {"detectable", nullptr}};
    if (one.detectable && std::isfinite(*one.detectable)) row["detectable"] = *one.detectable;
    if (one.change) {
      row["change"] = *one.change;
      row["change_ci"] = {one.change_low, one.change_high};
    }
    json["parameters"].push_back(std::move(row));
  }
  for (const ComparedTable& table : comparison.tables) {
    json["tables"].push_back({{"command", table.command},
                              {"asked", table.asked},
                              {"differ", table.differ},
                              {"doubts", table.doubts},
                              {"ties", table.ties}});
  }
  for (const ComparedDecision& one : comparison.decisions) {
    json["decisions"].push_back({{"command", one.command},
                                 {"asked", one.asked},
                                 {"a", one.a},
                                 {"b", one.b},
                                 {"a_predicted_s", one.a_predicted_s},
                                 {"b_predicted_s", one.b_predicted_s},
                                 {"disagreement", to_string(one.disagreement)},
                                 {"gain_by_a", to_json(one.by_a)},
                                 {"gain_by_b", to_json(one.by_b)}});
  }
  return json;
}

std::string to_text(const ModelComparison& comparison, const std::string& a, const std::string& b) {
  std::string out =
      b + " against " + a + ": " + count_text(comparison.parameters.size(), "parameter");
  for (const auto& [verdict, count] : tally(comparison)) {
    out += ", " + std::to_string(count) + " " + verdict;
  }
  out += "\n" + resolution_text(comparison.parameters);
  Table facts({{"MACHINE"}, {a}, {b}});
  for (const ComparedFact& fact : comparison.facts) facts.add({fact.field, fact.a, fact.b});
  if (!facts.empty()) out += "\n" + facts.text();

  std::vector<const ComparedParameter*> changed;
  for (const ComparedParameter& one : comparison.parameters) {
    if (one.verdict != "EQUIVALENT" && one.verdict != "INCONCLUSIVE" &&
        one.verdict != "INCOMPARABLE") {
      changed.push_back(&one);
    }
  }
  std::ranges::stable_sort(changed, std::greater(),
                           [](const auto* one) { return std::abs(one->change.value_or(0)); });
  Table parameters({{"PARAMETER"},
                    {a, Table::Align::right},
                    {b, Table::Align::right},
                    {"CHANGE", Table::Align::right},
                    {"VERDICT"}});
  for (std::size_t i = 0; i < std::min(kMostRows, changed.size()); ++i) {
    const ComparedParameter& one = *changed[i];
    parameters.add({one.name, value_text(one.a, one.unit), value_text(one.b, one.unit),
                    change_text(one), one.verdict});
  }
  out +=
      changed.empty() ? "\nno parameter differs beyond its interval\n" : "\n" + parameters.text();
  if (changed.size() > kMostRows) {
    out += "and " + std::to_string(changed.size() - kMostRows) + " more; --json has all\n";
  }

  out += "\n";
  for (const ComparedTable& table : comparison.tables) {
    out += std::to_string(table.differ) + " of " + std::to_string(table.asked) +
           " usual decisions of 'explain " + table.command + "' differ";
    if (table.doubts > 0) {
      out += "; of " + std::to_string(table.doubts) +
             " more one model is sure, and what the other says agrees within its intervals";
    }
    if (table.ties > 0) {
      out += "; " + std::to_string(table.ties) +
             " are ties (other plans that take as long, as far as either model knows)";
    }
    out += "\n";
  }
  if (comparison.tables.empty())
    out += "the models have no path in common: no decisions compared\n";
  // Ties come last, and are not listed.
  const auto listed = static_cast<std::size_t>(
      std::ranges::find(comparison.decisions, Disagreement::tie, &ComparedDecision::disagreement) -
      comparison.decisions.begin());
  Table decisions({{"DECISION"},
                   {a},
                   {b},
                   {"KIND"},
                   {"GAIN BY " + a, Table::Align::right},
                   {"GAIN BY " + b, Table::Align::right}});
  for (std::size_t i = 0; i < std::min(kMostRows, listed); ++i) {
    const ComparedDecision& one = comparison.decisions[i];
    decisions.add({asked_text(one), one.a + ", " + plan::time_text(one.a_predicted_s),
                   one.b + ", " + plan::time_text(one.b_predicted_s),
                   std::string(to_string(one.disagreement)), gain_text(one.by_a),
                   gain_text(one.by_b)});
  }
  if (!decisions.empty()) {
    out += "\ngain: what the plan of " + b + " saves of the time that the plan of " + a +
           " takes, by each model\n" + decisions.text();
  }
  if (listed > kMostRows) {
    out += "and " + std::to_string(listed - kMostRows) + " more; --json has all\n";
  }
  return out;
}

}  // namespace stripline::reports
