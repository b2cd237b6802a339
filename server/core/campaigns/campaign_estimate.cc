#include "server/core/campaigns/campaign_estimate.h"

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "base/quantity.h"

namespace stripline::server {
namespace {

using campaign::Forecast;

// How much slower points may be than predicted before it is a risk worth mentioning.
constexpr double kSlower = 2;

std::string runs_text(const Forecast& expected) {
  return std::to_string(expected.runs) + (expected.runs == 1 ? " run fits" : " runs fit");
}

std::vector<campaign::FinishedRun> finished_runs(const std::vector<RunRecord>& runs) {
  std::vector<campaign::FinishedRun> finished;
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    finished.push_back({run.grid > 0 ? run.grid : run.points_total, run.points_total, run.start_s,
                        run.duration_s});
  }
  return finished;
}

// What a budget does to the result; nullopt: nothing.
std::optional<Risk> risk_of_budget(const Forecast& expected, const campaign::Rule& rule) {
  if (!expected.usable) {
    return Risk{RiskKind::no_result, runs_text(expected) + " into the budget, and at least " +
                                         std::to_string(rule.fewest_runs) +
                                         " are needed; ask for a larger one, or for less"};
  }
  if (expected.runs < rule.enough_runs) {
    return Risk{RiskKind::provisional, runs_text(expected) + " into the budget: with fewer than " +
                                           std::to_string(rule.enough_runs) +
                                           " the model is provisional"};
  }
  return std::nullopt;
}

void add_risks_of_precision(CampaignEstimate& estimate, const campaign::Rule& rule) {
  const Forecast& expected = estimate.forecast;
  const uint32_t coarse = expected.runs - expected.runs_of_all;
  if (2 * coarse > expected.runs) {
    estimate.risks.push_back({RiskKind::coarse_grid, std::to_string(coarse) + " of " +
                                                         std::to_string(expected.runs) +
                                                         " runs have no time for all " +
                                                         count_text(estimate.points, "point") +
                                                         " and measure a coarser grid"});
  }
  if (rule.width > 0 && expected.width && *expected.width > rule.width) {
    estimate.risks.push_back({RiskKind::wide,
                              "the width asked for will not be reached; allow more runs and time, "
                              "or ask for a larger one"});
  }
}

}  // namespace

std::string_view to_string(RiskKind kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "UNKNOWN_PACE", "NO_RESULT", "PROVISIONAL", "SLOWER", "COARSE_GRID", "WIDE", "NO_SPARE_NODE"};
  return enum_name(kNames, kind);
}

bool is_like(const CampaignSpec& one, const CampaignSpec& other) {
  return one.fabric == other.fabric && one.clock == other.clock && one.nodes == other.nodes &&
         one.ranks == other.ranks && one.effort == other.effort &&
         one.experiments == other.experiments && one.same_node == other.same_node &&
         one.cluster == other.cluster;
}

std::optional<EarlierCampaign> learnt_from(const CampaignRecord& record,
                                           const std::vector<RunRecord>& runs) {
  const auto finished = finished_runs(runs);
  const auto pace = campaign::typical_pace(finished);
  if (!pace) return std::nullopt;
  EarlierCampaign earlier{campaign_name(record.number), *pace, std::nullopt};
  if (record.width > 0) {
    earlier.width = {record.width, static_cast<uint32_t>(finished.size())};
  }
  return earlier;
}

CampaignEstimate estimate_of(const CampaignPlan& plan, const CampaignSnapshot& fresh,
                             const std::optional<EarlierCampaign>& earlier) {
  const campaign::Rule rule = rule_of(fresh);
  const campaign::Pace pace = earlier ? earlier->pace : plan.pace;
  const auto width = earlier ? earlier->width : std::nullopt;
  CampaignEstimate estimate;
  estimate.spec = plan.spec;
  estimate.points = rule.all_points;
  estimate.forecast = campaign::forecast(rule, pace, width);
  if (earlier) {
    estimate.based_on = earlier->name;
  } else {
    estimate.risks.push_back(
        {RiskKind::unknown_pace,
         "no campaign like it has been measured: each point is taken to last " +
             seconds_text(pace.point_s) + ", and nothing tells the width of its intervals"});
  }
  const campaign::Pace slower_pace{pace.start_s, kSlower * pace.point_s};
  const Forecast slower = campaign::forecast(rule, slower_pace, width);
  if (auto risk = risk_of_budget(estimate.forecast, rule)) {
    estimate.risks.push_back(std::move(*risk));
  } else if (auto other = risk_of_budget(slower, rule)) {
    estimate.risks.push_back({RiskKind::slower, "if points took twice as long: " + other->message});
  }
  add_risks_of_precision(estimate, rule);
  if (plan.pairs) {
    const auto runs = campaign::runs_by_distance(*plan.pairs, estimate.forecast.runs);
    for (const auto& [distance, pairs] : plan.pairs->pairs()) {
      const auto taken = runs.find(distance);
      estimate.pairs.push_back({distance, pairs, taken == runs.end() ? 0 : taken->second});
    }
  }
  if (plan.able_nodes <= fresh.spec.nodes) {
    estimate.risks.push_back(
        {RiskKind::no_spare_node, "no other node could take the place of one that leaves: " +
                                      std::to_string(fresh.spec.nodes) + " are needed, " +
                                      std::to_string(plan.able_nodes) + " are there"});
  }
  return estimate;
}

}  // namespace stripline::server
