// From the samples of a campaign to a model file: what the coordinator runs on its fitting thread
// once measuring is over. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "optimizer/experiment/experiment.h"
#include "server/store/campaign_spec.h"
#include "server/store/store.h"

namespace stripline::server {

struct FitInput {
  std::vector<int64_t> campaigns;  ///< Campaigns that took the samples.
  CampaignSpec spec;
  /// Series of finished runs, under their last fence; unverified ones are left out of the fit.
  std::vector<experiment::SampleSeries> series;
  uint32_t runs = 0;  ///< How many finished.
  /// Seeds of the campaigns, by which their held-out problems are drawn.
  std::vector<uint64_t> seeds = {};
  uint32_t planned_points = 0;      ///< In the plan of each run, at most; 0: unknown.
  std::string stop_reason;          ///< CampaignRecord::stop_reason
  std::vector<AttemptFacts> nodes;  ///< Nodes of each finished run, as they were when it measured.
  std::string fitted_at;            ///< RFC 3339
};

/// A stored batch.
struct FitBatch {
  std::string data;
  uint32_t first_run = 0;  ///< What is added to the runs that it names: campaigns count from 1.
};

/// What is to be fitted, with the samples as they are stored.
struct FitJob {
  FitInput input;  ///< Without series.
  std::vector<FitBatch> batches;
};

struct FittedModel {
  std::string content;  ///< The file: docs/model-file.md
  std::string sha256;
  std::string summary;  ///< For a person: runs, effort, what could not be identified.
  /// Why nodes should not get it without asking for it by its number; empty: there is no reason.
  std::string provisional;
  std::vector<Finding> findings;  ///< Findings that the summary mentions.
  /// How it does on problems that were held out, or, where none were measured, how a fit without
  /// some of the points does on these; nullopt: there are too few points.
  std::optional<fit::Judgement> judgement = {};
};

/// Ends early, with any error, when it is asked to stop.
using Fitter = std::function<Result<FittedModel>(const FitJob&, const std::stop_token&)>;

/// Reads the samples and fits, in this process; it is not stopped. Errors: those of fit_campaign();
/// data_loss for samples that cannot be read.
Result<FittedModel> fit_in_process(const FitJob& job, const std::stop_token& stop);

/// Fits with optimizer/fit. Errors: failed_precondition when the samples do not suffice, saying
/// why; invalid_argument as optimizer/fit.
Result<FittedModel> fit_campaign(const FitInput& input);

/// True for a fit that fails whenever it is made again; others may have met an accident.
bool is_answer(const Error& error);

/// True if it holds no time at all: no value, or zeros alone, which no operation takes.
bool is_without_time(const experiment::SampleSeries& series);

}  // namespace stripline::server
