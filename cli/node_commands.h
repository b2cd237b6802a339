// The commands of nodes.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const NodeList& command);
Result<int> run(const Global& global, const NodeCordon& command);
Result<int> run(const Global& global, const NodeUncordon& command);
Result<int> run(const Global& global, const NodeDrain& command);
Result<int> run(const Global& global, const NodeRemove& command);
Result<int> run(const Global& global, const NodeRevoke& command);

}  // namespace stripline::cli
