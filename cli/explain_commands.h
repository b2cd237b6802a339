// `stripline explain ...`: carries out a command and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const ExplainAny& command);
int run(const Global& global, const ExplainList& command);

}  // namespace stripline::cli
