#include "server/core/models/fit_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include "optimizer/campaign/next_run.h"

namespace stripline::server {
namespace {

Problem differs(const FittedCampaign& one, const FittedCampaign& other, const std::string& what) {
  return invalid_field("campaigns", campaign_name(one.campaign.number) + " and " +
                                        campaign_name(other.campaign.number) + " differ in " +
                                        what + "; fit those that measured the same");
}

std::optional<Problem> difference(const FittedCampaign& one, const FittedCampaign& other) {
  const CampaignSpec& a = one.campaign.spec;
  const CampaignSpec& b = other.campaign.spec;
  if (a.fabric != b.fabric) return differs(one, other, "their fabrics");
  if (a.clock != b.clock) return differs(one, other, "their clocks");
  for (const auto& [experiment, version] : one.campaign.requirements) {
    const auto same = other.campaign.requirements.find(experiment);
    if (same != other.campaign.requirements.end() && same->second != version) {
      return differs(one, other, "the version of '" + experiment + "'");
    }
  }
  return std::nullopt;
}

bool holds(const FittedCampaign& part, const RunKey& run) {
  return std::ranges::any_of(part.runs, [&](const RunRecord& record) {
    return record.key == run && record.state == RunState::finished;
  });
}

}  // namespace

Json to_json(const FitOrder& order) {
  Json without = Json::array();
  for (const RunKey& run : order.without) without.push_back({run.campaign, run.run});
  return {{"model", order.model}, {"campaigns", order.campaigns}, {"without", std::move(without)}};
}

Result<FitOrder> fit_order_from_json(const Json& json) {
  try {
    FitOrder order{
        json.at("model").get<std::string>(), json.at("campaigns").get<std::vector<int64_t>>(), {}};
    for (const Json& run : json.at("without")) {
      order.without.push_back({run.at(0).get<int64_t>(), run.at(1).get<uint32_t>()});
    }
    return order;
  } catch (const Json::exception& error) {
    return Error(ErrorCode::data_loss, std::string("stored order of a fit: ") + error.what());
  }
}

uint32_t planned_points(const std::vector<FittedCampaign>& parts) {
  uint32_t planned = 0;
  for (const FittedCampaign& part : parts) {
    for (const RunRecord& run : part.runs) planned = std::max(planned, run.points_all);
  }
  return planned;
}

std::vector<RunKey> fitted_runs(const FitOrder& order, const std::vector<FittedCampaign>& parts) {
  std::vector<RunKey> runs;
  for (const FittedCampaign& part : parts) {
    for (const RunRecord& run : part.runs) {
      if (run.state != RunState::finished) continue;
      if (std::ranges::find(order.without, run.key) == order.without.end()) runs.push_back(run.key);
    }
  }
  return runs;
}

Answer<CampaignSpec> joint_spec(const FitOrder& order, const std::vector<FittedCampaign>& parts) {
  if (parts.empty()) return invalid_field("campaigns", "name one or more to fit");
  std::set<int64_t> named;
  for (const FittedCampaign& part : parts) {
    const std::string name = campaign_name(part.campaign.number);
    if (!named.insert(part.campaign.number).second) {
      return invalid_field("campaigns", "'" + name + "' is named twice");
    }
    if (!is_final(part.campaign.state)) {
      return Problem{ErrorCode::failed_precondition,
                     "CAMPAIGN_RUNNING",
                     name + " has not ended; wait for it, or cancel it",
                     {{"name", name}}};
    }
    if (auto problem = difference(parts.front(), part)) return *std::move(problem);
  }
  for (const RunKey& run : order.without) {
    const auto has = [&](const FittedCampaign& part) { return holds(part, run); };
    if (std::ranges::any_of(parts, has)) continue;
    return invalid_field("without",
                         "'" + run_name(run) + "' is not a finished run of these campaigns");
  }
  const auto runs = fitted_runs(order, parts);
  if (runs.size() < kMinRunsForProvisional) {
    return Problem{ErrorCode::failed_precondition,
                   "TOO_FEW_RUNS",
                   "a model needs at least " + std::to_string(kMinRunsForProvisional) +
                       " finished runs, and there " + (runs.size() == 1 ? "is " : "are ") +
                       std::to_string(runs.size()),
                   {}};
  }
  CampaignSpec spec = parts.front().campaign.spec;
  spec.model = model_name(order.model);
  spec.runs = 0;
  for (const FittedCampaign& part : parts) {
    spec.runs += part.campaign.spec.runs;
    spec.ranks = std::max(spec.ranks, part.campaign.spec.ranks);
    if (part.campaign.spec.effort != Effort::full) spec.effort = Effort::budgeted;
  }
  // What is left out is not missed.
  spec.runs -= std::min<uint32_t>(spec.runs - 1, static_cast<uint32_t>(order.without.size()));
  return spec;
}

std::string joint_stop_reason(const std::vector<FittedCampaign>& parts) {
  const std::string_view converged = to_string(campaign::StopReason::converged);
  const auto other = std::ranges::find_if(
      parts, [&](const FittedCampaign& part) { return part.campaign.stop_reason != converged; });
  return other == parts.end() ? std::string(converged) : other->campaign.stop_reason;
}

}  // namespace stripline::server
