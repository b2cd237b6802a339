// What /api/v1 answers about models, and what publishers do with them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "optimizer/model/model_json.h"
#include "optimizer/report/compare_models.h"
#include "optimizer/report/questions.h"
#include "server/clock.h"
#include "server/core/models/feedback.h"
#include "server/core/models/model_actions.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/sentinel_history.h"
#include "server/core/wire.h"
#include "server/doors/api_call.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

Answer<model::TunedModel> model_of(Store& store, const ModelVersionRecord& version) {
  const auto file = store.model_content(version.key);
  if (!file.ok()) return file.error();
  auto model = model::parse_model(*file, version_name(version.key));
  if (!model.ok()) return model.error();
  return std::move(*model);
}

}  // namespace

http::Response Api::questions(const Call& /*call*/) {
  return answered(Result<Json>(report::describe_questions()));
}

http::Response Api::models(const Call& call) {
  v1::ListModelsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_models(coordinator_, store_, list));
}

http::Response Api::model(const Call& call) {
  v1::GetModelRequest get;
  get.set_name(call.model());
  return answered(get_model(coordinator_, store_, get));
}

http::Response Api::versions(const Call& call) {
  v1::ListModelVersionsRequest list;
  list.set_parent(call.model());
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_model_versions(store_, list));
}

http::Response Api::version(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return answered(Answer<v1::ModelVersion>(to_wire(*version)));
}

http::Response Api::feedback_of(const Call& call, const std::string& parent) {
  v1::ListFeedbackRequest list;
  list.set_parent(parent);
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_feedback(store_, list));
}

http::Response Api::model_feedback(const Call& call) { return feedback_of(call, call.model()); }

http::Response Api::version_feedback(const Call& call) { return feedback_of(call, call.version()); }

http::Response Api::file(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&]() -> http::Response {
    auto file = store_.model_content(version->key);
    if (!file.ok()) return refused(problem_from(file.error()));
    http::Response response;
    response.body = std::move(*file);
    return response;
  });
}

http::Response Api::explanation(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&] {
    const auto model = model_of(store_, *version);
    if (!model) return refused(model.problem());
    return answered(report::explain_decision(*model, call.path.back(), call.request.query));
  });
}

http::Response Api::decisions(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&] {
    const auto model = model_of(store_, *version);
    if (!model) return refused(model.problem());
    return answered(report::tabulate_decisions(*model, call.path.back(), call.request.query));
  });
}

http::Response Api::comparison(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  const auto named = call.request.query.find("with");
  if (named == call.request.query.end()) {
    return refused(
        invalid_field("with", "it is needed: the version to compare, models/M/versions/N"));
  }
  const auto other = find_version(store_, named->second);
  if (!other) return refused(other.problem());
  return unchanging(call, version->sha256 + "-" + other->sha256, [&] {
    const auto a = model_of(store_, *version);
    if (!a) return refused(a.problem());
    const auto b = model_of(store_, *other);
    if (!b) return refused(b.problem());
    const auto compared = report::compare_models(*a, *b);
    if (!compared.ok()) return refused(problem_from(compared.error()));
    return answered(Result<Json>(report::to_json(*compared)));
  });
}

http::Response Api::sentinels(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  const auto history = sentinel_history(store_, *version);
  if (!history) return refused(history.problem());
  return answered(Result<Json>(*history));
}

http::Response Api::gate(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  Json labels = Json::object();
  for (const std::string_view label : {kCanaryLabel, kStableLabel}) {
    const auto refusal = label_refusal(coordinator_, store_, *version, std::string(label));
    if (!refusal) return refused(refusal.problem());
    labels[std::string(label)] = *refusal ? Json(**refusal) : Json();
  }
  return answered(Result<Json>(std::move(labels)));
}

http::Response Api::labels(const Call& call) {
  const auto model = find_model(store_, call.model());
  if (!model) return refused(model.problem());
  const auto moves = store_.labels(call.path[1]);
  if (!moves.ok()) return refused(problem_from(moves.error()));
  Json list = Json::array();
  for (const LabelRecord& move : *moves) {
    Json nodes = Json::array();
    for (const std::string& node : move.nodes) nodes.push_back(node_name(node));
    list.push_back({{"label", move.label},
                    {"version", version_name(move.key)},
                    {"actor", move.actor},
                    {"time", rfc3339(move.time_unix_s)},
                    {"nodes", std::move(nodes)}});
  }
  return answered(Result<Json>(Json{{"moves", std::move(list)}}));
}

http::Response Api::promote(const Call& call) {
  return acted<v1::PromoteModelVersionRequest>(
      call.request, call.version(), [&](const auto& request) {
        return promote_model(coordinator_, store_, request, call.caller.name);
      });
}

http::Response Api::rollback(const Call& call) {
  return acted<v1::RollbackModelLabelRequest>(call.request, call.label(), [&](const auto& request) {
    return rollback_label(coordinator_, store_, request, call.caller.name);
  });
}

http::Response Api::withdraw(const Call& call) {
  return acted<v1::WithdrawModelVersionRequest>(
      call.request, call.version(), [&](const auto& request) {
        return withdraw_model(coordinator_, store_, request, call.caller.name);
      });
}

http::Response Api::validate(const Call& call) {
  return acted<v1::ValidateModelVersionRequest>(
      call.request, call.version(),
      [&](const auto& request) { return validate_model(store_, request, call.caller.name); });
}

http::Response Api::check(const Call& call) {
  return acted<v1::CheckModelVersionRequest>(
      call.request, call.version(), [&](const auto& request) {
        return check_model(coordinator_, store_, request, call.caller.name);
      });
}

}  // namespace stripline::server
