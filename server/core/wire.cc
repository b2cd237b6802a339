#include "server/core/wire.h"

#include <algorithm>

#include "optimizer/experiment/json.h"
#include "proto/campaign_messages.h"
#include "server/clock.h"
#include "server/core/models/model_gate.h"

namespace stripline::server {
namespace {

template <typename Range, typename Repeated>
void copy_to(const Range& range, Repeated* repeated) {
  for (const auto& value : range) *repeated->Add() = value;
}

// Values of parameters as text.
google::protobuf::Map<std::string, std::string> params_of(const Json& json) {
  google::protobuf::Map<std::string, std::string> params;
  for (const auto& [name, value] : json.items()) {
    params[name] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return params;
}

v1::ComparedPoint::Verdict to_wire(const std::optional<stats::Verdict>& verdict) {
  if (!verdict) return v1::ComparedPoint::INCOMPARABLE;
  switch (*verdict) {
    case stats::Verdict::faster:
      return v1::ComparedPoint::FASTER;
    case stats::Verdict::slower:
      return v1::ComparedPoint::SLOWER;
    case stats::Verdict::equivalent:
      return v1::ComparedPoint::EQUIVALENT;
    case stats::Verdict::inconclusive:
      return v1::ComparedPoint::INCONCLUSIVE;
  }
  return v1::ComparedPoint::INCONCLUSIVE;
}

}  // namespace

Result<v1::ComparedPoint> to_wire(const campaign::Comparison& of,
                                  const campaign::ComparedPoint& point) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json params, parse_json(of.params_json(point), "stored point"));
  v1::ComparedPoint message;
  message.set_experiment(of.experiment(point));
  message.set_variant(of.variant(point));
  *message.mutable_params() = params_of(params);
  message.set_verdict(to_wire(point.verdict));
  message.set_why(std::string(of.why(point)));
  message.set_baseline_runs(point.a_runs);
  message.set_candidate_runs(point.b_runs);
  if (point.a_median) message.set_baseline_median(*point.a_median);
  if (point.b_median) message.set_candidate_median(*point.b_median);
  if (point.ratio) {
    message.set_ratio(*point.ratio);
    message.set_low(point.low);
    message.set_high(point.high);
  }
  if (point.detectable) message.set_detectable(*point.detectable);
  message.set_p_value(point.p_value);
  return message;
}

v1::RunLoad to_wire(const RunLoad& load) {
  v1::RunLoad message;
  message.set_run(load.run);
  message.set_node(node_name(load.node));
  message.set_average(load.average);
  message.set_running(load.running);
  message.set_others(load.others);
  message.set_processors(load.processors);
  message.set_stolen(load.stolen);
  message.set_busy(load.busy());
  return message;
}

v1::PlannedPoint to_wire(const PointRecord& record) {
  v1::PlannedPoint message;
  message.set_place(record.place);
  message.set_experiment(record.point.experiment);
  message.set_variant(record.point.variant);
  *message.mutable_params() = params_of(experiment::to_json(record.point).at("params"));
  message.set_runs_done(record.runs);
  message.set_runs_failed(record.failed);
  message.set_samples(record.samples);
  if (record.estimate) {
    message.set_median(record.estimate->median);
    if (record.estimate->low) message.set_low(*record.estimate->low);
    if (record.estimate->high) message.set_high(*record.estimate->high);
  }
  return message;
}

v1::Campaign to_wire(const CampaignView& view) {
  v1::Campaign message;
  message.set_name(view.name);
  *message.mutable_spec() = to_message(view.spec);
  message.set_state(wire_named(v1::Campaign::State_Parse, to_string(view.state)));
  message.set_message(view.message);
  message.set_create_time(rfc3339(view.created_unix_s));
  message.set_update_time(rfc3339(view.updated_unix_s));
  message.set_points_done(view.points_done);
  message.set_points_total(view.points_total);
  message.set_runs_done(view.runs_done);
  message.set_runs_total(view.runs_total);
  message.set_seconds_left(view.seconds_left);
  message.set_model_version(view.model_version);
  message.set_samples(view.samples);
  message.set_advised_budget_s(view.advised_budget_s);
  message.set_stop_reason(view.stop_reason);
  message.set_width(view.width);
  message.set_node_s(view.node_s);
  message.set_retries(view.retries);
  message.set_owner(view.owner);
  for (const std::string& label : view.labels) message.add_labels(label);
  return message;
}

v1::CampaignEstimate to_wire(const CampaignEstimate& estimate) {
  v1::CampaignEstimate message;
  *message.mutable_spec() = to_message(estimate.spec);
  message.set_points(estimate.points);
  message.set_runs(estimate.forecast.runs);
  message.set_points_total(estimate.forecast.points);
  message.set_seconds(estimate.forecast.seconds);
  message.set_node_s(estimate.forecast.node_s);
  message.set_stop_reason(std::string(to_string(estimate.forecast.reason)));
  message.set_width(estimate.forecast.width.value_or(0));
  message.set_based_on(estimate.based_on);
  for (const Risk& risk : estimate.risks) {
    auto& added = *message.add_risks();
    added.set_kind(std::string(to_string(risk.kind)));
    added.set_message(risk.message);
  }
  for (const SampledPairs& pairs : estimate.pairs) {
    auto& added = *message.add_pairs();
    added.set_distance(pairs.distance);
    added.set_pairs(pairs.pairs);
    added.set_runs(pairs.runs);
  }
  return message;
}

v1::Node to_wire(const NodeView& view) {
  v1::Node message;
  message.set_name(node_name(view.record.name));
  const bool busy = view.installing || !view.assignment.empty();
  message.set_state(!view.connected ? v1::Node::OFFLINE : busy ? v1::Node::BUSY : v1::Node::IDLE);
  message.set_agent_version(view.record.agent_version);
  message.set_cluster(view.record.cluster);
  for (const auto& [field, value] : view.record.fingerprint) {
    (*message.mutable_fingerprint())[field] = value;
  }
  copy_to(view.record.fabrics, message.mutable_fabrics());
  copy_to(view.record.experiments, message.mutable_experiments());
  message.set_last_seen_time(rfc3339(view.record.last_seen_unix_s));
  message.set_assignment(view.assignment);
  message.set_quarantine(view.quarantine);
  for (const NodeModelView& model : view.models) {
    v1::NodeModel& added = *message.add_models();
    added.set_version(version_name(model.key));
    added.set_label(model.label);
    added.set_fabric(model.fabric);
    added.set_state(!model.answer           ? v1::NodeModel::PENDING
                    : model.answer->applied ? v1::NodeModel::APPLIED
                                            : v1::NodeModel::REJECTED);
    if (!model.answer) continue;
    added.set_reason(model.answer->applied ? model.unfit : model.answer->reason);
    added.set_time(rfc3339(model.answer->time_unix_s));
  }
  if (view.hold) {
    v1::Hold& hold = *message.mutable_hold();
    hold.set_reason(view.hold->reason);
    hold.set_actor(view.hold->actor);
    hold.set_time(rfc3339(view.hold->since_unix_s));
    if (view.hold->deadline_unix_s != 0) hold.set_deadline(rfc3339(view.hold->deadline_unix_s));
  }
  return message;
}

v1::Model to_wire(const ModelRecord& record) {
  v1::Model message;
  message.set_name(model_name(record.name));
  message.set_fabric(record.fabric);
  if (record.latest_version > 0) {
    message.set_latest_version(version_name({record.name, record.latest_version}));
  }
  message.set_create_time(rfc3339(record.created_unix_s));
  return message;
}

namespace {

v1::ModelVersion::State to_wire(VersionState state) {
  switch (state) {
    case VersionState::fitted:
      return v1::ModelVersion::FITTED;
    case VersionState::failed:
      return v1::ModelVersion::FAILED;
    case VersionState::validated:
      return v1::ModelVersion::VALIDATED;
    case VersionState::published:
      return v1::ModelVersion::PUBLISHED;
    case VersionState::stale:
      return v1::ModelVersion::STALE;
    case VersionState::deprecated:
      return v1::ModelVersion::DEPRECATED;
  }
  return v1::ModelVersion::STATE_UNSPECIFIED;
}

v1::Validation to_wire(const ValidationRecord& record) {
  v1::Validation message;
  message.set_time(rfc3339(record.time_unix_s));
  copy_to(record.campaigns, message.mutable_campaigns());
  message.set_points(record.judgement.points);
  message.set_mean_error(record.judgement.mean_error);
  message.set_largest_error(record.judgement.largest_error);
  message.set_choices(record.judgement.choices);
  message.set_mean_regret(record.judgement.mean_regret);
  message.set_worst_regret(record.judgement.worst_regret);
  for (const fit::TimesJudgement& kind : record.judgement.times) {
    v1::Validation::Times& added = *message.add_times();
    added.set_kind(kind.kind);
    added.set_points(kind.points);
    added.set_mean_error(kind.mean_error);
  }
  message.set_missed(record.judgement.missed);
  for (const fit::KindJudgement& kind : record.judgement.kinds) {
    v1::Validation::Kind& added = *message.add_kinds();
    added.set_kind(kind.kind);
    added.set_choices(kind.choices);
    added.set_mean_regret(kind.mean_regret);
    added.set_worst_regret(kind.worst_regret);
  }
  message.set_compared(record.judgement.compared);
  message.set_over_untuned(record.judgement.over_untuned);
  message.set_over_untuned_low(record.judgement.over_untuned_low);
  message.set_losses(record.judgement.losses);
  message.set_worst_loss(record.judgement.worst_loss);
  message.set_worst_loss_share(record.judgement.worst_loss_share);
  if (const auto& settings = record.judgement.settings) {
    message.mutable_settings()->set_validated(settings->validated);
    message.mutable_settings()->set_probe_factor(settings->probe_factor);
  }
  return message;
}

}  // namespace

v1::ModelVersion to_wire(const ModelVersionRecord& record) {
  v1::ModelVersion message;
  message.set_name(version_name(record.key));
  message.set_sha256(record.sha256);
  copy_to(record.campaigns, message.mutable_campaigns());
  message.set_create_time(rfc3339(record.created_unix_s));
  message.set_size_bytes(record.size_bytes);
  message.set_summary(record.summary);
  message.set_provisional(record.provisional);
  message.set_withdrawn(record.withdrawn);
  message.set_state(to_wire(state_of(record)));
  const VersionVerdict verdict = verdict_of(record.validation);
  if (verdict.verdict == Verdict::failed) message.set_failed(verdict.why);
  if (verdict.verdict == Verdict::unjudged) message.set_unjudged(verdict.why);
  copy_to(record.labels, message.mutable_labels());
  if (record.validation) *message.mutable_validation() = to_wire(*record.validation);
  for (const Finding& finding : record.findings) {
    v1::Finding& added = *message.add_findings();
    added.set_kind(wire_named(v1::Finding::Kind_Parse, finding.kind));
    added.set_subject(finding.subject);
    added.set_value(finding.value);
    added.set_message(finding.message);
  }
  message.set_stale(record.stale);
  message.set_lost(record.lost);
  for (const CheckRecord& check : record.checks) {
    v1::Check& added = *message.add_checks();
    added.set_campaign(check.campaign);
    added.set_time(rfc3339(check.time_unix_s));
    added.set_points(check.reading.points);
    added.set_outside(check.reading.outside);
    added.set_ratio(check.reading.ratio);
    added.set_bursts(check.reading.bursts);
    added.set_bursts_outside(check.reading.bursts_outside);
    added.set_shapes(check.reading.shapes);
    added.set_shapes_outside(check.reading.shapes_outside);
  }
  return message;
}

v1::Role to_wire(Role role) {
  switch (role) {
    case Role::agent:
      return v1::AGENT;
    case Role::viewer:
      return v1::VIEWER;
    case Role::operator_:
      return v1::OPERATOR;
    case Role::publisher:
      return v1::PUBLISHER;
    case Role::admin:
      return v1::ADMIN;
    case Role::nobody:
      break;
  }
  return v1::ROLE_UNSPECIFIED;
}

}  // namespace stripline::server
