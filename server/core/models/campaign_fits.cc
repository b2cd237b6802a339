#include "server/core/models/campaign_fits.h"

#include <string>

#include <spdlog/spdlog.h>

#include "base/network_name.h"
#include "base/quantity.h"
#include "optimizer/campaign/left_out.h"
#include "optimizer/experiment/tuning.h"
#include "server/clock.h"
#include "server/core/campaigns/campaign_records.h"
#include "server/core/models/fit_samples.h"
#include "server/core/models/published_model.h"
#include "server/core/models/settings_version.h"

namespace stripline::server {
namespace {

constexpr uint32_t kMaxFits = 2;

}  // namespace

// The fit of a campaign that is wanted: it may be cancelled, deleted or tried again meanwhile.
// nullopt: none.
std::optional<uint32_t> CampaignFits::wanted(int64_t campaign) const {
  const auto open = state_.open.find(campaign);
  if (open == state_.open.end() || open->second.campaign.state != CampaignState::fitting) {
    return std::nullopt;
  }
  return open->second.campaign.retries;
}

// On the fitting thread, without the lock but for the last step.
void CampaignFits::fit(int64_t campaign) {
  const auto wanted_now = [&] {
    const MutexLock lock(state_.mutex);
    return wanted(campaign);
  };
  const auto turn = wanted_now();
  if (!turn) return;
  Result<FitJob> job = collect_samples(state_.store, campaign);
  // Storage may be back later; what is stored and cannot be read will never be.
  while (!job.ok() && job.error().code() != ErrorCode::data_loss) {
    if (!fits_.wait_for_storage(campaign_name(campaign), "collect samples", job.error()) ||
        wanted_now() != turn) {
      return;
    }
    job = collect_samples(state_.store, campaign);
  }
  const double start_s = steady_seconds();
  const auto make = [&]() -> Result<FittedModel> {
    if (!job.ok()) return job.error();
    if (!experiment::tuned_target(job->input.spec.fabric).empty()) return tuned_settings(*job);
    return fits_.fit(*job, fits_.stop_token());
  };
  const Result<FittedModel> fitted = make();
  const double fit_s = steady_seconds() - start_s;
  state_.meters.observe(Meters::Time::fit, fit_s);
  spdlog::info("{}: fitting took {}", campaign_name(campaign), seconds_text(fit_s));
  const bool failed = !fitted.ok() && !is_answer(fitted.error());
  while (true) {
    MutexLock lock(state_.mutex);
    if (state_.stopping || wanted(campaign) != turn) return;
    const Status done = failed ? note_failure(campaign, fitted.error()) : publish(campaign, fitted);
    lock.unlock();
    if (done.ok()) return;
    if (!fits_.wait_for_storage(campaign_name(campaign), "publish", done.error())) return;
  }
}

// The fit came to no answer: it is tried once more, whether or not this server lives to do it.
Status CampaignFits::note_failure(int64_t campaign, const Error& why) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, campaign));
  if (++d.campaign.fit_failures >= kMaxFits) {
    return end_campaign(state_, campaign, CampaignState::failed,
                        "no model could be fitted, in " + std::to_string(kMaxFits) +
                            " attempts: " + why.message() + "; samples are kept");
  }
  d.campaign.message = "the fit failed and is tried again: " + why.message();
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  spdlog::error("{}: {}", campaign_name(campaign), d.campaign.message);
  fits_.add_campaign(campaign);
  return {};
}

Status CampaignFits::publish(int64_t number, const Result<FittedModel>& fitted) {
  STRIPLINE_ASSIGN_OR_RETURN(Draft d, draft_of(state_, number));
  if (!fitted.ok()) {
    return end_campaign(state_, number, CampaignState::failed,
                        "no model could be fitted: " + fitted.error().message());
  }
  if (fitted->content.empty()) {
    return end_campaign(state_, number, CampaignState::succeeded,
                        "the target keeps its default settings: " + fitted->summary);
  }
  const std::string model = *parse_model_name(d.campaign.spec.model);
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, state_.store.model(model));
  const std::string network = experiment::fabric_of_model(network_name(d.campaign.spec.fabric));
  if (existing && network_name(existing->fabric) != network) {
    return end_campaign(state_, number, CampaignState::failed,
                        "no version was published: " + d.campaign.spec.model +
                            " describes fabric '" + existing->fabric + "' since another campaign " +
                            "published to it; samples are kept");
  }
  const VersionKey key{model, existing ? existing->last_number + 1 : 1};
  add_version(d.changes, key, network, *fitted, {campaign_name(number)}, unix_seconds());
  d.campaign.model_version = version_name(key);
  const PublishedModel outcome = outcome_of(d.campaign.model_version, *fitted);
  d.campaign.state = outcome.failed ? CampaignState::failed : CampaignState::succeeded;
  d.campaign.message = outcome.message + campaign::left_out_text(d.campaign.spec.left_out);
  STRIPLINE_RETURN_IF_ERROR(commit(state_, d, d.campaign.message));
  if (outcome.failed) state_.meters.count(Meters::Counter::campaigns_failed);
  spdlog::info("{}: {}", campaign_name(number), d.campaign.message);
  return {};
}

}  // namespace stripline::server
