// Decisions of a model, asked by name and text as they come in an address or a form: what there is
// to ask, one decision with all its reasons, or a table of many, which pages draw as maps.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/tuned_model.h"
#include "optimizer/plan/compiled_model.h"

namespace stripline::reports {

/// What is asked: option without dashes ("fp-ops") to its text; and "path", the name of a path.
using Question = std::map<std::string, std::string>;

/// The values of an option that has several, with commas between them.
std::vector<std::string> split_values(std::string_view text);

/// The most decisions that a table holds.
inline constexpr size_t kMostDecisions = 4096;

/// What may be asked, for a form: {"commands": [{"command", "help", "example", "baseline",
/// "takes_path", "options": [{"name", "option", "help", "unit", "least", "most", "required",
/// "usual", "choices", "surroundings"}]}], "tables": [...]}. An option without dashes stands at its
/// place on a command line; "unit" is "number", "bytes", "seconds", "flag", "choice", "numbers" or
/// "text"; "surroundings": it says what the transfer happens among. "tables" are those of
/// decision_tables.h.
Json describe_questions();

/// The explanation that `stripline explain COMMAND --json` prints; `model` null: of what is done
/// without one. Errors: not_found for a command that does not exist; invalid_argument for an option
/// or value that does not fit it; those of plan::ask().
Result<Json> explain_decision(const model::TunedModel* model, const std::string& command,
                              const Question& question);

/// A decision for each combination of values, where an option has several with commas between
/// them: {"options": [the names of those], "decisions": [{"values": [text], "plan": {...},
/// "text",
/// "reason", "predicted_s", "baseline_s", "gain_low", "next_s"}]}. Plans whose texts are equal are
/// equal. The last option varies fastest.
/// `next_s`: the fastest alternative that is another plan; null if there is none. Errors: as above,
/// and resource_exhausted for more than kMostDecisions.
Result<Json> tabulate_decisions(const model::TunedModel& model, const std::string& command,
                                const Question& question);

/// What decisions on a path of a model are made by.
struct DecidingModel {
  plan::CompiledModel model;
  plan::CompiledPath path;

  /// `name` is one of the model's paths.
  DecidingModel(const model::TunedModel& of, const std::string& name)
      : model(of), path(of, *of.network.find(name)) {}
};

/// What each of `judges` predicts for the plans that `a` and `b` decide for one question: a list of
/// [seconds of a's plan, seconds of b's] in the order of `judges`; 0 where it does not know. Empty
/// for a command whose plans others' models cannot be asked about. Errors: as explain_decision().
Result<Json> judge_plans(const DecidingModel& a, const DecidingModel& b,
                         std::span<const DecidingModel> judges, const std::string& command,
                         const Question& question);

}  // namespace stripline::reports
