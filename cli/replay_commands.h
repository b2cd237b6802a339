// `stripline campaign replay`: carries it out and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const CampaignReplay& command);

}  // namespace stripline::cli
