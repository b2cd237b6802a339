// The coordinator's side of campaigns that are measured without this server.
#include <limits>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/json.h"
#include "base/quantity.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/core/campaigns/offline.h"
#include "server/core/coordinator.h"
#include "server/core/sessions/run_order.h"

namespace stripline::server {

Answer<campaign::PlanBundle> Coordinator::plan_of_campaign(int64_t number) {
  const auto record = stored_campaign(number);
  if (!record) return record.problem();
  const auto runs = store_.runs(number);
  if (!runs.ok()) return runs.error();
  const auto plan = store_.run_plan({number, 1});
  if (!plan.ok()) return plan.error();
  const uint32_t planned = runs->front().points_all;
  const auto stored = store_.points(number, {}, 0, planned);
  if (!stored.ok()) return stored.error();
  const auto frame = order_text(*plan, 0, 0, record->spec.time_budget_s);
  if (!frame.ok()) return frame.error();
  const auto json = parse_json(*frame, "stored plan");
  if (!json.ok()) return json.error();
  auto first = experiment::assignment_from_json(*json);
  if (!first.ok()) return first.error();
  std::vector<experiment::Point> points;
  for (const PointRecord& one : *stored) points.push_back(one.point);
  const MutexLock lock(mutex_);
  return bundle_of(*record, rule_of(snapshot_of(*record, *runs, steady_seconds())),
                   *std::move(first), std::move(points));
}

Answer<campaign::PlanBundle> Coordinator::plan_offline(const CampaignSpec& asked,
                                                       const std::string& node_description) {
  if (auto busy = begin_planning()) return std::move(*busy);
  auto answer = plan_for_others(asked, node_description);
  --creators_;
  return answer;
}

Answer<campaign::PlanBundle> Coordinator::plan_for_others(const CampaignSpec& asked,
                                                          const std::string& node_description) {
  const auto spec = complete_spec(asked);
  if (!spec) return spec.problem();
  const MutexLock creating(creating_);
  auto offers = offers_for(*spec);
  if (!offers) return offers.problem();
  if (!node_description.empty()) {
    const auto offer = offer_of_description(node_description);
    if (!offer) return offer.problem();
    offers->assign(spec->nodes, *offer);
  }
  auto plan = plan_campaign(*spec, *offers);
  if (!plan) return plan.problem();
  if (const auto begun = begin_race(*plan, *offers); !begun) return begun.problem();
  const CampaignRecord record = record_of(*plan);
  std::vector<RunRecord> runs;
  for (const auto& assignment : plan->runs) runs.push_back(record_of(*plan, assignment, 0));
  experiment::Assignment first = std::move(plan->runs.front());
  std::vector<experiment::Point> points = std::exchange(first.points, {});
  const MutexLock lock(mutex_);
  return bundle_of(record, rule_of(snapshot_of(record, runs, steady_seconds())), std::move(first),
                   std::move(points));
}

Answer<CampaignView> Coordinator::import_results(const campaign::OfflineResults& results,
                                                 const std::string& sha256,
                                                 const std::string& actor) {
  if (auto busy = begin_planning()) return std::move(*busy);
  auto answer = store_results(results, sha256, actor);
  --creators_;
  return answer;
}

// Samples have megabytes: they are written without the lock. No one else numbers a campaign while
// `creating_` is held.
Answer<CampaignView> Coordinator::store_results(const campaign::OfflineResults& results,
                                                const std::string& sha256,
                                                const std::string& actor) {
  const std::string request_id = "import-" + sha256;
  const MutexLock creating(creating_);
  Result<int64_t> number = 0;
  {
    const MutexLock lock(mutex_);
    auto existing = existing_campaign(actor, request_id, sha256);
    if (!existing || !existing->name.empty()) return existing;
    if (auto problem = no_room(actor)) return std::move(*problem);
    number = store_.next_campaign_number();
  }
  if (!number.ok()) return number.error();
  auto all = imported(results, *number, store_.fence_base() + 1, unix_seconds());
  if (!all) return all.problem();
  Draft d;
  d.campaign = std::move(all->campaign);
  d.campaign.owner = actor;
  d.campaign.request_id = request_id;
  d.campaign.request_sha256 = sha256;
  d.runs = std::move(all->runs);
  d.changes = std::move(all->changes);
  d.changes.audit.push_back(
      {0, unix_seconds(), actor, "import campaign", campaign_name(d.campaign.number)});
  {
    const MutexLock lock(mutex_);
    add_records(d, d.campaign.message);
  }
  if (const Status stored = store_.apply(d.changes); !stored.ok()) return stored.error();
  meters_.count(Meters::Counter::batches_stored, static_cast<double>(d.changes.batches.size()));
  meters_.count(Meters::Counter::samples_stored, static_cast<double>(d.campaign.samples));
  const MutexLock lock(mutex_);
  remember(d);
  hub_.notify(d.campaign.number);
  spdlog::info("{}: {}", campaign_name(d.campaign.number), d.campaign.message);
  if (d.campaign.state == CampaignState::fitting) {
    to_fit_.push_back(d.campaign.number);
    fitter_wakes_.notify_all();
  }
  return view(d.campaign, d.runs);
}

}  // namespace stripline::server
