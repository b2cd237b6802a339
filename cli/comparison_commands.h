// `stripline campaign compare`.
#pragma once

#include "cli/command.h"

namespace stripline::cli {

Result<int> run(const Global& global, const CampaignCompare& command);

}  // namespace stripline::cli
