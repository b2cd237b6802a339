#include "server/core/campaigns/campaign_planning.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/json.h"
#include "base/network_name.h"
#include "base/quantity.h"
#include "base/sha256.h"
#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/straddle.h"
#include "optimizer/experiment/json.h"
#include "optimizer/experiment/tuning.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/campaigns/campaigns.h"
#include "server/core/campaigns/offline.h"
#include "server/core/campaigns/race_plan.h"
#include "server/core/campaigns/run_points.h"
#include "server/core/sessions/run_order.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxRequestId = 128;
constexpr int kMaxCallers = 4;
// So far back a campaign like the one asked for is looked for: daily sentinels come in between.
constexpr size_t kRemembered = 1000;
constexpr size_t kRememberedPage = 100;

std::string effort_text(const CampaignSpec& spec, const std::string& note) {
  std::string text = spec.effort == Effort::full ? "FULL" : "BUDGETED";
  return note.empty() ? text : text + ", " + note;
}

std::vector<RunRecord> runs_of(const CampaignPlan& plan) {
  std::vector<RunRecord> runs;
  for (const auto& assignment : plan.runs) runs.push_back(record_of(plan, assignment, 0));
  return runs;
}

}  // namespace

CampaignPlanning::Turn::Turn(std::atomic<int>& callers) : callers_(callers) {
  if (++callers_ <= kMaxCallers) return;
  busy_ = Problem{
      ErrorCode::resource_exhausted,
      "BUSY",
      std::to_string(kMaxCallers) + " campaigns are being planned already; try again in a moment",
      {}};
}

// The campaign that this request of this owner has created already; a view without a name if there
// is none.
Answer<CampaignView> CampaignPlanning::existing_campaign(const std::string& owner,
                                                         const std::string& request_id,
                                                         const std::string& digest) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing,
                             state_.store.campaign_of_request(owner, request_id));
  if (!existing) return CampaignView{};
  if (existing->request_sha256 != digest) {
    return Problem{ErrorCode::already_exists,
                   "REQUEST_ID_REUSED",
                   "request_id '" + request_id + "' belongs to " + campaign_name(existing->number) +
                       ", which was asked for with another spec; choose a new request_id",
                   {{"name", campaign_name(existing->number)}}};
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(existing->number));
  return current_view(state_, *existing, runs);
}

// `node_description`: of nodes that are not connected; empty: connected ones take part.
Answer<CampaignPlan> CampaignPlanning::plan(const CampaignSpec& spec,
                                            const std::string& node_description) {
  STRIPLINE_ASSIGN_OR_RETURN(auto offers, offers_for(spec));
  if (!node_description.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto offer, offer_of_description(node_description));
    offers.assign(spec.nodes, offer);
  }
  auto plan = plan_campaign(spec, offers);
  if (!plan) return plan.problem();
  if (const auto begun = begin_race(*plan, offers); !begun) return begun.problem();
  return plan;
}

Answer<CampaignEstimate> CampaignPlanning::estimate_campaign(const CampaignSpec& asked) {
  const Turn turn(callers_);
  if (turn.busy()) return *turn.busy();
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, complete_spec(asked));
  const MutexLock planning(planning_);
  STRIPLINE_ASSIGN_OR_RETURN(const auto plan, this->plan(spec, ""));
  STRIPLINE_ASSIGN_OR_RETURN(const auto earlier, campaign_like(plan.spec));
  const std::vector<RunRecord> runs = runs_of(plan);
  const CampaignSnapshot fresh = [&] {
    const MutexLock lock(state_.mutex);
    return snapshot_of(state_, record_of(plan), runs, steady_seconds());
  }();
  // Agents need not wait for two forecasts of all runs.
  return estimate_of(plan, fresh, earlier);
}

// Among those on the same fabric and clock that have measured something, the one whose machine is
// the most like that of a node that may take part; of equals the newest.
Result<std::optional<CampaignRecord>> CampaignPlanning::nearest_campaign(
    const CampaignPlan& plan, const std::vector<NodeOffer>& offers) {
  const auto able = std::ranges::find_if(offers, [&](const NodeOffer& offer) {
    return offer.cluster == plan.spec.cluster &&
           std::ranges::find(offer.fabrics, network_name(plan.spec.fabric)) != offer.fabrics.end();
  });
  std::optional<CampaignRecord> nearest;
  if (able == offers.end()) return nearest;
  STRIPLINE_ASSIGN_OR_RETURN(const auto here, state_.store.node(able->node));
  if (!here) return nearest;
  double least = 0;
  STRIPLINE_ASSIGN_OR_RETURN(const auto records, state_.store.campaigns(0, kRemembered));
  for (const CampaignRecord& record : records) {
    if (record.spec.fabric != plan.spec.fabric || record.spec.clock != plan.spec.clock ||
        record.spec.ranks != plan.spec.ranks || record.samples == 0 || !is_final(record.state)) {
      continue;
    }
    const bool shares = std::ranges::any_of(plan.requirements, [&](const auto& need) {
      const auto found = record.requirements.find(need.first);
      return found != record.requirements.end() && found->second == need.second;
    });
    if (!shares) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(record.number));
    const auto last = std::ranges::find_if(
        runs, [](const RunRecord& run) { return run.state == RunState::finished; });
    if (last == runs.end()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto facts,
                               state_.store.attempt_facts(last->key, last->fence));
    if (facts.empty()) continue;
    const double distance = fingerprint_distance(here->fingerprint, facts.front().facts);
    if (nearest && distance >= least) continue;
    least = distance;
    nearest = record;
  }
  return nearest;
}

// What the first run of a race measures: what was nearly the fastest in the campaign that it takes
// as its prior, else every other size. Problems: CAMPAIGN_NOT_FOUND.
Answer<bool> CampaignPlanning::begin_race(CampaignPlan& plan,
                                          const std::vector<NodeOffer>& offers) {
  if (!plan.spec.race) return false;
  Result<std::optional<CampaignRecord>> prior = std::optional<CampaignRecord>();
  if (plan.spec.prior == kNearestPrior) {
    prior = nearest_campaign(plan, offers);
    if (!prior.ok()) return prior.error();
  } else if (const auto number = parse_campaign_name(plan.spec.prior)) {
    STRIPLINE_ASSIGN_OR_RETURN(auto named, stored_campaign(state_.store, *number));
    prior = std::optional(std::move(named));
  }
  const campaign::PointTable table = table_of(plan);
  if (*prior) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs((*prior)->number));
    const auto known = read_points(state_.store, **prior, runs);
    if (!known.ok() && known.error().code() != ErrorCode::data_loss) return known.error();
    const auto places = known.ok() ? campaign::promising(table, **known) : std::vector<uint32_t>();
    if (!places.empty()) {
      begin_with(plan, places, "what " + campaign_name((*prior)->number) + " leaves worth a run");
      return true;
    }
  }
  const auto places = campaign::sparse_places(table);
  if (places.size() < table.points().size()) begin_with(plan, places, "every other size");
  return true;
}

// The newest one from which something can be learnt.
Result<std::optional<EarlierCampaign>> CampaignPlanning::campaign_like(const CampaignSpec& spec) {
  int64_t before = 0;
  for (size_t seen = 0; seen < kRemembered; seen += kRememberedPage) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto records, state_.store.campaigns(before, kRememberedPage));
    for (const CampaignRecord& record : records) {
      before = record.number;
      if (!is_like(record.spec, spec)) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(record.number));
      if (auto earlier = learnt_from(record, runs)) return earlier;
    }
    if (records.size() < kRememberedPage) break;
  }
  return std::optional<EarlierCampaign>();
}

Answer<CampaignView> CampaignPlanning::create_campaign(const CampaignSpec& asked,
                                                       const std::string& request_id,
                                                       bool validate_only,
                                                       const std::string& actor) {
  const Turn turn(callers_);
  if (turn.busy()) return *turn.busy();
  if (request_id.size() > kMaxRequestId) {
    return invalid_field("request_id", "at most " + std::to_string(kMaxRequestId) + " bytes");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, complete_spec(asked));
  const std::string digest = sha256_hex(dumped(to_json(asked)));

  // Plans have megabytes: they are made and written as text while agents are being served.
  const MutexLock planning(planning_);
  if (!request_id.empty()) {
    const MutexLock lock(state_.mutex);
    auto existing = existing_campaign(actor, request_id, digest);
    if (!existing || !existing->name.empty()) return existing;
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto plan, this->plan(spec, ""));

  Draft d;
  d.campaign = record_of(plan);
  d.campaign.created_unix_s = unix_seconds();
  d.campaign.owner = actor;
  d.campaign.request_id = request_id;
  d.campaign.request_sha256 = digest;
  d.campaign.message = std::to_string(plan.runs.size()) + " runs of " +
                       std::to_string(plan.runs.front().points.size()) + " points, " +
                       effort_text(plan.spec, plan.note);
  if (!validate_only) {
    const MutexLock lock(state_.mutex);
    if (auto problem = no_room(state_, actor)) return std::move(*problem);
    STRIPLINE_ASSIGN_OR_RETURN(const auto number, state_.store.next_campaign_number());
    d.campaign.number = number;
  }
  std::string settings;
  if (const auto verified = parse_version_name(spec.verifies)) {
    STRIPLINE_ASSIGN_OR_RETURN(settings, state_.store.model_content(*verified));
  }
  for (experiment::Assignment& assignment : plan.runs) {
    d.runs.push_back(record_of(plan, assignment, d.campaign.number));
    assignment.model_json = settings;
    if (validate_only) continue;
    const RunKey& run = d.runs.back().key;
    assignment.name = run_name(run);
    d.changes.plans.push_back({run, experiment::to_json(assignment).dump()});
  }
  if (validate_only) return view_of(d.campaign, d.runs, std::nullopt);
  d.changes.points.push_back({d.campaign.number, std::move(plan.runs.front().points)});
  d.changes.audit.push_back(
      {0, unix_seconds(), actor, "create campaign", campaign_name(d.campaign.number)});
  return store_campaign(d);
}

// What connected nodes offer, by name. Problems: the model is another fabric's.
Answer<std::vector<NodeOffer>> CampaignPlanning::offers_for(const CampaignSpec& spec) {
  const MutexLock lock(state_.mutex);
  if (!spec.model.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto model, state_.store.model(*parse_model_name(spec.model)));
    const std::string fabric = experiment::fabric_of_model(network_name(spec.fabric));
    if (model && network_name(model->fabric) != fabric) {
      return invalid_field("spec.model", "'" + spec.model + "' describes fabric '" + model->fabric +
                                             "', not '" + spec.fabric + "'; name another model");
    }
  }
  std::vector<NodeOffer> offers;
  for (const auto& [id, session] : state_.sessions.all()) {
    if (session.leaving || state_.holds.contains(session.record.name)) continue;
    offers.push_back({session.record.name,
                      session.record.fabrics,
                      {session.declared, &session.declared->experiments},
                      session.record.cluster,
                      switches_of(session.record.fingerprint),
                      session.max_ranks});
  }
  std::ranges::sort(offers, {}, &NodeOffer::node);
  return offers;
}

Answer<CampaignView> CampaignPlanning::store_campaign(Draft& d) {
  {
    const MutexLock lock(state_.mutex);
    STRIPLINE_RETURN_IF_ERROR(commit(state_, d, "queued: " + d.campaign.message));
    spdlog::info("{} created: fabric {}, {}", campaign_name(d.campaign.number),
                 d.campaign.spec.fabric, d.campaign.message);
  }
  steps_.step();
  const MutexLock lock(state_.mutex);
  STRIPLINE_ASSIGN_OR_RETURN(const auto now, draft_of(state_, d.campaign.number));
  return current_view(state_, now.campaign, now.runs);
}

Answer<campaign::PlanBundle> CampaignPlanning::plan_of_campaign(int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, stored_campaign(state_.store, number));
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, state_.store.runs(number));
  STRIPLINE_ASSIGN_OR_RETURN(const auto plan, state_.store.run_plan({number, 1}));
  const uint32_t planned = runs.front().points_all;
  STRIPLINE_ASSIGN_OR_RETURN(const auto stored, state_.store.points(number, {}, 0, planned));
  STRIPLINE_ASSIGN_OR_RETURN(const auto frame, order_text(plan, 0, 0, record.spec.time_budget_s));
  STRIPLINE_ASSIGN_OR_RETURN(const auto json, parse_json(frame, "stored plan"));
  STRIPLINE_ASSIGN_OR_RETURN(auto first, experiment::assignment_from_json(json));
  std::vector<experiment::Point> points;
  for (const PointRecord& one : stored) points.push_back(one.point);
  const MutexLock lock(state_.mutex);
  return bundle_of(record, rule_of(snapshot_of(state_, record, runs, steady_seconds())),
                   std::move(first), std::move(points));
}

Answer<campaign::PlanBundle> CampaignPlanning::plan_offline(const CampaignSpec& asked,
                                                            const std::string& node_description) {
  const Turn turn(callers_);
  if (turn.busy()) return *turn.busy();
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, complete_spec(asked));
  if (!experiment::tuned_target(spec.fabric).empty()) {
    return invalid_field("spec.fabric",
                         "a target is tuned by agents of its server; without one, 'stripline tune' "
                         "does it on a node");
  }
  const MutexLock planning(planning_);
  STRIPLINE_ASSIGN_OR_RETURN(auto plan, this->plan(spec, node_description));
  const CampaignRecord record = record_of(plan);
  const std::vector<RunRecord> runs = runs_of(plan);
  experiment::Assignment first = std::move(plan.runs.front());
  std::vector<experiment::Point> points = std::exchange(first.points, {});
  const MutexLock lock(state_.mutex);
  return bundle_of(record, rule_of(snapshot_of(state_, record, runs, steady_seconds())),
                   std::move(first), std::move(points));
}

// Samples have megabytes: they are written without the lock. No one else numbers a campaign while
// a campaign is planned.
Answer<CampaignView> CampaignPlanning::import_results(const campaign::OfflineResults& results,
                                                      const std::string& sha256,
                                                      const std::string& actor) {
  const Turn turn(callers_);
  if (turn.busy()) return *turn.busy();
  const std::string request_id = "import-" + sha256;
  const MutexLock planning(planning_);
  Result<int64_t> number = 0;
  {
    const MutexLock lock(state_.mutex);
    auto existing = existing_campaign(actor, request_id, sha256);
    if (!existing || !existing->name.empty()) return existing;
    if (auto problem = no_room(state_, actor)) return std::move(*problem);
    number = state_.store.next_campaign_number();
  }
  if (!number.ok()) return number.error();
  STRIPLINE_ASSIGN_OR_RETURN(
      auto all, imported(results, *number, state_.store.fence_base() + 1, unix_seconds()));
  Draft d;
  d.campaign = std::move(all.campaign);
  d.campaign.owner = actor;
  d.campaign.request_id = request_id;
  d.campaign.request_sha256 = sha256;
  d.runs = std::move(all.runs);
  d.changes = std::move(all.changes);
  d.changes.audit.push_back(
      {0, unix_seconds(), actor, "import campaign", campaign_name(d.campaign.number)});
  {
    const MutexLock lock(state_.mutex);
    add_records(state_, d, d.campaign.message);
  }
  if (const Status stored = state_.store.apply(d.changes); !stored.ok()) return stored.error();
  state_.meters.count(Meters::Counter::batches_stored,
                      static_cast<double>(d.changes.batches.size()));
  state_.meters.count(Meters::Counter::samples_stored, static_cast<double>(d.campaign.samples));
  const MutexLock lock(state_.mutex);
  remember(state_, d);
  state_.hub.notify(d.campaign.number);
  spdlog::info("{}: {}", campaign_name(d.campaign.number), d.campaign.message);
  if (d.campaign.state == CampaignState::fitting) fits_.add_campaign(d.campaign.number);
  return current_view(state_, d.campaign, d.runs);
}

}  // namespace stripline::server
