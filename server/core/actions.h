// What both doors, gRPC and HTTP, do for those who change something that is there already: requests
// of stripline.v1 to messages. The caller has been let in, and is `actor` to the audit trail; which
// campaigns he may change campaign_owner.h says.
// Include from .cc files of the services.
#pragma once

#include <string>

#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/security/access.h"
#include "server/store/store.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"

namespace stripline::server {

// Problems are those that the .proto files name, and the store's.

Answer<v1::Campaign> cancel_campaign(Coordinator& coordinator, Store& store,
                                     const v1::CancelCampaignRequest& request,
                                     const Caller& caller);
Answer<v1::Campaign> pause_campaign(Coordinator& coordinator, Store& store,
                                    const v1::PauseCampaignRequest& request, const Caller& caller);
Answer<v1::Campaign> resume_campaign(Coordinator& coordinator, Store& store,
                                     const v1::ResumeCampaignRequest& request,
                                     const Caller& caller);
Answer<v1::Campaign> retry_campaign(Coordinator& coordinator, Store& store,
                                    const v1::RetryCampaignRequest& request, const Caller& caller);
Answer<v1::DeleteCampaignResponse> delete_campaign(Coordinator& coordinator, Store& store,
                                                   const v1::DeleteCampaignRequest& request,
                                                   const Caller& caller);
Answer<v1::Campaign> label_campaign(Coordinator& coordinator, Store& store,
                                    const v1::LabelCampaignRequest& request, const Caller& caller);
Answer<v1::Campaign> create_campaign(Coordinator& coordinator,
                                     const v1::CreateCampaignRequest& request,
                                     const std::string& actor);
/// The file of a plan.
Answer<std::string> export_plan(Coordinator& coordinator, const v1::ExportPlanRequest& request);
/// `text` is the file of results.
Answer<v1::Campaign> import_results(Coordinator& coordinator, const std::string& text,
                                    const std::string& actor);
Answer<v1::Node> cordon_node(Coordinator& coordinator, const v1::CordonNodeRequest& request,
                             const std::string& actor);
Answer<v1::Node> drain_node(Coordinator& coordinator, const v1::DrainNodeRequest& request,
                            const std::string& actor);
Answer<v1::Node> uncordon_node(Coordinator& coordinator, const v1::UncordonNodeRequest& request,
                               const std::string& actor);
Answer<v1::RemoveNodeResponse> remove_node(Coordinator& coordinator,
                                           const v1::RemoveNodeRequest& request,
                                           const std::string& actor);

}  // namespace stripline::server
