// `stripline model fit`, `stripline operation ...`: each call carries out one command and returns
// the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const ModelFit& command);
Result<int> run(const Global& global, const OperationList& command);
Result<int> run(const Global& global, const OperationShow& command);
Result<int> run(const Global& global, const OperationCancel& command);

}  // namespace stripline::cli
