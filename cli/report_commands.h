// `stripline report`, `model diff` and `model plot`: each call carries out one command and returns
// the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const ModelDiff& command);
int run(const Global& global, const ModelPlot& command);
int run(const Global& global, const Report& command);

}  // namespace stripline::cli
