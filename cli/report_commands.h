// `stripline report`, `model diff` and `model plot`: each call carries out one command and returns
// the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const ModelDiff& command);
Result<int> run(const Global& global, const ModelPlot& command);
Result<int> run(const Global& global, const Report& command);

}  // namespace stripline::cli
