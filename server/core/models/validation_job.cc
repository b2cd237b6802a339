#include "server/core/models/validation_job.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/network_name.h"
#include "optimizer/model/model_json.h"
#include "server/clock.h"
#include "server/core/models/fit_job.h"
#include "server/core/models/fit_samples.h"
#include "server/core/models/settings_version.h"
#include "server/store/point_records.h"

namespace stripline::server {
namespace {

constexpr size_t kBatchPage = 64;
constexpr const char* kJudgedInTarget =
    "settings are judged in their target, by the campaign that tunes it: run that again, or "
    "'stripline export verify' on a node";

Problem campaign_problem(const std::string& message) { return invalid_field("campaigns", message); }

// Adds the series of a campaign's finished runs; its run numbers begin after `first_run`, so that
// those of several campaigns stay apart. Returns the highest.
Result<uint32_t> add_series(Store& store, int64_t campaign, uint32_t first_run,
                            std::vector<experiment::SampleSeries>& all) {
  uint32_t last_run = first_run;
  std::set<uint32_t> finished;
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store.runs(campaign));
  for (const RunRecord& run : runs) {
    if (run.state == RunState::finished) finished.insert(run.key.run);
  }
  int64_t after = 0;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto batches, store.batches(campaign, after, kBatchPage));
    if (batches.empty()) return last_run;
    for (const BatchRecord& batch : batches) {
      after = batch.id;
      if (batch.orphan || !finished.contains(batch.run.run)) continue;
      STRIPLINE_ASSIGN_OR_RETURN(auto series, series_of_batch(batch.data));
      for (experiment::SampleSeries& one : series) {
        if (!one.verified || is_without_time(one)) continue;
        one.run = first_run + batch.run.run;
        last_run = std::max(last_run, one.run);
        all.push_back(std::move(one));
      }
    }
  }
}

Result<model::TunedModel> model_of(Store& store, const VersionKey& key) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string content, store.model_content(key));
  return model::parse_model(content, version_name(key));
}

// What a campaign has measured of the problems that it held out.
struct HeldOutCampaign {
  uint32_t ranks = 0;
  std::vector<fit::HeldOutTimes> times;
};

fit::Judged choices_by(const model::TunedModel& model,
                       const std::vector<HeldOutCampaign>& campaigns) {
  fit::Judged all;
  for (const HeldOutCampaign& one : campaigns) {
    std::ranges::move(fit::judge_held_out(model, one.times, one.ranks).choices,
                      std::back_inserter(all.choices));
  }
  return all;
}

// What campaigns say of a version.
struct Evidence {
  std::vector<std::string> campaigns;
  std::vector<experiment::SampleSeries> series;
  std::vector<uint64_t> seeds;
  uint32_t ranks = 0;
  model::TunedModel model;  // of the version
};

Problem nothing_to_judge(const ModelVersionRecord& version) {
  return {ErrorCode::failed_precondition,
          "NOTHING_TO_JUDGE",
          "no finished run of these campaigns measured anything that '" +
              version_name(version.key) + "' predicts",
          {}};
}

Answer<Evidence> evidence_of(Store& store, const ModelVersionRecord& version,
                             const std::vector<int64_t>& campaigns) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store.model(version.key.model));
  if (model && holds_settings(model->fabric)) {
    return campaign_problem(kJudgedInTarget);
  }
  Evidence evidence;
  uint32_t last_run = 0;
  for (const int64_t number : campaigns) {
    const std::string name = campaign_name(number);
    STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store.campaign(number));
    if (!campaign) return campaign_not_found(name);
    if (network_name(campaign->spec.fabric) != network_name(model->fabric)) {
      return campaign_problem("'" + name + "' measured fabric '" + campaign->spec.fabric +
                              "', the model describes '" + model->fabric + "'");
    }
    if (std::ranges::find(version.campaigns, name) != version.campaigns.end()) {
      return campaign_problem("the version was fitted to '" + name +
                              "', which says nothing of other points; name another campaign");
    }
    evidence.ranks = std::max(evidence.ranks, campaign->spec.ranks);
    STRIPLINE_ASSIGN_OR_RETURN(const auto last,
                               add_series(store, number, last_run, evidence.series));
    last_run = last;
    evidence.campaigns.push_back(name);
    evidence.seeds.push_back(campaign->spec.seed);
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto parsed, model_of(store, version.key));
  evidence.model = std::move(parsed);
  return evidence;
}

}  // namespace

Answer<ValidationRecord> validate_version(Store& store, const ModelVersionRecord& version,
                                          const std::vector<int64_t>& campaigns) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto evidence, evidence_of(store, version, campaigns));
  const auto parts = fit::take_held_out(evidence.series, evidence.seeds, evidence.ranks);
  ValidationRecord record{
      version.key, unix_seconds(), evidence.campaigns,
      fit::joined(fit::summed_up(fit::judge_held_out(evidence.model, parts.judged, evidence.ranks)),
                  fit::judge_model(evidence.model, parts.fitted, evidence.ranks))};
  if (record.judgement.points + record.judgement.choices == 0) return nothing_to_judge(version);
  return record;
}

Result<fit::Comparison> compare_versions(Store& store, const ModelVersionRecord& version,
                                         const ModelVersionRecord& other) {
  std::set<std::string> names(version.campaigns.begin(), version.campaigns.end());
  if (version.validation) {
    names.insert(version.validation->campaigns.begin(), version.validation->campaigns.end());
  }
  std::vector<HeldOutCampaign> campaigns;
  for (const std::string& name : names) {
    const auto number = parse_campaign_name(name);
    if (!number) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, store.campaign(*number));
    if (!campaign) continue;  // It was deleted since.
    std::vector<experiment::SampleSeries> series;
    STRIPLINE_RETURN_IF_ERROR(add_series(store, *number, 0, series));
    const std::vector<uint64_t> seeds = {campaign->spec.seed};
    auto judged = fit::take_held_out(series, seeds, campaign->spec.ranks).judged;
    if (!judged.empty()) campaigns.push_back({campaign->spec.ranks, std::move(judged)});
  }
  if (campaigns.empty()) return fit::Comparison();
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, model_of(store, version.key));
  STRIPLINE_ASSIGN_OR_RETURN(const auto others, model_of(store, other.key));
  return fit::compare_choices(choices_by(model, campaigns), choices_by(others, campaigns));
}

namespace {

std::string group_text(const CampaignSpec& spec) {
  return std::to_string(spec.ranks) + " ranks on " + std::to_string(spec.nodes) + " nodes, " +
         (spec.clock.empty() ? "real" : spec.clock) + " clock";
}

// Sentinels say nothing of a version where another group, or another clock, has measured them.
Status check_group(Store& store, const ModelVersionRecord& version, int64_t campaign) {
  const auto first =
      version.campaigns.empty() ? std::nullopt : parse_campaign_name(version.campaigns.front());
  if (!first) return {};
  STRIPLINE_ASSIGN_OR_RETURN(const auto fitted_to, store.campaign(*first));
  STRIPLINE_ASSIGN_OR_RETURN(const auto measured, store.campaign(campaign));
  if (!fitted_to || !measured) return {};
  const std::string own = group_text(fitted_to->spec);
  const std::string other = group_text(measured->spec);
  if (own == other) return {};
  return Error(ErrorCode::invalid_argument, "'" + campaign_name(campaign) + "' was measured by " +
                                                other + ", the version by " + own +
                                                "; name a campaign of the same size");
}

}  // namespace

namespace {

// By a campaign that has validated them again.
Answer<CheckRecord> check_settings(Store& store, const ModelVersionRecord& version,
                                   int64_t campaign) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, store.campaign(campaign));
  const bool of_this = record && record->spec.verifies == version_name(version.key);
  if (!of_this || !version.validation) return campaign_problem(kJudgedInTarget);
  STRIPLINE_ASSIGN_OR_RETURN(const auto job, collect_samples(store, campaign));
  STRIPLINE_ASSIGN_OR_RETURN(const auto now, verified_settings(job));
  return CheckRecord{version.key, campaign_name(campaign), unix_seconds(),
                     reading_of(version.validation->judgement, now)};
}

}  // namespace

Answer<CheckRecord> check_version(Store& store, const ModelVersionRecord& version,
                                  int64_t campaign) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store.model(version.key.model));
  if (model && holds_settings(model->fabric)) return check_settings(store, version, campaign);
  if (const Status alike = check_group(store, version, campaign); !alike.ok()) {
    if (alike.error().code() != ErrorCode::invalid_argument) return alike.error();
    return campaign_problem(alike.error().message());
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto evidence, evidence_of(store, version, {campaign}));
  CheckRecord record{version.key, evidence.campaigns.front(), unix_seconds(),
                     fit::read_sentinels(evidence.model, evidence.series)};
  if (record.reading.points == 0) return nothing_to_judge(version);
  return record;
}

}  // namespace stripline::server
