#include "server/core/campaigns/campaign_view.h"

#include <algorithm>

#include "optimizer/campaign/next_run.h"

namespace stripline::server {
namespace {

// What is left: the runs that are missing, at the pace of those that finished (or as planned before
// the first has), less what the active one has done; never more than the time budget leaves.
double estimate_left(const CampaignRecord& campaign, const std::vector<RunRecord>& runs,
                     std::optional<double> active_s) {
  if (is_final(campaign.state)) return 0;
  double sum = 0;
  size_t finished = 0;
  size_t open = 0;
  for (const RunRecord& run : runs) {
    if (run.state == RunState::finished) {
      sum += run.duration_s;
      ++finished;
    } else if (run.state == RunState::pending || run.state == RunState::active) {
      ++open;
    }
  }
  const double each = finished == 0 ? campaign.planned_run_s : sum / static_cast<double>(finished);
  const double gone = active_s.value_or(0);
  const double missing = each * static_cast<double>(open) - std::min(gone, each);
  const double budget = budget_s(campaign.spec) - campaign.measured_s - gone;
  return std::max(0.0, std::min(missing, budget));
}

}  // namespace

CampaignView view_of(const CampaignRecord& campaign, const std::vector<RunRecord>& runs,
                     std::optional<double> active_s) {
  CampaignView view;
  view.name = campaign.number == 0 ? "" : campaign_name(campaign.number);
  view.spec = campaign.spec;
  view.state = campaign.state;
  view.message = campaign.message;
  view.created_unix_s = campaign.created_unix_s;
  view.updated_unix_s = campaign.updated_unix_s;
  view.model_version = campaign.model_version;
  view.samples = campaign.samples;
  const bool converged = campaign.stop_reason == to_string(campaign::StopReason::converged);
  for (const RunRecord& run : runs) {
    // It was planned, and is not needed.
    if (converged && run.state == RunState::cancelled) continue;
    view.points_done += run.points_done;
    view.points_total += run.points_total;
    if (run.state == RunState::finished) ++view.runs_done;
    ++view.runs_total;
  }
  view.seconds_left = estimate_left(campaign, runs, active_s);
  view.stop_reason = campaign.stop_reason;
  view.width = campaign.width;
  view.retries = campaign.retries;
  view.owner = campaign.owner;
  view.labels = campaign.labels;
  view.node_s = (campaign.measured_s + active_s.value_or(0)) * campaign.spec.nodes;
  return view;
}

Json to_json(const CampaignView& view) {
  return {{"name", view.name},
          {"spec", to_json(view.spec)},
          {"state", to_string(view.state)},
          {"message", view.message},
          {"created_unix_s", view.created_unix_s},
          {"updated_unix_s", view.updated_unix_s},
          {"points_done", view.points_done},
          {"points_total", view.points_total},
          {"runs_done", view.runs_done},
          {"runs_total", view.runs_total},
          {"seconds_left", view.seconds_left},
          {"advised_budget_s", view.advised_budget_s},
          {"model_version", view.model_version},
          {"samples", view.samples},
          {"stop_reason", view.stop_reason},
          {"width", view.width},
          {"node_s", view.node_s},
          {"retries", view.retries},
          {"owner", view.owner},
          {"labels", view.labels}};
}

Result<CampaignView> campaign_view_from_json(const Json& json) {
  try {
    CampaignView view;
    json.at("name").get_to(view.name);
    STRIPLINE_ASSIGN_OR_RETURN(view.spec, campaign::spec_from_json(json.at("spec")));
    const auto state = campaign_state_from_string(json.at("state").get<std::string>());
    if (!state) return Error(ErrorCode::data_loss, "stored event: unknown campaign state");
    view.state = *state;
    json.at("message").get_to(view.message);
    json.at("created_unix_s").get_to(view.created_unix_s);
    json.at("updated_unix_s").get_to(view.updated_unix_s);
    json.at("points_done").get_to(view.points_done);
    json.at("points_total").get_to(view.points_total);
    json.at("runs_done").get_to(view.runs_done);
    json.at("runs_total").get_to(view.runs_total);
    json.at("seconds_left").get_to(view.seconds_left);
    // Older events lack these.
    view.advised_budget_s = json.value("advised_budget_s", 0.0);
    json.at("model_version").get_to(view.model_version);
    json.at("samples").get_to(view.samples);
    view.stop_reason = json.value("stop_reason", "");
    view.width = json.value("width", 0.0);
    view.node_s = json.value("node_s", 0.0);
    view.retries = json.value("retries", 0U);
    view.owner = json.value("owner", "");
    view.labels = json.value("labels", std::vector<std::string>());
    return view;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored event: ") + error.what());
  }
}

}  // namespace stripline::server
