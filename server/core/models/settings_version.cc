#include "server/core/models/settings_version.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/sha256.h"
#include "optimizer/experiment/tuning.h"
#include "optimizer/targets/packed_export.h"
#include "server/store/point_records.h"

namespace stripline::server {

bool holds_settings(std::string_view fabric) {
  return !experiment::target_of_settings(fabric).empty();
}

Result<SettingsVersion> settings_version(const std::string& packed, std::string_view what) {
  STRIPLINE_ASSIGN_OR_RETURN(const targets::PackedExport read,
                             targets::read_packed_export(packed, what));
  fit::Judgement judgement;
  judgement.compared = read.compared;
  judgement.over_untuned = read.ratio - 1;
  judgement.over_untuned_low = read.ratio_low - 1;
  judgement.losses = read.slower;
  judgement.worst_loss = read.worst;
  judgement.worst_loss_share = read.worst_ratio - 1;
  judgement.settings = {read.validated, read.probe_factor, read.inconclusive};
  return SettingsVersion{read.target, FittedModel{.content = packed,
                                                  .sha256 = sha256_hex(packed),
                                                  .summary = describe(read) + "; tuned on " +
                                                             read.host + ", " + read.time,
                                                  .judgement = std::move(judgement)}};
}

namespace {

// What the run of a campaign over a target has brought; without content where it is nothing, and
// the summary says why.
Result<FittedModel> sent_settings(const FitJob& job) {
  if (job.input.runs == 0) {
    return Error(ErrorCode::failed_precondition,
                 "its run has not come to an end; a larger time budget lets it");
  }
  const std::string target(experiment::tuned_target(job.input.spec.fabric));
  FittedModel kept{.summary = "nothing was found"};
  for (const FitBatch& batch : job.batches) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto series, series_of_batch(batch.data));
    for (const experiment::SampleSeries& one : series) {
      if (!one.note.empty()) kept.summary = one.note;
      if (one.result.empty()) continue;
      STRIPLINE_ASSIGN_OR_RETURN(SettingsVersion found,
                                 settings_version(one.result, "what the node has sent"));
      if (found.target == target) return std::move(found.version);
      return Error(ErrorCode::data_loss,
                   "what the node has sent is of " + found.target + ", not of " + target);
    }
  }
  return kept;
}

}  // namespace

Result<FittedModel> tuned_settings(const FitJob& job) { return sent_settings(job); }

Result<fit::Judgement> verified_settings(const FitJob& job) {
  STRIPLINE_ASSIGN_OR_RETURN(const FittedModel sent, sent_settings(job));
  if (sent.judgement) return *sent.judgement;
  return Error(ErrorCode::data_loss, "the node has not sent what it has validated");
}

fit::SentinelReading reading_of(const fit::Judgement& then, const fit::Judgement& now) {
  const bool holds = now.settings && now.settings->validated && now.settings->probe_factor > 0 &&
                     now.settings->inconclusive == 0 && now.losses == 0;
  fit::SentinelReading reading;
  reading.points = std::max<size_t>(now.compared, 1);
  reading.outside = holds ? 0 : reading.points;
  reading.ratio = (1 + now.over_untuned) / (1 + then.over_untuned);
  return reading;
}

std::string target_change(std::string_view target, const std::map<std::string, std::string>& then,
                          const std::map<std::string, std::string>& now) {
  const std::string name(target);
  const std::array<std::pair<std::string, std::string>, 3> facts = {
      {{experiment::version_fact(target), "the version of " + name},
       {experiment::configuration_fact(target), "the configuration of " + name},
       {"kernel", "the kernel"}}};
  for (const auto& [field, what] : facts) {
    const auto was = then.find(field);
    const auto is = now.find(field);
    if (was == then.end() || is == now.end() || was->second == is->second) continue;
    return what + " was " + was->second + " and is " + is->second;
  }
  return "";
}

}  // namespace stripline::server
