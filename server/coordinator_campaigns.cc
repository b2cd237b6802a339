// The coordinator's side of users' calls, and fitting.
#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/quantity.h"
#include "base/sha256.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/coordinator.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxRequestId = 128;
constexpr size_t kBatchPage = 64;
constexpr uint32_t kMaxFits = 2;
constexpr int kMostCreators = 4;

Problem campaign_not_found(int64_t number) {
  return {
      ErrorCode::not_found,
      "CAMPAIGN_NOT_FOUND",
      "no campaign is named '" + campaign_name(number) + "'; 'stripline campaign list' names them",
      {{"name", campaign_name(number)}}};
}

// A fit that fails in the same way whenever it is made; others may have met an accident.
bool is_answer(const Error& error) {
  return error.code() == ErrorCode::failed_precondition ||
         error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::data_loss;
}

std::string effort_text(const CampaignSpec& spec, const std::string& note) {
  std::string text = spec.effort == Effort::full ? "FULL" : "BUDGETED";
  return note.empty() ? text : text + ", " + note;
}

}  // namespace

// The campaign that this request has created already; a view without a name if there is none.
Answer<CampaignView> Coordinator::existing_campaign(const std::string& request_id,
                                                    const std::string& digest) {
  const auto existing = store_.campaign_of_request(request_id);
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
Answer<CampaignView> Coordinator::create_campaign(const CampaignSpec& asked,
                                                  const std::string& request_id, bool validate_only,
                                                  const std::string& actor) {
  const bool busy = ++creators_ > kMostCreators;
  auto answer = busy ? Answer<CampaignView>(Problem{
                           ErrorCode::resource_exhausted,
                           "BUSY",
                           std::to_string(kMostCreators) +
                               " campaigns are being planned already; try again in a moment",
                           {}})
                     : plan_and_store(asked, request_id, validate_only, actor);
  --creators_;
  return answer;
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
    auto existing = existing_campaign(request_id, digest);
    if (!existing || !existing->name.empty()) return existing;
  }
  const auto offers = offers_for(*spec);
  if (!offers) return offers.problem();
  auto plan = plan_campaign(*spec, *offers);
  if (!plan) return plan.problem();

  Draft d;
  d.campaign.spec = plan->spec;
  d.campaign.requirements = plan->requirements;
  d.campaign.feeds_model = plan->feeds_model;
  d.campaign.planned_run_s = plan->run_s;
  d.campaign.created_unix_s = unix_seconds();
  d.campaign.request_id = request_id;
  d.campaign.request_sha256 = digest;
  d.campaign.message = std::to_string(plan->runs.size()) + " runs of " +
                       std::to_string(plan->runs.front().points.size()) + " points, " +
                       effort_text(plan->spec, plan->note);
  if (!validate_only) {
    const MutexLock lock(mutex_);
    if (open_.size() >= options_.max_campaigns) {
      return Problem{
          ErrorCode::resource_exhausted,
          "TOO_MANY_CAMPAIGNS",
          std::to_string(open_.size()) + " campaigns have not ended; wait for some, or cancel some",
          {}};
    }
    const auto number = store_.next_campaign_number();
    if (!number.ok()) return number.error();
    d.campaign.number = *number;
  }
  for (experiment::Assignment& assignment : plan->runs) {
    RunRecord run;
    run.key = {d.campaign.number, assignment.run};
    run.points_all = static_cast<uint32_t>(assignment.points.size());
    run.points_least = plan->least_points;
    run.points_core = plan->core_points;
    run.points_total = run.points_all;
    d.runs.push_back(run);
    if (validate_only) continue;
    assignment.name = run_name(run.key);
    d.changes.plans.push_back({run.key, experiment::to_json(assignment).dump()});
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
    if (*model && (*model)->fabric != spec.fabric) {
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
                      session.record.cluster});
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

Answer<CampaignView> Coordinator::campaign(int64_t number) {
  const MutexLock lock(mutex_);
  const auto record = store_.campaign(number);
  if (!record.ok()) return record.error();
  if (!*record) return campaign_not_found(number);
  const auto runs = store_.runs(number);
  if (!runs.ok()) return runs.error();
  return view(**record, *runs);
}

Answer<std::vector<CampaignView>> Coordinator::campaigns(int64_t before, size_t limit) {
  const MutexLock lock(mutex_);
  const auto records = store_.campaigns(before, limit);
  if (!records.ok()) return records.error();
  std::vector<CampaignView> views;
  for (const CampaignRecord& record : *records) {
    const auto runs = store_.runs(record.number);
    if (!runs.ok()) return runs.error();
    views.push_back(view(record, *runs));
  }
  return views;
}

Answer<CampaignView> Coordinator::cancel_campaign(int64_t number, const std::string& actor) {
  {
    const MutexLock lock(mutex_);
    const auto record = store_.campaign(number);
    if (!record.ok()) return record.error();
    if (!*record) return campaign_not_found(number);
    const CampaignState state = (*record)->state;
    if (state == CampaignState::succeeded || state == CampaignState::failed) {
      return Problem{ErrorCode::failed_precondition,
                     "CAMPAIGN_FINISHED",
                     campaign_name(number) + " has ended already, as " +
                         std::string(to_string(state)) + "; there is nothing to cancel",
                     {{"state", std::string(to_string(state))}}};
    }
    if (state != CampaignState::cancelled) {
      const Status status = end_campaign(number, CampaignState::cancelled,
                                         "cancelled on request; samples are kept", actor);
      if (!status.ok()) return status.error();
      step();
    }
  }
  return campaign(number);
}

std::vector<NodeView> Coordinator::views_of(std::vector<NodeRecord> records) {
  std::vector<NodeView> views;
  for (NodeRecord& record : records) {
    NodeView view;
    const auto session = session_of_node(record.name);
    view.connected = session != sessions_.end();
    const auto hold = holds_.find(record.name);
    if (hold != holds_.end()) view.hold = hold->second;
    if (view.connected) {
      record.last_seen_unix_s = session->second.record.last_seen_unix_s;
      if (session->second.holding) view.assignment = run_name(session->second.holding->run);
    }
    view.quarantine = health_.quarantine(record.name, steady_seconds());
    view.models = models_of(record);
    view.record = std::move(record);
    views.push_back(std::move(view));
  }
  return views;
}

Answer<std::vector<NodeView>> Coordinator::nodes(const std::string& after, size_t limit) {
  auto records = store_.nodes(after, limit);
  if (!records.ok()) return records.error();
  const MutexLock lock(mutex_);
  return views_of(std::move(*records));
}

Answer<NodeView> Coordinator::node(const std::string& name) {
  const MutexLock lock(mutex_);
  // It may have come just now, and be stored in a moment.
  const auto unsaved = unsaved_nodes_.find(name);
  auto record =
      unsaved != unsaved_nodes_.end() ? std::optional(unsaved->second) : store_.node(name);
  if (!record.ok()) return record.error();
  if (!*record) {
    return Problem{ErrorCode::not_found,
                   "NODE_NOT_FOUND",
                   "no agent has ever connected as '" + node_name(name) +
                       "'; 'stripline nodes' lists those that have",
                   {{"name", node_name(name)}}};
  }
  return views_of({std::move(**record)}).front();
}

void Coordinator::run_fitter() {
  MutexLock lock(mutex_);
  while (true) {
    fitter_wakes_.wait(lock,
                       [&]() STRIPLINE_REQUIRES(mutex_) { return stopping_ || !to_fit_.empty(); });
    if (stopping_) return;
    const int64_t campaign = to_fit_.front();
    to_fit_.pop_front();
    lock.unlock();
    fit(campaign);
    lock.lock();
  }
}

// On the fitting thread, without the lock but for the last step.
void Coordinator::fit(int64_t campaign) {
  Result<FitJob> job = collect(campaign);
  // Storage may be back later; what is stored and cannot be read will never be.
  while (!job.ok() && job.error().code() != ErrorCode::data_loss) {
    if (!wait_for_storage(campaign, "collect samples", job.error())) return;
    job = collect(campaign);
  }
  const double start_s = steady_seconds();
  const Result<FittedModel> fitted = job.ok() ? try_to_fit(*job) : job.error();
  const double fit_s = steady_seconds() - start_s;
  meters_.observe(Meters::Time::fit, fit_s);
  spdlog::info("{}: fitting took {}", campaign_name(campaign), seconds_text(fit_s));
  const bool failed = !fitted.ok() && !is_answer(fitted.error());
  while (true) {
    MutexLock lock(mutex_);
    if (stopping_) return;
    const Status done = failed ? fit_failed(campaign, fitted.error()) : publish(campaign, fitted);
    lock.unlock();
    if (done.ok() || !wait_for_storage(campaign, "publish", done.error())) return;
  }
}

// Whatever becomes of it, the server goes on.
Result<FittedModel> Coordinator::try_to_fit(const FitJob& job) {
  try {
    return fitter_(job, stop_fits_.get_token());
  } catch (const std::exception& failure) {
    return Error(ErrorCode::internal, failure.what());
  }
}

// The fit came to no answer: it is tried once more, whether or not this server lives to do it.
Status Coordinator::fit_failed(int64_t campaign, const Error& why) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(campaign));
  if (d.campaign.state != CampaignState::fitting) return {};
  if (++d.campaign.fit_failures >= kMaxFits) {
    return end_campaign(campaign, CampaignState::failed,
                        "no model could be fitted, in " + std::to_string(kMaxFits) +
                            " attempts: " + why.message() + "; samples are kept");
  }
  d.campaign.message = "the fit failed and is tried again: " + why.message();
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  spdlog::error("{}: {}", campaign_name(campaign), d.campaign.message);
  to_fit_.push_back(campaign);
  return {};
}

// False if the server stops: the campaign stays in FITTING, and the next start fits it again.
bool Coordinator::wait_for_storage(int64_t campaign, std::string_view task, const Error& error) {
  spdlog::error("{}: cannot {}: {}; trying again in {}", campaign_name(campaign), task,
                error.message(), exact_seconds_text(options_.storage_retry_s));
  MutexLock lock(mutex_);
  return !fitter_wakes_.wait_for(lock, std::chrono::duration<double>(options_.storage_retry_s),
                                 [&]() STRIPLINE_REQUIRES(mutex_) { return stopping_; });
}

// The samples of all finished runs, under their last fence, with what the fit must know.
Result<FitJob> Coordinator::collect(int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store_.campaign(number));
  if (!campaign) return Error(ErrorCode::internal, campaign_name(number) + " is not stored");
  FitJob job;
  job.input.campaign = number;
  job.input.spec = campaign->spec;
  job.input.stop_reason = campaign->stop_reason;
  job.input.fitted_at = rfc3339(unix_seconds());
  std::set<uint32_t> finished;
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store_.runs(number));
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    finished.insert(run.key.run);
    STRIPLINE_ASSIGN_OR_RETURN(auto nodes, store_.attempt_facts(run.key, run.fence));
    if (nodes.empty()) {
      // Measured before attempts had facts.
      for (const std::string& node : run.rank_nodes) {
        STRIPLINE_ASSIGN_OR_RETURN(const auto record, store_.node(node));
        if (record) nodes.push_back({run.key, run.fence, node, record->fingerprint});
      }
    }
    job.input.nodes.insert(job.input.nodes.end(), nodes.begin(), nodes.end());
  }
  job.input.runs = static_cast<uint32_t>(finished.size());
  int64_t after = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(auto batches, store_.batches(number, after, kBatchPage));
    if (batches.empty()) return job;
    for (BatchRecord& batch : batches) {
      after = batch.id;
      if (batch.orphan || !finished.contains(batch.run.run)) continue;
      job.batches.push_back(std::move(batch.data));
    }
  }
}

Status Coordinator::publish(int64_t number, const Result<FittedModel>& fitted) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(number));
  // Cancelled while it was being fitted.
  if (d.campaign.state != CampaignState::fitting) return {};
  if (!fitted.ok()) {
    return end_campaign(number, CampaignState::failed,
                        "no model could be fitted: " + fitted.error().message());
  }
  const std::string model = *parse_model_name(d.campaign.spec.model);
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store_.model(model));
  if (existing && existing->fabric != d.campaign.spec.fabric) {
    return end_campaign(number, CampaignState::failed,
                        "no version was published: " + d.campaign.spec.model +
                            " describes fabric '" + existing->fabric + "' since another campaign " +
                            "published to it; samples are kept");
  }
  NewModelVersion version;
  version.record.key = {model, existing ? existing->last_number + 1 : 1};
  version.record.sha256 = fitted->sha256;
  version.record.campaigns = {campaign_name(number)};
  version.record.created_unix_s = unix_seconds();
  version.record.summary = fitted->summary;
  version.record.provisional = fitted->provisional;
  version.record.findings = fitted->findings;
  version.fabric = d.campaign.spec.fabric;
  version.content = fitted->content;
  d.changes.versions.push_back(version);
  if (fitted->judgement) {
    d.changes.validations.push_back(
        {version.record.key, version.record.created_unix_s, {}, *fitted->judgement});
  }
  d.campaign.state = CampaignState::succeeded;
  d.campaign.model_version = version_name(version.record.key);
  d.campaign.message = "published " + d.campaign.model_version +
                       (fitted->provisional.empty() ? "" : ", PROVISIONAL") + ": " +
                       fitted->summary;
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  spdlog::info("{}: {}", campaign_name(number), d.campaign.message);
  return {};
}

}  // namespace stripline::server
