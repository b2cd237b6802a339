// `stripline campaign replay`: carries it out and returns the exit code.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const CampaignReplay& command);

}  // namespace stripline::cli
