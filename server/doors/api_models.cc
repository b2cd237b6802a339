// What /api/v1 answers about models, and what publishers do with them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "optimizer/model/model_json.h"
#include "optimizer/report/compare_models.h"
#include "optimizer/report/questions.h"
#include "server/clock.h"
#include "server/core/models/model_actions.h"
#include "server/core/models/model_gate.h"
#include "server/core/models/sentinel_history.h"
#include "server/core/operations/operations.h"
#include "server/doors/api_call.h"
#include "server/store/names.h"

namespace stripline::server {
namespace {

Answer<model::TunedModel> model_of(Store& store, const ModelVersionRecord& version) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto file, store.model_content(version.key));
  if (version.validation && version.validation->judgement.settings) {
    return Problem{ErrorCode::failed_precondition,
                   "SETTINGS",
                   "'" + version_name(version.key) +
                       "' holds settings of another runtime, which predict and decide nothing here",
                   {{"name", version_name(version.key)}}};
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto model, model::parse_model(file, version_name(version.key)));
  return model;
}

}  // namespace

http::Response Api::questions(const Call& /*call*/) {
  return answered(Result<Json>(reports::describe_questions()));
}

http::Response Api::file(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&]() -> http::Response {
    auto file = core_.store.model_content(version->key);
    if (!file.ok()) return refused(problem_from(file.error()));
    http::Response response;
    response.body = std::move(*file);
    return response;
  });
}

http::Response Api::explanation(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&] {
    const auto model = model_of(core_.store, *version);
    if (!model) return refused(model.problem());
    return answered(reports::explain_decision(&*model, call.path.back(), call.request.query));
  });
}

http::Response Api::decisions(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call, version->sha256, [&] {
    const auto model = model_of(core_.store, *version);
    if (!model) return refused(model.problem());
    return answered(reports::tabulate_decisions(*model, call.path.back(), call.request.query));
  });
}

http::Response Api::comparison(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  const auto named = call.request.query.find("with");
  if (named == call.request.query.end()) {
    return refused(
        invalid_field("with", "it is needed: the version to compare, models/M/versions/N"));
  }
  const auto other = find_version(core_.store, named->second);
  if (!other) return refused(other.problem());
  return unchanging(call, version->sha256 + "-" + other->sha256, [&] {
    const auto a = model_of(core_.store, *version);
    if (!a) return refused(a.problem());
    const auto b = model_of(core_.store, *other);
    if (!b) return refused(b.problem());
    const auto compared = reports::compare_models(*a, *b);
    if (!compared.ok()) return refused(problem_from(compared.error()));
    return answered(Result<Json>(reports::to_json(*compared)));
  });
}

http::Response Api::sentinels(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  const auto history = sentinel_history(core_.store, *version);
  if (!history) return refused(history.problem());
  return answered(Result<Json>(*history));
}

http::Response Api::gate(const Call& call) {
  const auto version = find_version(core_.store, call.version());
  if (!version) return refused(version.problem());
  Json labels = Json::object();
  for (const std::string_view label : {kCanaryLabel, kStableLabel}) {
    const auto refusal =
        label_refusal(core_.coordinator, core_.store, *version, std::string(label));
    if (!refusal) return refused(refusal.problem());
    labels[std::string(label)] = *refusal ? Json(**refusal) : Json();
  }
  return answered(Result<Json>(std::move(labels)));
}

http::Response Api::labels(const Call& call) {
  const auto model = find_model(core_.store, call.model());
  if (!model) return refused(model.problem());
  const auto moves = core_.store.labels(call.path[1]);
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

http::Response Api::fit(const Call& call) {
  auto request = request_from<v1::FitModelRequest>(call.request);
  if (!request) return refused(request.problem());
  request->set_model(call.model());
  return answered(fit_model(core_.coordinator, *request, call.caller.name));
}

}  // namespace stripline::server
