#include "server/core/models/fit_job.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "base/formatted.h"
#include "base/network_name.h"
#include "base/quantity.h"
#include "optimizer/campaign/next_run.h"
#include "optimizer/fit/doubts.h"
#include "optimizer/fit/fit_model.h"
#include "optimizer/fit/judge_decisions.h"
#include "optimizer/fit/judge_model.h"
#include "optimizer/fit/noise.h"
#include "optimizer/model/model_json.h"
#include "optimizer/stats/delays.h"
#include "server/core/sessions/fingerprint_rules.h"
#include "server/core/sessions/run_load.h"
#include "server/store/point_records.h"

namespace stripline::server {
namespace {

// A change of all times by more, from the first run to the last, is no noise.
constexpr double kMaxDrift = 0.1;
// With fewer, where more were asked for, an interval has no run to spare.
constexpr uint32_t kMinRunsToTrust = 8;
// The share of the planned points below which a model says little of what it was asked for.
constexpr double kLeastShareOfPoints = 0.25;

// What can be fitted. A series without values is a point that this fabric cannot measure.
bool counts(const experiment::SampleSeries& series) {
  return series.verified && !is_without_time(series);
}

bool converged(const FitInput& input) {
  return input.stop_reason == to_string(campaign::StopReason::converged);
}

// How many runs must have measured a point.
uint32_t runs_needed(const FitInput& input) {
  return input.runs < kMinRunsForIntervals ? kMinRunsForProvisional : kMinRunsForIntervals;
}

// The series of points that enough runs measured. Where runs were cut down to the coarse grid, or
// failed verification, what only some of them measured would give parameters of too few runs.
std::vector<experiment::SampleSeries> usable_series(const FitInput& input) {
  std::map<std::string, std::set<uint32_t>> runs_of_point;
  for (const auto& series : input.series) {
    if (counts(series)) runs_of_point[point_key(series.point)].insert(series.run);
  }
  std::vector<experiment::SampleSeries> usable;
  for (const auto& series : input.series) {
    if (counts(series) && runs_of_point[point_key(series.point)].size() >= runs_needed(input)) {
      usable.push_back(series);
    }
  }
  return usable;
}

// Runs whose ranks had to share processors. Only on the real clock does that delay anything.
std::vector<RunLoad> busy_runs(const FitInput& input) {
  if (input.spec.clock == "virtual") return {};
  std::vector<RunLoad> loads = loads_of_runs(input.nodes);
  std::erase_if(loads, [](const RunLoad& load) { return !load.busy(); });
  return loads;
}

// Takes out those repetitions of busy runs that other work has delayed, as far as they can be
// distinguished, and returns how many. What is stored keeps them.
size_t leave_out_delayed(const std::vector<RunLoad>& busy,
                         std::vector<experiment::SampleSeries>& series) {
  size_t delayed = 0;
  for (experiment::SampleSeries& one : series) {
    if (std::ranges::find(busy, one.run, &RunLoad::run) == busy.end()) continue;
    const stats::Delays delays = stats::find_delays(one.values);
    if (delays.delayed == 0) continue;
    delayed += std::erase_if(one.values, [&](double value) { return value > delays.limit; });
  }
  return delayed;
}

void add_load(const FitInput& input, size_t delayed, std::vector<Finding>& findings) {
  const auto busy = busy_runs(input);
  if (busy.empty()) return;
  const auto worst = std::ranges::max_element(busy, {}, &RunLoad::others);
  findings.push_back({"BUSY_HOSTS", worst->node, worst->others,
                      "other work kept hosts busy in " + std::to_string(busy.size()) + " of " +
                          count_text(input.runs, "run") + ", up to " + run_load_text(*worst)});
  if (delayed == 0) return;
  findings.push_back({"DELAYED", "", static_cast<double>(delayed),
                      count_text(delayed, "sample") + " of these left out as delayed by it"});
}

// "3.5 %", "314 %"; with a sign where it is a change.
std::string percent(double share, bool is_change = false) {
  const bool is_small = std::abs(share) < 0.0995;
  const char* const pattern =
      is_change ? (is_small ? "%+.2g %%" : "%+.0f %%") : (is_small ? "%.2g %%" : "%.0f %%");
  return formatted(pattern, 100 * share);
}

// Planned points that this fabric can measure, and how many of them enough runs did measure. A
// small budget cuts runs down to a coarser grid.
struct Measured {
  size_t points = 0;
  size_t planned = 0;
};

Measured measured_points(const FitInput& input) {
  std::map<std::string, std::set<uint32_t>> runs_of;
  for (const auto& series : input.series) {
    std::set<uint32_t>& runs = runs_of[point_key(series.point)];
    if (!series.values.empty()) runs.insert(series.run);
  }
  Measured measured{.points = 0, .planned = input.planned_points};
  for (const auto& [point, runs] : runs_of) {
    if (runs.empty() && measured.planned > 0) --measured.planned;
    if (runs.size() >= runs_needed(input)) ++measured.points;
  }
  measured.planned = std::max(measured.planned, measured.points);  // some were added at breaks
  return measured;
}

std::string text_of(const Measured& measured, const FitInput& input) {
  return std::to_string(measured.points) + " of " + std::to_string(measured.planned) +
         " points measured by " + std::to_string(runs_needed(input)) + " runs or more";
}

size_t failed_verification(const FitInput& input) {
  return static_cast<size_t>(std::ranges::count_if(
      input.series, [](const auto& one) { return !one.verified && !one.values.empty(); }));
}

void add_noise(const fit::Noise& noise, std::vector<Finding>& findings) {
  if (noise.outliers > 0) {
    const double share = static_cast<double>(noise.outliers) / static_cast<double>(noise.samples);
    findings.push_back({"OUTLIERS", "", share,
                        percent(share) + " of the samples are outliers (kept: medians count)"});
  }
  if (noise.drift) {
    findings.push_back(
        {"DRIFT", "", *noise.drift,
         "times drifted by " + percent(*noise.drift, true) + " from the first run to the last"});
  }
  if (noise.between_runs) {
    findings.push_back({"BETWEEN_RUNS", "", *noise.between_runs,
                        percent(*noise.between_runs) + " of the variance lies between runs"});
  }
}

// Two nodes that took part in the same run from one host: between them there is no network.
std::string shared_host(const FitInput& input) {
  if (input.spec.clock == "virtual" || input.spec.fabric.starts_with("emulated:")) return "";
  std::map<std::pair<uint32_t, std::string>, std::string> node_of;
  for (const AttemptFacts& node : input.nodes) {
    const auto host = node.facts.find(std::string(kHostFact));
    if (host == node.facts.end()) continue;
    const auto [found, first] = node_of.emplace(std::pair(node.run.run, host->second), node.node);
    if (!first && found->second != node.node) {
      return node_name(found->second) + " and " + node_name(node.node) + " are one host";
    }
  }
  return "";
}

// Nodes of which one run saw another host than another, and how many hosts.
std::map<std::string, size_t> changed_hosts(const FitInput& input) {
  std::map<std::string, std::set<std::string>> hosts;
  for (const AttemptFacts& node : input.nodes) {
    const auto host = node.facts.find(std::string(kHostFact));
    if (host != node.facts.end()) hosts[node.node].insert(host->second);
  }
  std::map<std::string, size_t> changed;
  for (const auto& [node, seen] : hosts) {
    if (seen.size() > 1) changed[node] = seen.size();
  }
  return changed;
}

std::string provisional_reasons(const FitInput& input, const fit::Noise& noise) {
  std::vector<std::string> reasons;
  if (input.runs < kMinRunsForIntervals) {
    reasons.push_back("of " + std::to_string(input.runs) + " runs instead of " +
                      std::to_string(kMinRunsForIntervals) +
                      " or more: the time budget was used up");
  } else if (input.runs < std::min(kMinRunsToTrust, input.spec.runs) && !converged(input)) {
    reasons.push_back("of " + std::to_string(input.runs) + " of its " +
                      std::to_string(input.spec.runs) + " runs: the time budget was used up");
  }
  const Measured measured = measured_points(input);
  if (static_cast<double>(measured.points) <
      kLeastShareOfPoints * static_cast<double>(measured.planned)) {
    reasons.push_back(text_of(measured, input) + ": the time budget was too small for the others");
  }
  if (noise.drift && std::abs(*noise.drift) > kMaxDrift) {
    reasons.push_back("times drifted by " + percent(*noise.drift, true));
  }
  if (const size_t wrong = failed_verification(input); wrong > 0) {
    reasons.push_back(count_text(wrong, "series", "series") + " failed verification");
  }
  if (auto shared = shared_host(input); !shared.empty()) reasons.push_back(std::move(shared));
  std::string text;
  for (const std::string& reason : reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

std::vector<Finding> findings_of(const FitInput& input,
                                 std::span<const experiment::SampleSeries> usable,
                                 const fit::Noise& noise, const fit::FitReport& report,
                                 const std::vector<std::string>& differing, size_t delayed) {
  size_t zero = 0;
  size_t good = 0;
  for (const auto& series : input.series) {
    if (series.verified && !series.values.empty() && is_without_time(series)) ++zero;
    if (counts(series)) ++good;
  }
  std::vector<Finding> findings;
  if (usable.size() < good) {
    const size_t left_out = good - usable.size();
    findings.push_back({"LEFT_OUT", "", static_cast<double>(left_out),
                        std::to_string(left_out) + " series left out because fewer than " +
                            std::to_string(runs_needed(input)) + " runs measured their points"});
  }
  for (const auto& [experiment, why] : input.spec.left_out) {
    findings.push_back(
        {"LEFT_OUT", experiment, 0, experiment + " was not measured to its end: " + why});
  }
  for (const auto& [node, runs] : changed_hosts(input)) {
    findings.push_back({"HOST_CHANGED", node_name(node), static_cast<double>(runs),
                        node_name(node) + " was on " + std::to_string(runs) +
                            " hosts in these runs, or its host was restarted between them"});
  }
  if (const size_t wrong = failed_verification(input); wrong > 0) {
    findings.push_back({"UNVERIFIED", "", static_cast<double>(wrong),
                        std::to_string(wrong) + " series failed verification"});
  }
  if (zero > 0) {
    findings.push_back({"NO_TIME", "", static_cast<double>(zero),
                        count_text(zero, "series", "series") + " left out that took no time"});
  }
  add_load(input, delayed, findings);
  add_noise(noise, findings);
  for (const std::string& note : report.notes) findings.push_back({"NOT_FITTED", "", 0, note});
  for (const auto& [operation, fit] : report.operations) {
    for (const std::string& note : fit.notes) {
      findings.push_back({"NOT_FITTED", operation, 0, operation + ": " + note});
    }
  }
  if (!differing.empty()) {
    std::string fields;
    for (const std::string& field : differing) fields += (fields.empty() ? "" : " ") + field;
    findings.push_back({"NODES_DIFFER", fields, static_cast<double>(differing.size()),
                        "the nodes differ in " + fields});
  }
  return findings;
}

std::string summarize(const FitInput& input, const std::vector<Finding>& findings) {
  const CampaignSpec& spec = input.spec;
  uint64_t samples = 0;
  for (const auto& series : input.series) samples += series.values.size();
  std::string text = std::to_string(input.runs) + " runs, " + std::to_string(samples) +
                     " samples, " +
                     (spec.effort == Effort::full ? "FULL" : "BUDGETED (pruned grid)");
  if (input.planned_points > 0) text += ", " + text_of(measured_points(input), input);
  if (input.runs < spec.runs) {
    text += (converged(input) ? ", CONVERGED after " : ", stopped by TIME_BUDGET after ") +
            std::to_string(input.runs) + " of " + std::to_string(spec.runs) + " runs";
  }
  for (const Finding& finding : findings) text.append("; ").append(finding.message);
  return text;
}

// How a fit to three quarters of the points does on the others, where a campaign has measured
// nothing to judge its model by. The model that is published is fitted to all of them.
std::optional<fit::Judgement> judge_second_fit(std::span<const experiment::SampleSeries> series,
                                               const fit::FitRequest& request) {
  const fit::HeldOut parts = fit::hold_out(series);
  if (parts.held_out.empty()) return std::nullopt;
  const auto fitted = fit::fit_model(parts.fitted, request);
  if (!fitted.ok()) return std::nullopt;
  return fit::judge_model(fitted->model, parts.held_out, request.max_ranks);
}

}  // namespace

bool is_answer(const Error& error) {
  return error.code() == ErrorCode::failed_precondition ||
         error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::data_loss;
}

bool is_without_time(const experiment::SampleSeries& series) {
  return std::ranges::all_of(series.values, [](double value) { return value == 0; });
}

Result<FittedModel> fit_in_process(const FitJob& job, const std::stop_token& /*stop*/) {
  FitInput input = job.input;
  for (const FitBatch& batch : job.batches) {
    STRIPLINE_ASSIGN_OR_RETURN(auto series, series_of_batch(batch.data));
    for (auto& one : series) {
      one.run += batch.first_run;
      input.series.push_back(std::move(one));
    }
  }
  return fit_campaign(input);
}

Result<FittedModel> fit_campaign(const FitInput& input) {
  const CampaignSpec& spec = input.spec;
  MeasuredFacts facts;
  for (const AttemptFacts& node : input.nodes) {
    facts[node_name(node.node) + " in run " + std::to_string(node.run.run)] = node.facts;
  }
  STRIPLINE_ASSIGN_OR_RETURN(JoinedFingerprint joined,
                             join_fingerprints(facts, network_name(spec.fabric), spec.clock));
  auto series = usable_series(input);
  const size_t delayed = leave_out_delayed(busy_runs(input), series);
  const fit::Noise noise = fit::judge_noise(series);
  fit::FitRequest request;
  request.name = *parse_model_name(spec.model);
  for (const int64_t one : input.campaigns) request.campaigns.push_back(campaign_name(one));
  request.fitted_at = input.fitted_at;
  request.fingerprint = std::move(joined.fingerprint);
  request.min_ranks = std::min<uint32_t>(2, spec.ranks);
  request.max_ranks = spec.ranks;
  request.provisional = provisional_reasons(input, noise);
  const fit::HeldOutSeries parts = fit::take_held_out(series, input.seeds, spec.ranks);
  STRIPLINE_ASSIGN_OR_RETURN(fit::Fit fitted, fit::fit_model(parts.fitted, request));
  fit::fit_doubts(parts.judged, request.options.confidence, fitted.model);
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, model::to_json(fitted.model));
  FittedModel result;
  STRIPLINE_ASSIGN_OR_RETURN(result.sha256, get_string(json, "sha256", "model"));
  result.content = json.dump(2) + "\n";
  result.provisional = request.provisional;
  result.findings = findings_of(input, series, noise, fitted.report, joined.differing, delayed);
  result.summary = summarize(input, result.findings);
  if (parts.judged.empty()) {
    result.judgement = judge_second_fit(parts.fitted, request);
  } else {
    result.judgement = fit::summed_up(fit::judge_held_out(fitted.model, parts.judged, spec.ranks));
  }
  return result;
}

}  // namespace stripline::server
