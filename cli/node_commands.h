// The commands of nodes.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const NodeList& command);
int run(const Global& global, const NodeCordon& command);
int run(const Global& global, const NodeUncordon& command);
int run(const Global& global, const NodeDrain& command);
int run(const Global& global, const NodeRemove& command);
int run(const Global& global, const NodeRevoke& command);

}  // namespace stripline::cli
