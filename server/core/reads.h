// What both doors, gRPC and HTTP, answer to those who read: requests of stripline.v1 to messages.
// Include from .cc files of the services.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimizer/campaign/compare_campaigns.h"
#include "server/core/campaigns/campaign_comparison.h"
#include "server/core/campaigns/run_results.h"
#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/security/access.h"
#include "server/store/store.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {

// Problems are those that the .proto files name, and the store's.

Answer<v1::ListNodesResponse> list_nodes(Coordinator& coordinator, const Access& access,
                                         const v1::ListNodesRequest& request);
Answer<v1::Node> get_node(Coordinator& coordinator, const Access& access,
                          const v1::GetNodeRequest& request);

/// The number in a campaign's name. Problems: INVALID_FIELD.
Answer<int64_t> campaign_number(const std::string& name);
Answer<v1::ListCampaignsResponse> list_campaigns(Coordinator& coordinator,
                                                 const v1::ListCampaignsRequest& request);
Answer<v1::ListPointsResponse> list_points(Coordinator& coordinator, Store& store,
                                           const v1::ListPointsRequest& request);

/// Two campaigns beside each other, as values.
struct ComparedCampaigns {
  campaign::Comparison comparison;
  std::vector<SpecDifference> differences;
};
Answer<ComparedCampaigns> compared_campaigns(Store& store, RunResults& results,
                                             const v1::CompareCampaignsRequest& request);
/// The same as a message.
Answer<v1::CompareCampaignsResponse> compare_campaigns(Store& store, RunResults& results,
                                                       const v1::CompareCampaignsRequest& request);
/// What such a campaign would take and reach; nothing is created.
Answer<v1::CampaignEstimate> estimate_campaign(Coordinator& coordinator,
                                               const v1::EstimateCampaignRequest& request);
Answer<v1::Campaign> get_campaign(Coordinator& coordinator, Store& store,
                                  const v1::GetCampaignRequest& request);
/// A stored event as it is reported. Errors: data_loss.
Result<v1::CampaignEvent> event_message(const EventRecord& event);

/// It says that the campaign, whose record is now this one, has ended for good: whatever follows
/// (late samples) is no news.
bool is_last(const v1::CampaignEvent& event, const CampaignRecord& now);

Answer<v1::ListModelsResponse> list_models(Coordinator& coordinator, Store& store,
                                           const v1::ListModelsRequest& request);
Answer<v1::Model> get_model(Coordinator& coordinator, Store& store,
                            const v1::GetModelRequest& request);
/// The model of this name, "models/{model}". Problems: INVALID_FIELD, MODEL_NOT_FOUND, the store's.
Answer<ModelRecord> find_model(Store& store, const std::string& name);
Answer<v1::ListModelVersionsResponse> list_model_versions(
    Store& store, const v1::ListModelVersionsRequest& request);
/// The version of this name, the one that the label of this name names, or the latest of the model
/// of this name.
Answer<ModelVersionRecord> find_version(Store& store, const std::string& name);
/// The same as a message.
Answer<v1::ModelVersion> get_model_version(Store& store, const v1::GetModelVersionRequest& request);

/// A message in its JSON form: members named as in the .proto files, as `stripline --json` names
/// them, those with their default value too. Errors: internal.
Result<std::string> json_text(const google::protobuf::Message& message);

}  // namespace stripline::server
