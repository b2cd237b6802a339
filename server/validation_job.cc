#include "server/validation_job.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "optimizer/model/model_json.h"
#include "server/clock.h"
#include "server/fit_job.h"

namespace stripline::server {
namespace {

constexpr size_t kBatchPage = 64;

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

// What campaigns say of a version.
struct Evidence {
  std::vector<std::string> campaigns;
  std::vector<experiment::SampleSeries> series;
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
  const auto model = store.model(version.key.model);
  if (!model.ok()) return model.error();
  Evidence evidence;
  uint32_t last_run = 0;
  for (const int64_t number : campaigns) {
    const std::string name = campaign_name(number);
    const auto campaign = store.campaign(number);
    if (!campaign.ok()) return campaign.error();
    if (!*campaign) return campaign_not_found(name);
    if ((*campaign)->spec.fabric != (*model)->fabric) {
      return campaign_problem("'" + name + "' measured fabric '" + (*campaign)->spec.fabric +
                              "', the model describes '" + (*model)->fabric + "'");
    }
    if (std::ranges::find(version.campaigns, name) != version.campaigns.end()) {
      return campaign_problem("the version was fitted to '" + name +
                              "', which says nothing of other points; name another campaign");
    }
    evidence.ranks = std::max(evidence.ranks, (*campaign)->spec.ranks);
    const auto last = add_series(store, number, last_run, evidence.series);
    if (!last.ok()) return last.error();
    last_run = *last;
    evidence.campaigns.push_back(name);
  }
  const auto content = store.model_content(version.key);
  if (!content.ok()) return content.error();
  auto parsed = model::parse_model(*content, version_name(version.key));
  if (!parsed.ok()) return parsed.error();
  evidence.model = std::move(*parsed);
  return evidence;
}

}  // namespace

Answer<ValidationRecord> validate_version(Store& store, const ModelVersionRecord& version,
                                          const std::vector<int64_t>& campaigns) {
  const auto evidence = evidence_of(store, version, campaigns);
  if (!evidence) return evidence.problem();
  ValidationRecord record{version.key, unix_seconds(), evidence->campaigns,
                          fit::judge_model(evidence->model, evidence->series, evidence->ranks)};
  if (record.judgement.points + record.judgement.choices == 0) return nothing_to_judge(version);
  return record;
}

Answer<CheckRecord> check_version(Store& store, const ModelVersionRecord& version,
                                  int64_t campaign) {
  const auto evidence = evidence_of(store, version, {campaign});
  if (!evidence) return evidence.problem();
  CheckRecord record{version.key, evidence->campaigns.front(), unix_seconds(),
                     fit::read_sentinels(evidence->model, evidence->series)};
  if (record.reading.points == 0) return nothing_to_judge(version);
  return record;
}

}  // namespace stripline::server
