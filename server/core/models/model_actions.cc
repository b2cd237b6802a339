#include "server/core/models/model_actions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "base/network_name.h"
#include "base/packed_export.h"
#include "optimizer/experiment/tuning.h"
#include "optimizer/model/model_json.h"
#include "server/clock.h"
#include "server/core/models/feedback.h"
#include "server/core/models/heed_losses.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/published_model.h"
#include "server/core/models/settings_version.h"
#include "server/core/models/validation_job.h"
#include "server/core/reads.h"
#include "server/core/wire.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxReasonBytes = 1000;

// Stores the step, says so in the log and in the audit trail, and answers with the version as it is
// then.
Answer<v1::ModelVersion> applied(Store& store, Changes changes, const VersionKey& key,
                                 const std::string& actor, const std::string& action,
                                 const std::string& outcome) {
  const std::string name = version_name(key);
  changes.audit.push_back({0, unix_seconds(), actor, action, name});
  if (const Status stored = store.apply(changes); !stored.ok()) return stored.error();
  spdlog::info("{} {}", name, outcome);
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, name));
  return to_wire(version);
}

Problem no_label(const std::string& field, const std::string& label) {
  return invalid_field(field, "'" + label + "' is not a label; there are 'stable' and 'canary'");
}

Answer<std::optional<ModelVersionRecord>> labelled(Store& store,
                                                   const std::vector<LabelRecord>& moves,
                                                   std::string_view label) {
  const LabelRecord* const current = current_of(moves, label);
  if (current == nullptr) return std::optional<ModelVersionRecord>();
  STRIPLINE_ASSIGN_OR_RETURN(auto version, store.model_version(current->key));
  return version;
}

Problem gate_problem(const VersionKey& key, const std::string& label, const std::string& why) {
  const std::string name = version_name(key);
  return {ErrorCode::failed_precondition,
          "GATE",
          "'" + name + "' does not become " + label + ": " + why,
          {{"name", name}}};
}

// Says if a version is compared with the stable one on the same problems, for which samples are
// read.
enum class Comparing { no, yes };

// Why a version does not get the label after these moves: by the gate, and for all nodes by what
// those that have tried it answered. `unjudged_reason`: GateQuestion's.
Answer<std::optional<std::string>> refusal_after(Coordinator& coordinator, Store& store,
                                                 const ModelVersionRecord& version,
                                                 const std::string& label,
                                                 const std::vector<LabelRecord>& moves,
                                                 const std::string& unjudged_reason,
                                                 Comparing comparing) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto stable, labelled(store, moves, kStableLabel));
  // Settings are compared with the target's default ones, on nodes that may be different ones.
  const bool predicts = !version.validation || !version.validation->judgement.settings;
  GateQuestion question{label, stable, {}, unjudged_reason};
  if (comparing == Comparing::yes && predicts && stable && !(stable->key == version.key)) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto beside, compare_versions(store, version, *stable));
    question.beside_stable = beside;
  }
  auto refused = gate_refusal(version, question);
  if (refused || label != kStableLabel) return refused;
  const LabelRecord* const canary = current_of(moves, kCanaryLabel);
  return rollout_refusal(
      canary != nullptr && canary->key == version.key ? std::optional(*canary) : std::nullopt,
      coordinator.models().answers_to(version.key));
}

// The nodes that try a version: those of the request, else the usual ones.
Answer<std::vector<std::string>> canaries_of(Coordinator& coordinator, Store& store,
                                             const v1::PromoteModelVersionRequest& request,
                                             const std::string& model) {
  std::vector<std::string> nodes;
  if (request.label() != kCanaryLabel) {
    if (request.nodes().empty()) return nodes;
    return invalid_field("nodes", "only 'canary' is tried on some nodes first");
  }
  for (const std::string& name : request.nodes()) {
    const auto segment = parse_node_name(name);
    if (!segment) return invalid_field("nodes", "'" + name + "' is not of the form nodes/NAME");
    STRIPLINE_RETURN_IF_ERROR(coordinator.fleet().node(*segment));
    nodes.push_back(*segment);
  }
  if (!nodes.empty()) return nodes;
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, store.model(model));
  return usual_canaries(coordinator.sessions().nodes_for_models(record->fabric));
}

}  // namespace

Answer<v1::ModelVersion> validate_model(Store& store,
                                        const v1::ValidateModelVersionRequest& request,
                                        const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, request.name()));
  if (request.campaigns().empty()) {
    return invalid_field("campaigns", "name one or more whose points judge the version");
  }
  std::vector<int64_t> campaigns;
  for (const std::string& name : request.campaigns()) {
    const auto number = parse_campaign_name(name);
    if (!number) {
      return invalid_field("campaigns", "'" + name + "' is not of the form campaigns/cNUMBER");
    }
    campaigns.push_back(*number);
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, validate_version(store, version, campaigns));
  Changes changes;
  changes.validations.push_back(record);
  note_verdict(changes, version.key, verdict_on(record.judgement), record.time_unix_s);
  return applied(store, std::move(changes), version.key, actor, "validate model version",
                 "was judged: " + figures_text(record.judgement));
}

Answer<std::optional<std::string>> label_refusal(Coordinator& coordinator, Store& store,
                                                 const ModelVersionRecord& version,
                                                 const std::string& label) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(version.key.model));
  return refusal_after(coordinator, store, version, label, moves, "", Comparing::no);
}

namespace {

// All moves of a label, the last one first: without them it names nothing.
std::vector<LabelRecord> all_moves(const std::vector<LabelRecord>& moves, std::string_view label) {
  std::vector<LabelRecord> back;
  for (const LabelRecord& move : moves) {
    if (move.label == label) back.insert(back.begin(), move);
  }
  return back;
}

// What takes back the moves of a label since the last version before the present one that may be
// used, the last one first. All of them where there is none and the label `may_end`; else none.
Answer<std::vector<LabelRecord>> taken_back(Store& store, const std::vector<LabelRecord>& moves,
                                            std::string_view label, bool may_end) {
  std::vector<VersionKey> unfit;
  for (const LabelRecord& move : moves) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto version, store.model_version(move.key));
    if (version && (!version->withdrawn.empty() || !version->stale.empty())) {
      unfit.push_back(move.key);
    }
  }
  std::vector<LabelRecord> back = rolled_back(moves, label, unfit);
  if (!back.empty() || !may_end) return back;
  return all_moves(moves, label);
}

}  // namespace

Answer<v1::ModelVersion> promote_model(Coordinator& coordinator, Store& store,
                                       const v1::PromoteModelVersionRequest& request,
                                       const std::string& actor) {
  if (!is_label(request.label())) return no_label("label", request.label());
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, request.name()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(version.key.model));
  if (request.unjudged_reason().size() > kMaxReasonBytes) {
    return invalid_field("unjudged_reason",
                         "at most " + std::to_string(kMaxReasonBytes) + " bytes are taken");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto refused,
                             refusal_after(coordinator, store, version, request.label(), moves,
                                           request.unjudged_reason(), Comparing::yes));
  if (refused) return gate_problem(version.key, request.label(), *refused);
  STRIPLINE_ASSIGN_OR_RETURN(const auto nodes,
                             canaries_of(coordinator, store, request, version.key.model));
  const LabelRecord* const current = current_of(moves, request.label());
  const bool is_named =
      current != nullptr && current->key == version.key && current->nodes == nodes;
  const LabelRecord* const canary = current_of(moves, kCanaryLabel);
  const bool ends_trial =
      request.label() == kStableLabel && canary != nullptr && canary->key == version.key;
  if (is_named && !ends_trial) {
    coordinator.offer_models();  // to those that have rejected it
    return to_wire(version);
  }
  Changes changes;
  if (!is_named) {
    changes.labels.push_back({version.key, request.label(),
                              current == nullptr ? 1 : current->place + 1, actor, unix_seconds(),
                              nodes});
  }
  if (ends_trial) {
    // Not what was tried before either: this version has taken its place.
    changes.unlabelled = all_moves(moves, kCanaryLabel);
    changes.audit.push_back(
        {0, unix_seconds(), actor, "roll back canary", version_name(version.key)});
  }
  // A reason that was not needed is none.
  const bool is_unjudged = verdict_of(version.validation).verdict == Verdict::unjudged;
  const std::string unjudged =
      is_unjudged ? ", though nothing has judged it: " + request.unjudged_reason() : "";
  auto promoted = applied(store, std::move(changes), version.key, actor,
                          "promote model version to " + request.label() + unjudged,
                          "is " + request.label() + " now" + unjudged);
  if (promoted) coordinator.offer_models();
  return promoted;
}

namespace {

// `changes` are stored in the same step. A label that `may_end` names nothing where there is no
// version to go back to.
Answer<v1::ModelVersion> roll_back(Coordinator& coordinator, Store& store, const std::string& model,
                                   const std::string& label, bool may_end, const std::string& actor,
                                   Changes changes = {}) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(model));
  STRIPLINE_ASSIGN_OR_RETURN(auto back, taken_back(store, moves, label, may_end));
  if (back.empty()) {
    const std::string name = model_name(model) + "/labels/" + label;
    return Problem{ErrorCode::failed_precondition,
                   "NO_EARLIER_VERSION",
                   "'" + name +
                       "' named no version before the present one that could be used; "
                       "'stripline model promote' names another",
                   {{"name", name}}};
  }
  std::optional<VersionKey> left;
  for (const LabelRecord& move : moves) {
    if (move.label == label && move.place < back.back().place) left = move.key;
  }
  const VersionKey key = left.value_or(back.front().key);
  changes.unlabelled = std::move(back);
  auto rolled = applied(store, std::move(changes), key, actor, "roll back " + label,
                        "is " + label + (left ? " again" : " no more"));
  if (rolled) coordinator.offer_models();
  return rolled;
}

}  // namespace

Answer<v1::ModelVersion> retire_stale(Coordinator& coordinator, Store& store,
                                      const VersionKey& stale, const std::string& actor) {
  Changes changes;
  changes.staled_in_use.push_back({stale, "", unix_seconds()});
  return roll_back(coordinator, store, stale.model, std::string(kStableLabel), true, actor,
                   std::move(changes));
}

Answer<v1::ModelVersion> mark_stale(Coordinator& coordinator, Store& store, const VersionKey& key,
                                    const std::string& reason, bool rollback,
                                    const std::string& actor) {
  constexpr const char* kAction = "mark model version as stale";
  Changes changes;
  changes.staled.push_back({key, reason, unix_seconds()});
  changes.staled_in_use = changes.staled;
  if (!rollback) {
    auto marked = applied(store, std::move(changes), key, actor, kAction, "is stale: " + reason);
    if (marked) coordinator.offer_models();
    return marked;
  }
  changes.audit.push_back({0, unix_seconds(), actor, kAction, version_name(key)});
  spdlog::info("{} is stale: {}", version_name(key), reason);
  return roll_back(coordinator, store, key.model, std::string(kStableLabel), true, actor,
                   std::move(changes));
}

Answer<v1::ModelVersion> retire_lost(Coordinator& coordinator, Store& store,
                                     const LabelRecord& label, Changes changes) {
  if (label.label == kStableLabel) changes.staled_in_use.push_back({label.key, "", unix_seconds()});
  return roll_back(coordinator, store, label.key.model, label.label, true, "server",
                   std::move(changes));
}

Answer<v1::ModelVersion> rollback_label(Coordinator& coordinator, Store& store,
                                        const v1::RollbackModelLabelRequest& request,
                                        const std::string& actor) {
  const auto named = parse_label_name(request.name());
  if (!named || !is_label(named->second)) {
    return invalid_field("name", "'" + request.name() +
                                     "' is not of the form models/NAME/labels/stable or "
                                     "models/NAME/labels/canary");
  }
  const auto& [model, label] = *named;
  STRIPLINE_RETURN_IF_ERROR(find_model(store, model_name(model)));
  return roll_back(coordinator, store, model, label, label == kCanaryLabel, actor);
}

namespace {

// What is imported, to become a version of a model of this name, unless another one is named.
struct Imported {
  std::string name;
  std::string network;
  FittedModel version;
};

Answer<Imported> imported_model(const std::string& content) {
  if (is_packed_export(content)) {
    auto settings = settings_version(content, "the file");
    if (!settings.ok()) return invalid_field("content", settings.error().message());
    settings->version.summary = "imported; " + settings->version.summary;
    return Imported{settings->target, experiment::settings_fabric(settings->target),
                    std::move(settings->version)};
  }
  const auto parsed = model::parse_model(content, "the file");
  if (!parsed.ok()) return invalid_field("content", parsed.error().message());
  const auto fabric = parsed->fingerprint.find("fabric");
  if (fabric == parsed->fingerprint.end() || fabric->second.value == "*") {
    return invalid_field("content", "the model does not say which fabric it describes");
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto sha256, model::content_sha256(*parsed));
  return Imported{parsed->name, network_name(fabric->second.value),
                  FittedModel{.content = content,
                              .sha256 = std::move(sha256),
                              .summary = "imported; fitted at " + parsed->provenance.fitted_at +
                                         " by " + parsed->provenance.fitter_version,
                              .provisional = parsed->provenance.provisional}};
}

}  // namespace

Answer<v1::ModelVersion> import_model(Store& store, const v1::ImportModelVersionRequest& request,
                                      const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto imported, imported_model(request.content()));
  const std::string& network = imported.network;
  const auto name = request.parent().empty() ? std::optional(to_segment(imported.name))
                                             : parse_model_name(request.parent());
  if (!name) {
    return invalid_field("parent", "'" + request.parent() + "' is not of the form models/NAME");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store.model(*name));
  if (existing && network_name(existing->fabric) != network) {
    return Problem{ErrorCode::failed_precondition,
                   "OTHER_FABRIC",
                   "'" + model_name(*name) + "' describes fabric '" + existing->fabric +
                       "', the file '" + network + "'; name another model",
                   {{"name", model_name(*name)}}};
  }
  const VersionKey key{*name, existing ? existing->last_number + 1 : 1};
  Changes changes;
  add_version(changes, key, network, imported.version, {}, unix_seconds());
  return applied(store, std::move(changes), key, actor, "import model version", "was imported");
}

Answer<v1::ModelVersion> withdraw_model(Coordinator& coordinator, Store& store,
                                        const v1::WithdrawModelVersionRequest& request,
                                        const std::string& actor) {
  const auto key = parse_version_name(request.name());
  if (!key || key->version == 0) {
    return invalid_field("name",
                         "'" + request.name() + "' is not of the form models/NAME/versions/NUMBER");
  }
  if (request.reason().empty() || request.reason().size() > kMaxReasonBytes) {
    return invalid_field(
        "reason", "1 to " + std::to_string(kMaxReasonBytes) + " bytes that say why are needed");
  }
  STRIPLINE_RETURN_IF_ERROR(find_version(store, request.name()));
  Changes changes;
  changes.withdrawals.push_back({*key, request.reason(), unix_seconds()});
  auto withdrawn = applied(store, std::move(changes), *key, actor, "withdraw model version",
                           "is withdrawn: " + request.reason());
  if (withdrawn) coordinator.offer_models();
  return withdrawn;
}

Answer<v1::ModelVersion> check_model(Coordinator& coordinator, Store& store,
                                     const v1::CheckModelVersionRequest& request,
                                     const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, request.name()));
  const auto campaign = parse_campaign_name(request.campaign());
  if (!campaign) {
    return invalid_field("campaign",
                         "'" + request.campaign() + "' is not of the form campaigns/cNUMBER");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto check, check_version(store, version, *campaign));
  std::vector<CheckRecord> checks = version.checks;
  std::erase_if(checks, [&](const CheckRecord& one) { return one.campaign == check.campaign; });
  checks.push_back(check);
  const bool of_settings = version.validation && version.validation->judgement.settings;
  const auto stale = version.stale.empty() ? staleness(checks, of_settings) : std::nullopt;
  const bool is_stable = std::ranges::find(version.labels, kStableLabel) != version.labels.end();
  Changes changes;
  changes.checks.push_back(check);
  if (stale) changes.staled.push_back({version.key, *stale, check.time_unix_s});
  if (stale && is_stable) changes.staled_in_use = changes.staled;
  const std::string action = stale ? "mark model version as stale" : "check model version";
  const std::string outcome =
      stale ? "is stale: " + *stale
      : of_settings
          ? (is_off(check.reading) ? "does not hold by " : "holds by ") + check.campaign
          : std::to_string(check.reading.outside) + " of " + std::to_string(check.reading.points) +
                " sentinels lie outside its intervals";
  if (!stale || !is_stable || !request.rollback()) {
    auto checked = applied(store, std::move(changes), version.key, actor, action, outcome);
    if (stale) coordinator.offer_models();
    return checked;
  }
  // Both in one step: a server that ends in between would leave it stable.
  changes.audit.push_back({0, unix_seconds(), actor, action, version_name(version.key)});
  STRIPLINE_RETURN_IF_ERROR(roll_back(coordinator, store, version.key.model,
                                      std::string(kStableLabel), true, actor, std::move(changes)));
  spdlog::info("{} {}", version_name(version.key), outcome);
  STRIPLINE_ASSIGN_OR_RETURN(const auto now, find_version(store, version_name(version.key)));
  return to_wire(now);
}

Answer<v1::SendFeedbackResponse> send_feedback(Coordinator& coordinator, Store& store,
                                               const v1::SendFeedbackRequest& request,
                                               const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, take_feedback(store, request.content(), actor));
  STRIPLINE_RETURN_IF_ERROR(heed_losses(coordinator, store, version));
  v1::SendFeedbackResponse response;
  response.set_version(version_name(version));
  return response;
}

}  // namespace stripline::server
