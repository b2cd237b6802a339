// `stripline model ...`: each call carries out one command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const ModelList& command);
Result<int> run(const Global& global, const ModelShow& command);
Result<int> run(const Global& global, const ModelFetch& command);

}  // namespace stripline::cli
