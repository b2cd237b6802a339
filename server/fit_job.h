// From the samples of a campaign to a model file: what the coordinator runs on its fitting thread
// once measuring is over. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "server/fingerprint_rules.h"
#include "server/records.h"

namespace stripline::server {

struct FitInput {
  CampaignRecord campaign;
  /// Series of finished runs, under their last fence; unverified ones are left out of the fit.
  std::vector<experiment::SampleSeries> series;
  uint32_t runs = 0;      ///< How many finished.
  MeasuredFacts facts;    ///< Of each node in each run, as they were when it measured.
  std::string fitted_at;  ///< RFC 3339
};

struct FittedModel {
  std::string content;  ///< The file: docs/model-file.md
  std::string sha256;
  std::string summary;  ///< For a person: runs, effort, what could not be identified.
  /// Why it is provisional: fewer runs than kMinRunsForIntervals; empty: it is not.
  std::string provisional;
};

using Fitter = std::function<Result<FittedModel>(const FitInput&)>;

/// Fits with optimizer/fit. Errors: failed_precondition when the samples do not suffice, saying
/// why; invalid_argument as optimizer/fit.
Result<FittedModel> fit_campaign(const FitInput& input);

/// True if it holds no time at all: no value, or zeros alone, which no operation takes.
bool is_without_time(const experiment::SampleSeries& series);

/// The series of a stored batch. Errors: data_loss.
Result<std::vector<experiment::SampleSeries>> series_of_batch(const std::string& data);

}  // namespace stripline::server
