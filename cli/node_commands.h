// `stripline nodes`.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

/// Returns the exit code.
int run(const Global& global, const NodeList& command);

}  // namespace stripline::cli
