#include "optimizer/report/ties.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "base/enum_names.h"
#include "base/json.h"
#include "base/sha256.h"
#include "optimizer/model/model_json.h"

namespace stripline::reports {
namespace {

bool is_parameter(const Json& value) {
  return value.is_object() && value.contains("value") && value.contains("ci");
}

// Calls visit(name, parameter) for each parameter below a value of a model's file. Segments of
// an operation have names of their own; all elements of another list have one.
template <typename Value, typename Visit>
void each_parameter(Value& value, const std::string& name, const Visit& visit) {
  if (is_parameter(value)) {
    visit(name, value);
  } else if (value.is_array()) {
    const bool apart = name.ends_with(".segments");
    size_t place = 0;
    for (auto& item : value) {
      each_parameter(item, apart ? name + std::to_string(place++) : name, visit);
    }
  } else if (value.is_object()) {
    for (auto& [key, inner] : value.items()) each_parameter(inner, name + "." + key, visit);
  }
}

Result<model::TunedModel> parsed(Json document) {
  document.erase("sha256");
  STRIPLINE_ASSIGN_OR_RETURN(const std::string canonical, canonical_json(document));
  document["sha256"] = sha256_hex(canonical);
  return model::parse_model(document.dump(), "a model with a parameter at an end of its interval");
}

// Not the queue's depth, of which a bound says nothing about times.
bool is_doubtful(const Json& parameter) {
  return !parameter.value("at_least", false) && parameter["ci"][0] != parameter["ci"][1];
}

}  // namespace

std::string_view to_string(Disagreement disagreement) {
  constexpr std::array<std::string_view, 3> kNames = {"tie", "doubt", "change"};
  return enum_name(kNames, disagreement);
}

Disagreement disagreement(const PlanGain& by_a, const PlanGain& by_b, double margin,
                          size_t decisions) {
  const bool a_is_sure = by_a.interval.high < -margin;
  const bool b_is_sure = by_b.interval.low > margin;
  const double apart = by_b.value - by_a.value;
  // A threshold of planners may lie between gains that are nearly equal.
  if ((!a_is_sure && !b_is_sure) || std::abs(apart) <= margin) return Disagreement::tie;
  constexpr double kChance = 0.05;
  const double each = kChance / static_cast<double>(std::max<size_t>(decisions, 1));
  const double wider = stats::normal_two_sided(1 - each) / stats::normal_two_sided(1 - kChance);
  // The sides that face each other.
  const double of_a = apart > 0 ? by_a.interval.high - by_a.value : by_a.value - by_a.interval.low;
  const double of_b = apart > 0 ? by_b.value - by_b.interval.low : by_b.interval.high - by_b.value;
  return std::abs(apart) <= wider * std::hypot(of_a, of_b) ? Disagreement::doubt
                                                           : Disagreement::change;
}

Result<DoubtfulModel> DoubtfulModel::of(const model::TunedModel& model, const std::string& path) {
  DoubtfulModel doubtful;
  const auto compile = [&](const model::TunedModel& one) {
    doubtful.compiled_.emplace_back(one, path);
  };
  compile(model);
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, model::to_json(model));
  std::set<std::string> names;
  each_parameter(document, "", [&](const std::string& name, const Json& parameter) {
    if (is_doubtful(parameter)) names.insert(name);
  });
  for (const std::string& name : names) {
    for (const size_t end : {0, 1}) {
      Json moved = document;
      each_parameter(moved, "", [&](const std::string& other, Json& parameter) {
        if (other == name && is_doubtful(parameter)) parameter["value"] = parameter["ci"][end];
      });
      STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel one, parsed(std::move(moved)));
      compile(one);
    }
  }
  return doubtful;
}

Result<std::vector<PlanGain>> DoubtfulModel::gain(const DecidingModel& a, const DecidingModel& b,
                                                  const std::string& command,
                                                  const Question& question) const {
  STRIPLINE_ASSIGN_OR_RETURN(const Json times, judge_plans(a, b, compiled_, command, question));
  std::vector<double> gains;
  for (const Json& both : times) {
    const double of_a = both[0];
    const double of_b = both[1];
    if (!(of_a > 0 && of_b > 0)) return std::vector<PlanGain>();
    gains.push_back(1 - of_b / of_a);
  }
  if (gains.empty()) return std::vector<PlanGain>();
  double below = 0;
  double above = 0;
  for (size_t i = 1; i + 1 < gains.size(); i += 2) {
    const auto [least, most] = std::minmax(gains[i], gains[i + 1]);
    below += std::pow(std::max(0.0, gains[0] - least), 2);
    above += std::pow(std::max(0.0, most - gains[0]), 2);
  }
  return std::vector<PlanGain>{
      {gains[0], {gains[0] - std::sqrt(below), gains[0] + std::sqrt(above)}}};
}

}  // namespace stripline::reports
