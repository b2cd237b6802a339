// The commands that say which versions of a model are to be used.
#pragma once

#include <string>

#include "cli/command.h"

namespace stripline::v1 {
class ModelVersion;
}

namespace stripline::cli {

// Each prints its result and returns the exit code.
Result<int> run(const Global& global, const ModelValidate& command);
Result<int> run(const Global& global, const ModelCheck& command);
Result<int> run(const Global& global, const ModelPromote& command);
Result<int> run(const Global& global, const ModelRollback& command);
Result<int> run(const Global& global, const ModelImport& command);
Result<int> run(const Global& global, const ModelWithdraw& command);
Result<int> run(const Global& global, const RolloutStatus& command);

/// A line for each of its findings: "finding DRIFT: times changed by ...".
std::string findings_text(const v1::ModelVersion& version);

/// A text of the server that goes on with the version's findings, without them.
std::string without_findings(std::string text, const v1::ModelVersion& version);

/// "VALIDATED", or "PUBLISHED (canary, stable)".
std::string version_state_text(const v1::ModelVersion& version);

}  // namespace stripline::cli
