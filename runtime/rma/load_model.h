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

/// Compares the model's fingerprint with the facts of this machine. Returns what differs without
/// mattering enough to refuse, one line per fact, for a warning; empty when everything matches.
/// Errors: failed_precondition when a fact that must match does not; the message lists them.
Result<std::string> check_fit(const model::TunedModel& model, const std::string& path,
                              const std::map<std::string, std::string>& machine);

}  // namespace stripline::rma
