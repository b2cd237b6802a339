// The coordinator's side of campaigns that do not exist yet: planning, estimating, creating them.
#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/network_name.h"
#include "base/sha256.h"
#include "optimizer/campaign/choices.h"
#include "optimizer/campaign/straddle.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_estimate.h"
#include "server/core/campaigns/race_plan.h"
#include "server/core/coordinator.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxRequestId = 128;
constexpr int kMostCreators = 4;
// So far back a campaign like the one asked for is looked for: daily sentinels come in between.
constexpr size_t kRemembered = 1000;
constexpr size_t kRememberedPage = 100;

std::string effort_text(const CampaignSpec& spec, const std::string& note) {
  std::string text = spec.effort == Effort::full ? "FULL" : "BUDGETED";
  return note.empty() ? text : text + ", " + note;
}

}  // namespace

// The campaign that this request of this owner has created already; a view without a name if there
// is none.
Answer<CampaignView> Coordinator::existing_campaign(const std::string& owner,
                                                    const std::string& request_id,
                                                    const std::string& digest) {
  const auto existing = store_.campaign_of_request(owner, request_id);
  if (!existing.ok()) return existing.error();
  if (!*existing) return CampaignView{};
  if ((*existing)->request_sha256 != digest) {
    return Problem{ErrorCode::already_exists,
                   "REQUEST_ID_REUSED",
                   "request_id '" + request_id + "' belongs to " +
                       campaign_name((*existing)->number) +
                       ", which was asked for with another spec; choose a new request_id",
                   {{"name", campaign_name((*existing)->number)}}};
  }
  const auto runs = store_.runs((*existing)->number);
  if (!runs.ok()) return runs.error();
  return view(**existing, *runs);
}

// Each that waits holds a thread that others need.
std::optional<Problem> Coordinator::begin_planning() {
  if (++creators_ <= kMostCreators) return std::nullopt;
  --creators_;
  return Problem{
      ErrorCode::resource_exhausted,
      "BUSY",
      std::to_string(kMostCreators) + " campaigns are being planned already; try again in a moment",
      {}};
}

// Why `owner` can have no further campaign that has not ended; nullopt: he can.
std::optional<Problem> Coordinator::no_room(const std::string& owner) const {
  if (open_.size() >= options_.max_campaigns) {
    return Problem{
        ErrorCode::resource_exhausted,
        "TOO_MANY_CAMPAIGNS",
        std::to_string(open_.size()) + " campaigns have not ended; wait for some, or cancel some",
        {}};
  }
  const uint64_t quota = options_.max_queued_per_owner;
  // Earlier versions did not record the owners of campaigns.
  if (quota == 0 || owner.empty() || owner == kServersOwn) return std::nullopt;
  const auto theirs = static_cast<uint64_t>(std::ranges::count_if(
      open_, [&](const auto& open) { return open.second.campaign.owner == owner; }));
  if (theirs < quota) return std::nullopt;
  return Problem{ErrorCode::resource_exhausted,
                 "OWNER_QUOTA",
                 owner + " has " + std::to_string(theirs) +
                     " campaigns that have not ended, and one owner may have " +
                     std::to_string(quota) + "; wait for some, or cancel some",
                 {{"owner", owner}, {"quota", std::to_string(quota)}}};
}

Answer<CampaignView> Coordinator::create_campaign(const CampaignSpec& asked,
                                                  const std::string& request_id, bool validate_only,
                                                  const std::string& actor) {
  if (auto busy = begin_planning()) return std::move(*busy);
  auto answer = plan_and_store(asked, request_id, validate_only, actor);
  --creators_;
  return answer;
}

Answer<CampaignEstimate> Coordinator::estimate_campaign(const CampaignSpec& asked) {
  if (auto busy = begin_planning()) return std::move(*busy);
  auto answer = plan_and_estimate(asked);
  --creators_;
  return answer;
}

Answer<CampaignEstimate> Coordinator::plan_and_estimate(const CampaignSpec& asked) {
  const auto spec = complete_spec(asked);
  if (!spec) return spec.problem();
  const MutexLock creating(creating_);
  const auto offers = offers_for(*spec);
  if (!offers) return offers.problem();
  auto plan = plan_campaign(*spec, *offers);
  if (!plan) return plan.problem();
  if (const auto begun = begin_race(*plan, *offers); !begun) return begun.problem();
  const auto earlier = campaign_like(plan->spec);
  if (!earlier.ok()) return earlier.error();
  std::vector<RunRecord> runs;
  for (const auto& assignment : plan->runs) runs.push_back(record_of(*plan, assignment, 0));
  const CampaignSnapshot fresh = [&] {
    const MutexLock lock(mutex_);
    return snapshot_of(record_of(*plan), runs, steady_seconds());
  }();
  // Agents need not wait for two forecasts of all runs.
  return estimate_of(*plan, fresh, *earlier);
}

// Among those on the same fabric and clock that have measured something, the one whose machine is
// the most like that of a node that may take part; of equals the newest.
Result<std::optional<CampaignRecord>> Coordinator::nearest_campaign(
    const CampaignPlan& plan, const std::vector<NodeOffer>& offers) {
  const auto able = std::ranges::find_if(offers, [&](const NodeOffer& offer) {
    return offer.cluster == plan.spec.cluster &&
           std::ranges::find(offer.fabrics, network_name(plan.spec.fabric)) != offer.fabrics.end();
  });
  std::optional<CampaignRecord> nearest;
  if (able == offers.end()) return nearest;
  STRIPLINE_ASSIGN_OR_RETURN(const auto here, store_.node(able->node));
  if (!here) return nearest;
  double least = 0;
  STRIPLINE_ASSIGN_OR_RETURN(const auto records, store_.campaigns(0, kRemembered));
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
    STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store_.runs(record.number));
    const auto last = std::ranges::find_if(
        runs, [](const RunRecord& run) { return run.state == RunState::finished; });
    if (last == runs.end()) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto facts, store_.attempt_facts(last->key, last->fence));
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
Answer<bool> Coordinator::begin_race(CampaignPlan& plan, const std::vector<NodeOffer>& offers) {
  if (!plan.spec.race) return false;
  Result<std::optional<CampaignRecord>> prior = std::optional<CampaignRecord>();
  if (plan.spec.prior == kNearestPrior) {
    prior = nearest_campaign(plan, offers);
    if (!prior.ok()) return prior.error();
  } else if (const auto number = parse_campaign_name(plan.spec.prior)) {
    auto named = stored_campaign(*number);
    if (!named) return named.problem();
    prior = std::optional(*std::move(named));
  }
  const campaign::PointTable table = table_of(plan);
  if (*prior) {
    const auto runs = store_.runs((*prior)->number);
    if (!runs.ok()) return runs.error();
    const auto known = read_points(**prior, *runs);
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
Result<std::optional<EarlierCampaign>> Coordinator::campaign_like(const CampaignSpec& spec) {
  int64_t before = 0;
  for (size_t seen = 0; seen < kRemembered; seen += kRememberedPage) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto records, store_.campaigns(before, kRememberedPage));
    for (const CampaignRecord& record : records) {
      before = record.number;
      if (!is_like(record.spec, spec)) continue;
      STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store_.runs(record.number));
      if (auto earlier = learnt_from(record, runs)) return earlier;
    }
    if (records.size() < kRememberedPage) break;
  }
  return std::optional<EarlierCampaign>();
}

Answer<CampaignView> Coordinator::plan_and_store(const CampaignSpec& asked,
                                                 const std::string& request_id, bool validate_only,
                                                 const std::string& actor) {
  if (request_id.size() > kMaxRequestId) {
    return invalid_field("request_id", "at most " + std::to_string(kMaxRequestId) + " bytes");
  }
  const auto spec = complete_spec(asked);
  if (!spec) return spec.problem();
  const std::string digest =
      sha256_hex(to_json(asked).dump(-1, ' ', false, Json::error_handler_t::replace));

  // Plans have megabytes: they are made and written as text while agents are being served.
  const MutexLock creating(creating_);
  if (!request_id.empty()) {
    const MutexLock lock(mutex_);
    auto existing = existing_campaign(actor, request_id, digest);
    if (!existing || !existing->name.empty()) return existing;
  }
  const auto offers = offers_for(*spec);
  if (!offers) return offers.problem();
  auto plan = plan_campaign(*spec, *offers);
  if (!plan) return plan.problem();
  if (const auto begun = begin_race(*plan, *offers); !begun) return begun.problem();

  Draft d;
  d.campaign = record_of(*plan);
  d.campaign.created_unix_s = unix_seconds();
  d.campaign.owner = actor;
  d.campaign.request_id = request_id;
  d.campaign.request_sha256 = digest;
  d.campaign.message = std::to_string(plan->runs.size()) + " runs of " +
                       std::to_string(plan->runs.front().points.size()) + " points, " +
                       effort_text(plan->spec, plan->note);
  if (!validate_only) {
    const MutexLock lock(mutex_);
    if (auto problem = no_room(actor)) return std::move(*problem);
    const auto number = store_.next_campaign_number();
    if (!number.ok()) return number.error();
    d.campaign.number = *number;
  }
  for (experiment::Assignment& assignment : plan->runs) {
    d.runs.push_back(record_of(*plan, assignment, d.campaign.number));
    if (validate_only) continue;
    const RunKey& run = d.runs.back().key;
    assignment.name = run_name(run);
    d.changes.plans.push_back({run, experiment::to_json(assignment).dump()});
  }
  if (validate_only) return view_of(d.campaign, d.runs, std::nullopt);
  d.changes.points.push_back({d.campaign.number, std::move(plan->runs.front().points)});
  d.changes.audit.push_back(
      {0, unix_seconds(), actor, "create campaign", campaign_name(d.campaign.number)});
  return store_campaign(d);
}

// What connected nodes offer, by name. Problems: the model is another fabric's.
Answer<std::vector<NodeOffer>> Coordinator::offers_for(const CampaignSpec& spec) {
  const MutexLock lock(mutex_);
  if (!spec.model.empty()) {
    const auto model = store_.model(*parse_model_name(spec.model));
    if (!model.ok()) return model.error();
    if (*model && network_name((*model)->fabric) != network_name(spec.fabric)) {
      return invalid_field("spec.model", "'" + spec.model + "' describes fabric '" +
                                             (*model)->fabric + "', not '" + spec.fabric +
                                             "'; name another model");
    }
  }
  std::vector<NodeOffer> offers;
  for (const auto& [id, session] : sessions_) {
    if (session.leaving || holds_.contains(session.record.name)) continue;
    offers.push_back({session.record.name,
                      session.record.fabrics,
                      {session.declared, &session.declared->experiments},
                      session.record.cluster,
                      switches_of(session.record.fingerprint)});
  }
  std::ranges::sort(offers, {}, &NodeOffer::node);
  return offers;
}

Answer<CampaignView> Coordinator::store_campaign(Draft& d) {
  const MutexLock lock(mutex_);
  const Status created = commit(d, "queued: " + d.campaign.message);
  if (!created.ok()) return created.error();
  spdlog::info("{} created: fabric {}, {}", campaign_name(d.campaign.number),
               d.campaign.spec.fabric, d.campaign.message);
  step();
  const auto now = draft(d.campaign.number);
  if (!now.ok()) return now.error();
  return view(now->campaign, now->runs);
}

}  // namespace stripline::server
