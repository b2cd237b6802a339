// Settings of another runtime as a version of a model (docs/tuning-other-runtimes.md): what a
// campaign that tunes one has brought, or a publisher imports. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/core/models/fit_job.h"

namespace stripline::server {

/// True if versions of a model of this fabric are settings.
bool holds_settings(std::string_view fabric);

struct SettingsVersion {
  std::string target;  ///< "openmpi"
  FittedModel
      version;  ///< As a fit makes one: judged by the validation that the export's record has.
};

/// A packed export. Errors: data_loss.
Result<SettingsVersion> settings_version(const std::string& packed, std::string_view what);

/// What a campaign that tunes has brought. Without content where the default settings are kept: the
/// summary says why. Errors: failed_precondition where its run has not finished; data_loss for
/// samples that cannot be read, or settings of another target.
Result<FittedModel> tuned_settings(const FitJob& job);

/// What a campaign that validates settings again (CampaignSpec::verifies) has found. Errors: as
/// tuned_settings(); data_loss also where the node has sent nothing.
Result<fit::Judgement> verified_settings(const FitJob& job);

/// How that lies to what was found of them at first: where they do not hold any more, as they are
/// slower, or are not shown to be as fast or to be read, all comparisons are outside.
fit::SentinelReading reading_of(const fit::Judgement& then, const fit::Judgement& now);

/// What has changed on a node, by its facts, since settings of a target were tuned there: "the
/// version of openmpi was 4.1.4 and is 4.1.6". Empty: nothing, as far as its agent says it.
std::string target_change(std::string_view target, const std::map<std::string, std::string>& then,
                          const std::map<std::string, std::string>& now);

}  // namespace stripline::server
