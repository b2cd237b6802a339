// `stripline explain ...`: each call carries out one command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const ExplainLoop& command);
int run(const Global& global, const ExplainNest& command);
int run(const Global& global, const ExplainCall& command);
int run(const Global& global, const ExplainSweep& command);

}  // namespace stripline::cli
