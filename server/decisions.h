// Decisions of a model, asked by name and text as they come in an address: one with all its
// reasons, or a table of many, which pages draw as maps. Pure.
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::server {

/// What is asked: option without dashes ("fp-ops") to its text; and "path", the name of a path.
using Question = std::map<std::string, std::string>;

/// The most decisions that a table holds.
inline constexpr size_t kMostDecisions = 4096;

/// The explanation that `stripline explain COMMAND --json` prints. Errors: not_found for a command
/// that does not exist; invalid_argument for an option or value that does not fit it; those of
/// plan::ask().
Result<Json> explain_decision(const model::TunedModel& model, const std::string& command,
                              const Question& question);

/// A decision for each combination of values, where an option has several with commas between
/// them: {"options": [the names of those], "decisions": [{"values": [text], "plan": {...},
/// "reason", "predicted_s", "baseline_s", "gain_low", "next_s"}]}. The last option varies fastest.
/// `next_s`: the fastest alternative that is another plan; null if there is none. Errors: as above,
/// and resource_exhausted for more than kMostDecisions.
Result<Json> tabulate_decisions(const model::TunedModel& model, const std::string& command,
                                const Question& question);

}  // namespace stripline::server
