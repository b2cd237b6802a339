// `stripline explain ...`: carries out a command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const ExplainAny& command);
Result<int> run(const Global& global, const ExplainList& command);

}  // namespace stripline::cli
