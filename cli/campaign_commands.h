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

int run(const Global& global, const CampaignRun& command);
int run(const Global& global, const CampaignWatch& command);
int run(const Global& global, const CampaignList& command);
int run(const Global& global, const CampaignShow& command);
int run(const Global& global, const CampaignEstimate& command);
int run(const Global& global, const CampaignCancel& command);
int run(const Global& global, const CampaignPause& command);
int run(const Global& global, const CampaignResume& command);
int run(const Global& global, const CampaignRetry& command);
int run(const Global& global, const CampaignDelete& command);
int run(const Global& global, const CampaignPoints& command);
int run(const Global& global, const CampaignExport& command);

}  // namespace stripline::cli
