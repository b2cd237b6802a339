// `stripline model ...`: each call carries out one command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const ModelList& command);
int run(const Global& global, const ModelShow& command);
int run(const Global& global, const ModelFetch& command);

}  // namespace stripline::cli
