// The tuned model of a production run: read, and refused unless it was made for this machine.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "optimizer/model/tuned_model.h"

namespace stripline::rma {

using SharedModel = std::shared_ptr<const model::TunedModel>;

/// Reads options.model_path. Null for an empty path. Errors: failed_precondition when there is no
/// such file, data_loss when it is malformed, truncated or altered, or of a newer format; each says
/// how to get another.
Result<SharedModel> load_model(const std::string& path);

/// Why the model was not made for this machine: the facts that must match and do not, one line
/// each; empty: it was.
std::string misfit_text(const model::TunedModel& model,
                        const std::map<std::string, std::string>& machine);

/// Compares the model's fingerprint with the facts of this machine. Returns what differs without
/// mattering enough to refuse, one line per fact, for a warning; empty when everything matches.
/// Errors: failed_precondition when a fact that must match does not; the message lists them.
Result<std::string> check_fit(const model::TunedModel& model, const std::string& path,
                              const std::map<std::string, std::string>& machine);

/// Says on standard error that a model that may not fit (Options::model_may_not_fit) is left aside.
void say_left_aside(const std::string& path, const std::string& why);

}  // namespace stripline::rma
