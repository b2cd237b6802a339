#include "optimizer/report/questions.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "base/quantity.h"
#include "optimizer/plan/ask.h"
#include "optimizer/plan/mechanisms.h"
#include "optimizer/report/decision_tables.h"

namespace stripline::reports {
namespace {

constexpr const char* kPath = "path";

std::string name_of(const plan::FieldText& text) {
  const std::string_view option = text.option;
  return std::string(option.substr(std::min(option.find_first_not_of('-'), option.size())));
}

Error wrong(const plan::FieldText& text, const std::string& value, const std::string& expected) {
  return plan::refused(name_of(text) + ": '" + value + "' is not " + expected);
}

Result<uint64_t> whole(const plan::FieldText& text, const std::string& value) {
  const auto number = number_from_text<uint64_t>(value);
  if (number && *number >= text.least && *number <= text.most) return *number;
  return wrong(
      text, value,
      "a whole number from " + std::to_string(text.least) + " to " + std::to_string(text.most));
}

Result<plan::FieldValue> value_from(const plan::FieldText& text, const std::string& value) {
  switch (text.unit) {
    case plan::Unit::flag:
      if (value == "true" || value == "false") return plan::FieldValue(value == "true");
      return wrong(text, value, "true or false");
    case plan::Unit::number: {
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t number, whole(text, value));
      return plan::FieldValue(number);
    }
    case plan::Unit::bytes: {
      STRIPLINE_ASSIGN_OR_RETURN(const uint64_t bytes, parse_bytes(value, name_of(text)));
      if (bytes < text.least) {
        return wrong(text, value, std::to_string(text.least) + " bytes or more");
      }
      return plan::FieldValue(bytes);
    }
    case plan::Unit::seconds: {
      const auto seconds = parse_seconds(value);
      if (!seconds.ok()) return seconds.error().with_context(name_of(text));
      return plan::FieldValue(*seconds);
    }
    case plan::Unit::choice: {
      const auto choice = std::ranges::find(text.choices, std::string_view(value));
      if (choice != text.choices.end()) return plan::FieldValue(*choice);
      std::string known;
      for (const std::string_view name : text.choices) {
        known += (known.empty() ? "" : ", ") + std::string(name);
      }
      return wrong(text, value, "one of " + known);
    }
    case plan::Unit::numbers: {
      std::vector<uint64_t> numbers;
      for (const std::string& part : split_values(value)) {
        STRIPLINE_ASSIGN_OR_RETURN(const uint64_t number, whole(text, part));
        numbers.push_back(number);
      }
      return plan::FieldValue(std::move(numbers));
    }
    case plan::Unit::text:
      return plan::FieldValue(std::string_view(value));
  }
  return wrong(text, value, "known here");
}

// One member of what is asked, by its option.
template <typename M>
struct Setter {
  plan::FieldText text;
  plan::FieldValue usual;
  bool surroundings = false;
  std::function<void(typename M::Asked&, const plan::FieldValue&)> set;
};

template <typename M>
std::vector<Setter<M>> setters() {
  const typename M::Asked usual = M::usual();
  std::vector<Setter<M>> all;
  for (const auto& field : M::fields()) {
    all.push_back({field.text, field.get(usual), false, field.set});
  }
  for (const auto& [fact, field] : plan::surroundings_fields()) {
    if (!has(M::Asked::kFacts, fact)) continue;
    all.push_back({field.text, field.get(usual.surroundings), true,
                   [set = field.set](auto& asked, const plan::FieldValue& value) {
                     set(asked.surroundings, value);
                   }});
  }
  return all;
}

// The request of a question. Texts of it must outlive what is asked.
template <plan::Mechanism M>
Result<typename M::Asked> asked_by(const Question& question) {
  typename M::Asked asked = M::usual();
  size_t known = question.contains(kPath) ? 1 : 0;
  for (const auto& setter : setters<M>()) {
    const auto said = question.find(name_of(setter.text));
    if (said == question.end()) {
      if (!setter.text.required) continue;
      return plan::refused(name_of(setter.text) + " is needed: " + setter.text.help);
    }
    ++known;
    STRIPLINE_ASSIGN_OR_RETURN(const plan::FieldValue value, value_from(setter.text, said->second));
    setter.set(asked, value);
  }
  if (known == question.size()) return asked;
  std::string names = kPath;
  for (const auto& setter : setters<M>()) names += ", " + name_of(setter.text);
  return plan::refused("a decision about a " + std::string(M::kWords.command) +
                       " takes no other options than " + names);
}

template <plan::Mechanism M>
Result<plan::Explanation> answer(const model::TunedModel* model, const Question& question) {
  STRIPLINE_ASSIGN_OR_RETURN(const typename M::Asked asked, asked_by<M>(question));
  if (model == nullptr) return plan::ask_without_model<M>(asked);
  const auto path = question.find(kPath);
  std::string about;
  return plan::ask<M>(*model, path == question.end() ? "" : path->second, asked, about);
}

template <plan::Mechanism M>
Result<Json> explain(const model::TunedModel* model, const Question& question) {
  STRIPLINE_ASSIGN_OR_RETURN(const plan::Explanation explanation, answer<M>(model, question));
  return plan::to_json(explanation, M::kWords);
}

Json row_of(const plan::Explanation& explanation, Json values) {
  Json next;
  for (const auto& alternative : explanation.alternatives) {
    // What is taken is one of the alternatives, and takes what the verdict says.
    if (alternative.predicted_s == explanation.verdict.predicted_s) continue;
    if (next.is_null() || alternative.predicted_s < next.get<double>()) {
      next = alternative.predicted_s;
    }
  }
  return {{"values", std::move(values)},
          {"plan", explanation.plan.json()},
          {"text", explanation.plan.text()},
          {"reason", std::string(to_string(explanation.verdict.reason))},
          {"predicted_s", explanation.verdict.predicted_s},
          {"baseline_s", explanation.verdict.baseline_s},
          {"gain_low", explanation.verdict.gain_low},
          {"next_s", next}};
}

template <plan::Mechanism M>
Result<Json> tabulate(const model::TunedModel& model, const Question& question) {
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  size_t count = 1;
  for (const auto& setter : setters<M>()) {
    const std::string name = name_of(setter.text);
    const auto said = question.find(name);
    const bool is_one =
        setter.text.unit == plan::Unit::numbers || setter.text.unit == plan::Unit::text;
    if (said == question.end() || is_one || said->second.find(',') == std::string::npos) continue;
    axes.emplace_back(name, split_values(said->second));
    count *= axes.back().second.size();
    if (count > kMostDecisions) {
      return Error(ErrorCode::resource_exhausted,
                   "more than " + std::to_string(kMostDecisions) +
                       " decisions are asked for at once; ask for parts of the table");
    }
  }
  Json names = Json::array();
  for (const auto& axis : axes) names.push_back(axis.first);
  Json rows = Json::array();
  for (size_t i = 0; i < count; ++i) {
    Question one = question;
    Json values = Json::array();
    size_t rest = i;
    size_t below = count;
    for (const auto& [name, choices] : axes) {
      below /= choices.size();
      one[name] = choices[rest / below];
      rest %= below;
      values.push_back(one[name]);
    }
    STRIPLINE_ASSIGN_OR_RETURN(const plan::Explanation explanation, answer<M>(&model, one));
    rows.push_back(row_of(explanation, std::move(values)));
  }
  return Json{{"options", std::move(names)}, {"decisions", std::move(rows)}};
}

// What a model predicts for a plan that another model has decided.
double seconds_of(const plan::StripRequest& request, const plan::StripCosts& costs,
                  const plan::StripPlan& plan) {
  return force_strip(request, &costs, {plan.schedule, plan.strip_bytes, plan.burst}).predicted_s;
}
double seconds_of(const plan::VisRequest& request, const plan::VisCosts& costs,
                  const plan::VisPlan& plan) {
  return force_vis(request, &costs, plan.method, plan.chunk_bytes, plan.window).predicted_s;
}
double seconds_of(const plan::GatherRequest& request, const plan::CompiledPath& path,
                  const plan::GatherDecision& plan) {
  return force_gather(request, &path, plan.method).predicted_s;
}
double seconds_of(const plan::IndirectRequest& request, const plan::CompiledPath& path,
                  const plan::IndirectPlan& plan) {
  return force_indirect(request, &path, {plan.block, plan.tunes_lists}, plan::Reason::forced)
      .predicted_s;
}
double seconds_of(const plan::UpdateRequest& request, const plan::UpdateCosts& costs,
                  const plan::UpdatePlan& plan) {
  return force_update(request, &costs, plan.candidate).predicted_s;
}

// By the costs of the team that is asked about.
double seconds_of(const plan::SharedRequest& request, const model::SharedUpdateModel& known,
                  const plan::SharedPlan& plan) {
  const double seconds = plan::SharedMechanism::seconds(request, known, plan.strategy, {});
  return std::isfinite(seconds) ? seconds : 0;
}

template <plan::Mechanism M>
const typename M::Costs* costs_of(const DecidingModel& model) {
  if constexpr (std::is_same_v<typename M::Model, plan::CompiledPath>) {
    return M::costs_of(model.path);
  } else {
    return M::costs_of(model.model);
  }
}

template <plan::Mechanism M>
Result<Json> judge(const DecidingModel& a, const DecidingModel& b,
                   std::span<const DecidingModel> judges, const Question& question) {
  Json times = Json::array();
  if constexpr (requires(const typename M::Request& request, const typename M::Costs& costs,
                         const typename M::Plan& plan) { seconds_of(request, costs, plan); }) {
    STRIPLINE_ASSIGN_OR_RETURN(const typename M::Asked asked, asked_by<M>(question));
    STRIPLINE_ASSIGN_OR_RETURN(const typename M::Request request, M::request_of(asked));
    typename M::Record ignored;
    const typename M::Plan of_a = M::plan(request, costs_of<M>(a), ignored);
    const typename M::Plan of_b = M::plan(request, costs_of<M>(b), ignored);
    for (const DecidingModel& judge : judges) {
      const typename M::Costs* const costs = costs_of<M>(judge);
      const auto seconds = [&](const typename M::Plan& plan) {
        return costs != nullptr ? seconds_of(request, *costs, plan) : 0;
      };
      times.push_back({seconds(of_a), seconds(of_b)});
    }
  }
  return times;
}

const char* name_of(plan::Unit unit) {
  switch (unit) {
    case plan::Unit::number:
      return "number";
    case plan::Unit::bytes:
      return "bytes";
    case plan::Unit::seconds:
      return "seconds";
    case plan::Unit::flag:
      return "flag";
    case plan::Unit::choice:
      return "choice";
    case plan::Unit::numbers:
      return "numbers";
    case plan::Unit::text:
      return "text";
  }
  return "text";
}

template <typename M>
Json described(const Setter<M>& setter) {
  const plan::FieldText& text = setter.text;
  return {{"name", name_of(text)},
          {"option", text.option},
          {"help", text.help},
          {"unit", name_of(text.unit)},
          {"least", text.least},
          {"most", text.most > plan::kMostNumber ? Json() : Json(text.most)},
          {"required", text.required},
          {"usual", plan::json_of(setter.usual)},
          {"choices", text.choices},
          {"surroundings", setter.surroundings}};
}

template <plan::Mechanism M>
Json described() {
  const plan::Words& words = M::kWords;
  Json options = Json::array();
  for (const auto& setter : setters<M>()) options.push_back(described<M>(setter));
  return {{"command", words.command},
          {"help", words.help},
          {"example", words.example},
          {"baseline", words.baseline == nullptr ? Json() : Json(words.baseline)},
          {"takes_path", std::is_same_v<typename M::Model, plan::CompiledPath>},
          {"options", std::move(options)}};
}

// What `act<M>` says, for the mechanism of this command.
template <typename... M>
struct List {
  static Json commands() { return Json::array({described<typename M::type>()...}); }

  template <typename Act>
  static Result<Json> with(const std::string& command, const Act& act) {
    std::optional<Result<Json>> found;
    std::string known;
    const auto look = [&]<typename One>(One) {
      using Mechanism = typename One::type;
      known += (known.empty() ? "" : ", ") + std::string(Mechanism::kWords.command);
      if (command == Mechanism::kWords.command) found = act(One{});
    };
    (look(M{}), ...);
    if (found) return *found;
    return Error(ErrorCode::not_found,
                 "no decision is named '" + command + "'; these are: " + known);
  }
};
template <plan::Mechanism M>
struct Named {
  using type = M;
};
using All = plan::OfEachMechanism<List, Named>;

}  // namespace

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    values.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

Json describe_questions() {
  Json tables = Json::array();
  for (const DecisionTable& table : decision_tables()) tables.push_back(to_json(table));
  return {{"commands", All::commands()}, {"tables", std::move(tables)}};
}

Result<Json> explain_decision(const model::TunedModel* model, const std::string& command,
                              const Question& question) {
  return All::with(command,
                   [&]<typename One>(One) { return explain<typename One::type>(model, question); });
}

Result<Json> tabulate_decisions(const model::TunedModel& model, const std::string& command,
                                const Question& question) {
  return All::with(
      command, [&]<typename One>(One) { return tabulate<typename One::type>(model, question); });
}

Result<Json> judge_plans(const DecidingModel& a, const DecidingModel& b,
                         std::span<const DecidingModel> judges, const std::string& command,
                         const Question& question) {
  return All::with(command, [&]<typename One>(One) {
    return judge<typename One::type>(a, b, judges, question);
  });
}

}  // namespace stripline::reports
