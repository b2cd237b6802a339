// `stripline model fit`, `stripline operation ...`: each call carries out one command and returns
// the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const ModelFit& command);
int run(const Global& global, const OperationList& command);
int run(const Global& global, const OperationShow& command);
int run(const Global& global, const OperationCancel& command);

}  // namespace stripline::cli
