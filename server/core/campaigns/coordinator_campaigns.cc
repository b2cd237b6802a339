// The coordinator's side of users' calls, and fitting.
#include <algorithm>
#include <chrono>
#include <exception>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/network_name.h"
#include "base/quantity.h"
#include "server/clock.h"
#include "server/core/coordinator.h"
#include "server/core/models/published_model.h"

namespace stripline::server {
namespace {

constexpr size_t kBatchesAtOnce = 64;
constexpr uint32_t kMaxFits = 2;

}  // namespace

Answer<CampaignRecord> Coordinator::stored_campaign(int64_t number) {
  auto record = store_.campaign(number);
  if (!record.ok()) return record.error();
  if (*record) return std::move(**record);
  return campaign_not_found(campaign_name(number));
}

Answer<CampaignView> Coordinator::campaign(int64_t number) {
  const MutexLock lock(mutex_);
  const auto record = stored_campaign(number);
  if (!record) return record.problem();
  const auto runs = store_.runs(number);
  if (!runs.ok()) return runs.error();
  return view(*record, *runs);
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
    fitter_wakes_.wait(lock, [&]() STRIPLINE_REQUIRES(mutex_) {
      return stopping_ || !to_fit_.empty() || !operations_.empty();
    });
    if (stopping_) return;
    // Users that wait for a campaign come first.
    const bool is_campaign = !to_fit_.empty();
    std::deque<int64_t>& queue = is_campaign ? to_fit_ : operations_;
    const int64_t next = queue.front();
    queue.pop_front();
    lock.unlock();
    if (is_campaign) {
      fit(next);
    } else {
      carry_out_operation(next);
    }
    lock.lock();
  }
}

// Which of a campaign's fits is wanted: it may be cancelled, deleted or tried again meanwhile.
// nullopt: none.
std::optional<uint32_t> Coordinator::wanted_fit(int64_t campaign) const {
  const auto open = open_.find(campaign);
  if (open == open_.end() || open->second.campaign.state != CampaignState::fitting) {
    return std::nullopt;
  }
  return open->second.campaign.retries;
}

// On the fitting thread, without the lock but for the last step.
void Coordinator::fit(int64_t campaign) {
  const auto wanted = [&] {
    const MutexLock lock(mutex_);
    return wanted_fit(campaign);
  };
  const auto turn = wanted();
  if (!turn) return;
  Result<FitJob> job = collect(campaign);
  // Storage may be back later; what is stored and cannot be read will never be.
  while (!job.ok() && job.error().code() != ErrorCode::data_loss) {
    if (!wait_for_storage(campaign_name(campaign), "collect samples", job.error()) ||
        wanted() != turn) {
      return;
    }
    job = collect(campaign);
  }
  const double start_s = steady_seconds();
  const Result<FittedModel> fitted =
      job.ok() ? try_to_fit(*job, stop_fits_.get_token()) : job.error();
  const double fit_s = steady_seconds() - start_s;
  meters_.observe(Meters::Time::fit, fit_s);
  spdlog::info("{}: fitting took {}", campaign_name(campaign), seconds_text(fit_s));
  const bool failed = !fitted.ok() && !is_answer(fitted.error());
  while (true) {
    MutexLock lock(mutex_);
    if (stopping_ || wanted_fit(campaign) != turn) return;
    const Status done = failed ? fit_failed(campaign, fitted.error()) : publish(campaign, fitted);
    lock.unlock();
    if (done.ok() || !wait_for_storage(campaign_name(campaign), "publish", done.error())) return;
  }
}

// Whatever becomes of it, the server goes on.
Result<FittedModel> Coordinator::try_to_fit(const FitJob& job, const std::stop_token& stop) {
  try {
    return fitter_(job, stop);
  } catch (const std::exception& failure) {
    return Error(ErrorCode::internal, failure.what());
  }
}

// The fit came to no answer: it is tried once more, whether or not this server lives to do it.
Status Coordinator::fit_failed(int64_t campaign, const Error& why) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(campaign));
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

// False if the server stops: what is named stays as it is, and the next start takes it up.
bool Coordinator::wait_for_storage(const std::string& name, std::string_view task,
                                   const Error& error) {
  spdlog::error("{}: cannot {}: {}; trying again in {}", name, task, error.message(),
                exact_seconds_text(options_.storage_retry_s));
  MutexLock lock(mutex_);
  return !fitter_wakes_.wait_for(lock, std::chrono::duration<double>(options_.storage_retry_s),
                                 [&]() STRIPLINE_REQUIRES(mutex_) { return stopping_; });
}

// The samples of all finished runs, under their last fence, with what the fit must know.
Result<FitJob> Coordinator::collect(int64_t number) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store_.campaign(number));
  if (!campaign) return Error(ErrorCode::internal, campaign_name(number) + " is not stored");
  FitJob job;
  job.input.campaigns = {number};
  job.input.spec = campaign->spec;
  job.input.stop_reason = campaign->stop_reason;
  job.input.fitted_at = rfc3339(unix_seconds());
  STRIPLINE_ASSIGN_OR_RETURN(auto runs, store_.runs(number));
  const FittedCampaign whole{*campaign, std::move(runs)};
  job.input.planned_points = planned_points({whole});
  STRIPLINE_RETURN_IF_ERROR(
      add_samples_of(whole, fitted_runs({"", {number}, {}}, {whole}), 0, job));
  return job;
}

// Takes the campaign's runs that are among `wanted`, which are numbered from first_run + 1 on.
Status Coordinator::add_samples_of(const FittedCampaign& part, const std::vector<RunKey>& wanted,
                                   uint32_t first_run, FitJob& job) {
  const int64_t number = part.campaign.number;
  std::set<uint32_t> finished;
  for (const RunRecord& run : part.runs) {
    if (std::ranges::find(wanted, run.key) == wanted.end()) continue;
    finished.insert(run.key.run);
    STRIPLINE_ASSIGN_OR_RETURN(auto nodes, store_.attempt_facts(run.key, run.fence));
    if (nodes.empty()) {
      // Measured before attempts had facts.
      for (const std::string& node : run.rank_nodes) {
        STRIPLINE_ASSIGN_OR_RETURN(const auto record, store_.node(node));
        if (record) nodes.push_back({run.key, run.fence, node, record->fingerprint});
      }
    }
    for (AttemptFacts& node : nodes) {
      node.run.run += first_run;
      job.input.nodes.push_back(std::move(node));
    }
  }
  job.input.runs += static_cast<uint32_t>(finished.size());
  job.input.seeds.push_back(part.campaign.spec.seed);
  int64_t after = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(auto batches, store_.batches(number, after, kBatchesAtOnce));
    if (batches.empty()) return {};
    for (BatchRecord& batch : batches) {
      after = batch.id;
      if (batch.orphan || !finished.contains(batch.run.run)) continue;
      job.batches.push_back({std::move(batch.data), first_run});
    }
  }
}

void Coordinator::add_version(const VersionKey& key, const std::string& fabric,
                              const FittedModel& fitted, const std::vector<std::string>& campaigns,
                              Changes& changes) {
  NewModelVersion version;
  version.record.key = key;
  version.record.sha256 = fitted.sha256;
  version.record.campaigns = campaigns;
  version.record.created_unix_s = unix_seconds();
  version.record.summary = fitted.summary;
  version.record.provisional = fitted.provisional;
  version.record.findings = fitted.findings;
  version.fabric = fabric;
  version.content = fitted.content;
  if (fitted.judgement) {
    changes.validations.push_back({key, version.record.created_unix_s, {}, *fitted.judgement});
  }
  note_verdict(changes, key, verdict_on(fitted.judgement), version.record.created_unix_s);
  changes.versions.push_back(std::move(version));
}

Status Coordinator::publish(int64_t number, const Result<FittedModel>& fitted) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft(number));
  if (!fitted.ok()) {
    return end_campaign(number, CampaignState::failed,
                        "no model could be fitted: " + fitted.error().message());
  }
  const std::string model = *parse_model_name(d.campaign.spec.model);
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store_.model(model));
  const std::string network = network_name(d.campaign.spec.fabric);
  if (existing && network_name(existing->fabric) != network) {
    return end_campaign(number, CampaignState::failed,
                        "no version was published: " + d.campaign.spec.model +
                            " describes fabric '" + existing->fabric + "' since another campaign " +
                            "published to it; samples are kept");
  }
  const VersionKey key{model, existing ? existing->last_number + 1 : 1};
  add_version(key, network, *fitted, {campaign_name(number)}, d.changes);
  d.campaign.model_version = version_name(key);
  const PublishedModel outcome = outcome_of(d.campaign.model_version, *fitted);
  d.campaign.state = outcome.failed ? CampaignState::failed : CampaignState::succeeded;
  d.campaign.message = outcome.message + left_out_text(d.campaign.spec);
  STRIPLINE_RETURN_IF_ERROR(commit(d, d.campaign.message));
  if (outcome.failed) meters_.count(Meters::Counter::campaigns_failed);
  spdlog::info("{}: {}", campaign_name(number), d.campaign.message);
  return {};
}

}  // namespace stripline::server
