#include "server/core/actions.h"

#include "base/sha256.h"
#include "optimizer/campaign/offline_results.h"
#include "optimizer/campaign/plan_bundle.h"
#include "proto/campaign_messages.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_owner.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/reads.h"
#include "server/core/wire.h"

namespace stripline::server {
namespace {

constexpr double kMaxDrain_s = 30.0 * 86400;

Answer<v1::Node> node_message(const Answer<NodeView>& node) {
  return node ? Answer<v1::Node>(to_wire(*node)) : Answer<v1::Node>(node.problem());
}

Answer<v1::Campaign> campaign_message(const Answer<CampaignView>& campaign) {
  return campaign ? Answer<v1::Campaign>(to_wire(*campaign))
                  : Answer<v1::Campaign>(campaign.problem());
}

// The number of a campaign that the caller may change. Problems: INVALID_FIELD, CAMPAIGN_NOT_FOUND,
// NOT_OWNER.
Answer<int64_t> changeable_campaign(Store& store, const std::string& name, const Caller& caller,
                                    const std::string& verb) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(name));
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(store, number));
  if (auto problem = refusal_of_change(caller, record, verb)) return std::move(*problem);
  return number;
}

// The node's name without "nodes/". Problems: INVALID_FIELD.
Answer<std::string> node_segment(const std::string& name) {
  if (auto segment = parse_node_name(name)) return std::move(*segment);
  return invalid_field("name", "'" + name + "' is not of the form nodes/NAME");
}

}  // namespace

Answer<v1::Campaign> cancel_campaign(Coordinator& coordinator, Store& store,
                                     const v1::CancelCampaignRequest& request,
                                     const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "cancel"));
  return campaign_message(
      coordinator.campaigns().cancel_campaign(number, request.drain(), caller.name));
}

Answer<v1::Campaign> pause_campaign(Coordinator& coordinator, Store& store,
                                    const v1::PauseCampaignRequest& request, const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "pause"));
  return campaign_message(coordinator.campaigns().pause_campaign(number, caller.name));
}

Answer<v1::Campaign> resume_campaign(Coordinator& coordinator, Store& store,
                                     const v1::ResumeCampaignRequest& request,
                                     const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "resume"));
  return campaign_message(coordinator.campaigns().resume_campaign(number, caller.name));
}

Answer<v1::Campaign> label_campaign(Coordinator& coordinator, Store& store,
                                    const v1::LabelCampaignRequest& request, const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "label"));
  return campaign_message(coordinator.campaigns().label_campaign(
      number, {request.labels().begin(), request.labels().end()}, caller.name));
}

Answer<v1::Campaign> create_campaign(Coordinator& coordinator,
                                     const v1::CreateCampaignRequest& request,
                                     const std::string& actor) {
  return campaign_message(coordinator.planning().create_campaign(
      from_message(request.spec()), request.request_id(), request.validate_only(), actor));
}

Answer<v1::Campaign> retry_campaign(Coordinator& coordinator, Store& store,
                                    const v1::RetryCampaignRequest& request, const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "retry"));
  return campaign_message(
      coordinator.campaigns().retry_campaign({number, budgets_of(request)}, caller.name));
}

Answer<v1::DeleteCampaignResponse> delete_campaign(Coordinator& coordinator, Store& store,
                                                   const v1::DeleteCampaignRequest& request,
                                                   const Caller& caller) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number,
                             changeable_campaign(store, request.name(), caller, "delete"));
  STRIPLINE_RETURN_IF_ERROR(coordinator.campaigns().delete_campaign(number, caller.name));
  return v1::DeleteCampaignResponse();
}

Answer<std::string> export_plan(Coordinator& coordinator, const v1::ExportPlanRequest& request) {
  auto plan = [&]() -> Answer<campaign::PlanBundle> {
    if (request.name().empty()) {
      return coordinator.planning().plan_offline(from_message(request.spec()),
                                                 request.node_description());
    }
    STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(request.name()));
    return coordinator.planning().plan_of_campaign(number);
  }();
  if (!plan) return plan.problem();
  STRIPLINE_ASSIGN_OR_RETURN(auto text, campaign::bundle_text(*plan));
  return text;
}

Answer<v1::Campaign> import_results(Coordinator& coordinator, const std::string& text,
                                    const std::string& actor) {
  const auto results = campaign::read_results(text);
  if (!results.ok()) return invalid_field("results", results.error().message());
  return campaign_message(coordinator.planning().import_results(*results, sha256_hex(text), actor));
}

Answer<v1::Node> cordon_node(Coordinator& coordinator, const v1::CordonNodeRequest& request,
                             const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto name, node_segment(request.name()));
  return node_message(
      coordinator.fleet().hold_node({name, request.reason(), actor, unix_seconds(), 0}));
}

Answer<v1::Node> drain_node(Coordinator& coordinator, const v1::DrainNodeRequest& request,
                            const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto name, node_segment(request.name()));
  const double limit_s = request.time_limit_s();
  if (!(limit_s >= 0 && limit_s <= kMaxDrain_s)) {
    return invalid_field("time_limit_s", "0 seconds to 30 days are possible");
  }
  const double now_s = unix_seconds();
  const double deadline_s = request.has_time_limit_s() ? now_s + limit_s : 0;
  return node_message(
      coordinator.fleet().hold_node({name, request.reason(), actor, now_s, deadline_s}));
}

Answer<v1::Node> uncordon_node(Coordinator& coordinator, const v1::UncordonNodeRequest& request,
                               const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto name, node_segment(request.name()));
  return node_message(coordinator.fleet().release_node(name, actor));
}

Answer<v1::RemoveNodeResponse> remove_node(Coordinator& coordinator,
                                           const v1::RemoveNodeRequest& request,
                                           const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto name, node_segment(request.name()));
  STRIPLINE_RETURN_IF_ERROR(coordinator.fleet().remove_node(name, actor));
  return v1::RemoveNodeResponse();
}

}  // namespace stripline::server
