// `stripline campaign ...`: each call carries out one command and returns the exit code.
#pragma once

#include <string>

#include "cli/command.h"

namespace stripline::v1 {
class CreateCampaignRequest;
}

namespace stripline::cli {

/// The request that starts it on one of its fabrics, with a request id of its own.
v1::CreateCampaignRequest create_request(const CampaignRun& command, const std::string& fabric);

/// By which a call that is repeated is known.
std::string random_request_id();

Result<int> run(const Global& global, const CampaignRun& command);
Result<int> run(const Global& global, const CampaignWatch& command);
Result<int> run(const Global& global, const CampaignList& command);
Result<int> run(const Global& global, const CampaignShow& command);
Result<int> run(const Global& global, const CampaignEstimate& command);
Result<int> run(const Global& global, const CampaignCancel& command);
Result<int> run(const Global& global, const CampaignPause& command);
Result<int> run(const Global& global, const CampaignResume& command);
Result<int> run(const Global& global, const CampaignRetry& command);
Result<int> run(const Global& global, const CampaignDelete& command);
Result<int> run(const Global& global, const CampaignPoints& command);
Result<int> run(const Global& global, const CampaignExport& command);

}  // namespace stripline::cli
