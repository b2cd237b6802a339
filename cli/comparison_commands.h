// `stripline campaign compare`.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

int run(const Global& global, const CampaignCompare& command);

}  // namespace stripline::cli
