#include "server/core/models/sentinels.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <spdlog/spdlog.h>

#include "base/enum_names.h"
#include "base/network_name.h"
#include "optimizer/experiment/catalogue.h"
#include "optimizer/experiment/tuning.h"
#include "optimizer/fit/sentinels.h"
#include "server/core/models/model_actions.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/settings_version.h"
#include "stripline/v1/models.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kModelsPerPage = 100;
constexpr uint32_t kSentinelRuns = 2;
constexpr double kSentinelBudgetS = 60;
// A second reading tells an accident from a network that has changed.
constexpr double kSecondLook = 0.1;
// Lines that are not said again; what goes wrong for good is a handful.
constexpr size_t kMaxSaid = 100;

CampaignSpec group_of(const std::optional<CampaignRecord>& fitted_to, const std::string& fabric) {
  CampaignSpec spec;
  if (fitted_to) spec = fitted_to->spec;
  // Measured as it was then: options of runs stay.
  if (experiment::fabric_of_model(network_name(spec.fabric)) != network_name(fabric)) {
    const auto target = experiment::target_of_settings(fabric);
    spec.fabric = target.empty() ? fabric : experiment::tuning_fabric(target);
  }
  return spec;
}

v1::CheckModelVersionRequest check_request(const VersionKey& key, int64_t campaign, bool rollback) {
  v1::CheckModelVersionRequest request;
  request.set_name(version_name(key));
  request.set_campaign(campaign_name(campaign));
  request.set_rollback(rollback);
  return request;
}

v1::PromoteModelVersionRequest promotion(const VersionKey& key, std::string_view label) {
  v1::PromoteModelVersionRequest request;
  request.set_name(version_name(key));
  request.set_label(std::string(label));
  return request;
}

}  // namespace

std::optional<StalePolicy> stale_policy_from_string(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames = {"keep", "rollback", "replace"};
  return enum_named<StalePolicy>(kNames, name);
}

CampaignSpec sentinel_spec(const std::optional<CampaignRecord>& fitted_to,
                           const std::string& fabric) {
  CampaignSpec spec = group_of(fitted_to, fabric);
  spec.effort = Effort::budgeted;
  spec.experiments.clear();
  for (const std::string& name : fit::sentinel_experiments()) {
    const bool is_first = spec.experiments.empty();
    if (is_first || (fitted_to && fitted_to->requirements.contains(name))) {
      spec.experiments.push_back(name);
    }
  }
  spec.runs = kSentinelRuns;
  spec.width = 0;
  for (const auto budget : campaign::spec_budgets()) spec.*budget = 0;
  spec.time_budget_s = kSentinelBudgetS;
  spec.model.clear();
  return spec;
}

CampaignSpec settings_check_spec(const CampaignRecord& tuned, const std::vector<std::string>& nodes,
                                 const VersionKey& key) {
  CampaignSpec spec = tuned.spec;
  spec.verifies = version_name(key);
  spec.only_nodes = nodes;
  spec.model.clear();
  spec.left_out.clear();
  for (const auto budget : campaign::spec_budgets()) spec.*budget = 0;
  return spec;
}

CampaignSpec replacement_spec(const std::optional<CampaignRecord>& fitted_to,
                              const std::string& fabric, const std::string& model) {
  CampaignSpec spec = group_of(fitted_to, fabric);
  spec.model = model_name(model);
  return spec;
}

double sentinels_due_unix_s(const ModelVersionRecord& version, double stable_since_unix_s,
                            double interval_s) {
  if (version.checks.empty()) return stable_since_unix_s + interval_s;
  const CheckRecord& last = version.checks.back();
  const double pause_s = is_off(last.reading) ? kSecondLook * interval_s : interval_s;
  return std::max(stable_since_unix_s, last.time_unix_s) + pause_s;
}

double Sentinels::pause_s(const SentinelOptions& options) {
  return options.interval_s > 0 ? std::clamp(kSecondLook * options.interval_s, 0.1, 10.0) : 10;
}

Status Sentinels::tend(double now_unix_s) {
  std::string after;
  while (true) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto models, store_.models(after, kModelsPerPage));
    for (const ModelRecord& model : models) {
      const Status tended = tend_model(model, now_unix_s);
      if (!tended.ok()) {
        say_once("cannot look after " + model_name(model.name) + ": " + tended.error().message());
      }
      after = model.name;
    }
    if (models.size() < kModelsPerPage) return {};
  }
}

Status Sentinels::tend_model(const ModelRecord& model, double now_unix_s) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store_.labels(model.name));
  const LabelRecord* const stable = current_of(moves, kStableLabel);
  if (stable != nullptr) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto version, store_.model_version(stable->key));
    const bool is_stale = version && !version->stale.empty();
    // It was found stale by a person, or while the policy was to keep it.
    if (is_stale && options_.policy != StalePolicy::keep) {
      const auto retired = retire_stale(coordinator_, store_, stable->key, std::string(kActor));
      if (!retired) say_once(retired.problem().message);
      return {};
    }
    const bool is_fit = version && version->withdrawn.empty() && !is_stale;
    bool has_changed = false;
    if (is_fit && holds_settings(model.fabric)) {
      STRIPLINE_ASSIGN_OR_RETURN(has_changed, look_at_target(model, *version));
    }
    if (is_fit && !has_changed && options_.interval_s > 0) {
      STRIPLINE_RETURN_IF_ERROR(measure(model, *version, stable->time_unix_s, now_unix_s));
    }
  }
  if (options_.policy != StalePolicy::replace) return {};
  return replace(model, moves);
}

// The request's name tells a server that starts again which campaign it was. Names of requests by
// others are theirs, whatever they are.
Status Sentinels::measure(const ModelRecord& model, const ModelVersionRecord& version,
                          double stable_since_unix_s, double now_unix_s) {
  const std::string name = version_name(version.key);
  Attempt& attempt = attempts_[name];
  const std::string request = name + "/sentinels/" + std::to_string(version.checks.size()) + "-" +
                              std::to_string(attempt.number);
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign,
                             store_.campaign_of_request(std::string(kActor), request));
  if (campaign && !is_final(campaign->state)) return {};
  if (campaign && campaign->state == CampaignState::succeeded) {
    // What could not be judged is not judged again.
    attempt = {attempt.number + 1, now_unix_s + options_.interval_s};
    return judge(version, *campaign);
  }
  if (campaign) {
    say_once("the sentinels of " + name + " could not be measured: " +
             campaign_name(campaign->number) + ": " + campaign->message);
    attempt = {attempt.number + 1, now_unix_s + options_.interval_s};
    return {};
  }
  const double due_unix_s = sentinels_due_unix_s(version, stable_since_unix_s, options_.interval_s);
  if (now_unix_s < std::max(due_unix_s, attempt.not_before_unix_s) || !coordinator_.idle()) {
    return {};
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto spec, check_spec(model, version));
  if (!spec) return {};
  const auto created =
      coordinator_.planning().create_campaign(*spec, request, false, std::string(kActor));
  if (!created) {
    say_once("the sentinels of " + name + " cannot be measured: " + created.problem().message);
    attempt.not_before_unix_s = now_unix_s + kSecondLook * options_.interval_s;
  }
  return {};
}

Status Sentinels::judge(const ModelVersionRecord& version, const CampaignRecord& campaign) {
  const auto checked =
      check_model(coordinator_, store_,
                  check_request(version.key, campaign.number, options_.policy != StalePolicy::keep),
                  std::string(kActor));
  if (!checked) {
    say_once("the sentinels of " + version_name(version.key) +
             " cannot be judged: " + checked.problem().message);
    return {};
  }
  attempts_.erase(version_name(version.key));
  return {};
}

Result<std::vector<AttemptFacts>> Sentinels::finished_attempts(const CampaignRecord& campaign) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store_.runs(campaign.number));
  std::vector<AttemptFacts> all;
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    STRIPLINE_ASSIGN_OR_RETURN(auto nodes, store_.attempt_facts(run.key, run.fence));
    std::ranges::move(nodes, std::back_inserter(all));
  }
  return all;
}

// By what the agents of nodes have said of them since they were tuned there.
Result<bool> Sentinels::look_at_target(const ModelRecord& model,
                                       const ModelVersionRecord& version) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, fitted_to(version));
  if (!campaign) return false;
  const auto target = experiment::target_of_settings(model.fabric);
  STRIPLINE_ASSIGN_OR_RETURN(const auto attempts, finished_attempts(*campaign));
  for (const AttemptFacts& then : attempts) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto now, store_.node(then.node));
    const std::string change = now ? target_change(target, then.facts, now->fingerprint) : "";
    if (change.empty()) continue;
    const auto marked =
        mark_stale(coordinator_, store_, version.key, "on " + node_name(then.node) + " " + change,
                   options_.policy != StalePolicy::keep, std::string(kActor));
    if (!marked) say_once(marked.problem().message);
    return true;
  }
  return false;
}

// Settings that were imported were not tuned on a node of this server.
Result<std::optional<CampaignSpec>> Sentinels::check_spec(const ModelRecord& model,
                                                          const ModelVersionRecord& version) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto first, fitted_to(version));
  if (!holds_settings(model.fabric)) return std::optional(sentinel_spec(first, model.fabric));
  if (!first) return std::optional<CampaignSpec>();
  STRIPLINE_ASSIGN_OR_RETURN(const auto attempts, finished_attempts(*first));
  std::vector<std::string> nodes;
  for (const AttemptFacts& one : attempts) nodes.push_back(node_name(one.node));
  if (nodes.empty()) return std::optional<CampaignSpec>();
  return std::optional(settings_check_spec(*first, nodes, version.key));
}

// Measures a model again: the newest version that became stale while it was stable, if no newer one
// is stable.
Status Sentinels::replace(const ModelRecord& model, const std::vector<LabelRecord>& moves) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions,
                             store_.model_versions(model.name, 0, kModelsPerPage));
  const auto stale = std::ranges::find(versions, true, &ModelVersionRecord::stale_in_use);
  const LabelRecord* const stable = current_of(moves, kStableLabel);
  if (stale == versions.end() || (stable != nullptr && stable->key.version > stale->key.version)) {
    return {};
  }
  const std::string request = version_name(stale->key) + "/replacement";
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign,
                             store_.campaign_of_request(std::string(kActor), request));
  if (!campaign) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto first, fitted_to(*stale));
    const auto created = coordinator_.planning().create_campaign(
        replacement_spec(first, model.fabric, model.name), request, false, std::string(kActor));
    if (created) {
      spdlog::info("{} is to replace {}, which is stale", created->name, version_name(stale->key));
    } else {
      say_once(version_name(stale->key) +
               " is stale and cannot be measured again: " + created.problem().message);
    }
    return {};
  }
  if (!is_final(campaign->state)) return {};
  const auto key = parse_version_name(campaign->model_version);
  if (key) return introduce(model, *key, moves);
  say_once(version_name(stale->key) + " is stale and not replaced: " +
           campaign_name(campaign->number) + ": " + campaign->message);
  return {};
}

// Canary first. What does not pass the gate, or a node rejects, stays where it is; so does what a
// person has taken back, or made canary himself: he knows why.
Status Sentinels::introduce(const ModelRecord& model, const VersionKey& key,
                            const std::vector<LabelRecord>& moves) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, store_.model_version(key));
  if (!version || !version->withdrawn.empty() || !version->stale.empty()) return {};
  if (version->was_stable) return {};
  const LabelRecord* const canary = current_of(moves, kCanaryLabel);
  if (canary != nullptr && canary->key == key && canary->actor == kActor) {
    const auto settled =
        promote_model(coordinator_, store_, promotion(key, kStableLabel), std::string(kActor));
    if (!settled) say_once(settled.problem().message);
    return {};
  }
  if (version->was_canary) return {};
  if (coordinator_.sessions().nodes_for_models(model.fabric).empty()) {
    say_once(version_name(key) + " replaces a stale version once an agent is there to try it");
    return {};
  }
  const auto promoted =
      promote_model(coordinator_, store_, promotion(key, kCanaryLabel), std::string(kActor));
  if (!promoted) say_once(promoted.problem().message);
  return {};
}

Result<std::optional<CampaignRecord>> Sentinels::fitted_to(const ModelVersionRecord& version) {
  if (version.campaigns.empty()) return std::optional<CampaignRecord>();
  const auto number = parse_campaign_name(version.campaigns.front());
  if (!number) return std::optional<CampaignRecord>();
  return store_.campaign(*number);
}

void Sentinels::say_once(const std::string& text) {
  if (said_.size() >= kMaxSaid) said_.clear();
  if (said_.insert(text).second) spdlog::warn("{}", text);
}

}  // namespace stripline::server
