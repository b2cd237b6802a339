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

Answer<http::Response> Api::questions(const Call& /*call*/) {
  return answered(Result<Json>(reports::describe_questions()));
}

Answer<http::Response> Api::file(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  return unchanging(call, version.sha256, [&]() -> Answer<http::Response> {
    STRIPLINE_ASSIGN_OR_RETURN(auto file, core_.store.model_content(version.key));
    http::Response response;
    response.body = std::move(file);
    return response;
  });
}

Answer<http::Response> Api::explanation(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  return unchanging(call, version.sha256, [&]() -> Answer<http::Response> {
    STRIPLINE_ASSIGN_OR_RETURN(const auto model, model_of(core_.store, version));
    return answered(reports::explain_decision(&model, call.path.back(), call.request.query));
  });
}

Answer<http::Response> Api::decisions(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  return unchanging(call, version.sha256, [&]() -> Answer<http::Response> {
    STRIPLINE_ASSIGN_OR_RETURN(const auto model, model_of(core_.store, version));
    return answered(reports::tabulate_decisions(model, call.path.back(), call.request.query));
  });
}

Answer<http::Response> Api::comparison(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  const auto named = call.request.query.find("with");
  if (named == call.request.query.end()) {
    return invalid_field("with", "it is needed: the version to compare, models/M/versions/N");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto other, find_version(core_.store, named->second));
  return unchanging(call, version.sha256 + "-" + other.sha256, [&]() -> Answer<http::Response> {
    STRIPLINE_ASSIGN_OR_RETURN(const auto a, model_of(core_.store, version));
    STRIPLINE_ASSIGN_OR_RETURN(const auto b, model_of(core_.store, other));
    STRIPLINE_ASSIGN_OR_RETURN(const auto compared, reports::compare_models(a, b));
    return answered(Result<Json>(reports::to_json(compared)));
  });
}

Answer<http::Response> Api::sentinels(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto history, sentinel_history(core_.store, version));
  return answered(Result<Json>(history));
}

Answer<http::Response> Api::gate(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(core_.store, call.version()));
  Json labels = Json::object();
  for (const std::string_view label : {kCanaryLabel, kStableLabel}) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto refusal, label_refusal(core_.coordinator, core_.store,
                                                                 version, std::string(label)));
    labels[std::string(label)] = refusal ? Json(*refusal) : Json();
  }
  return answered(Result<Json>(std::move(labels)));
}

Answer<http::Response> Api::labels(const Call& call) {
  STRIPLINE_RETURN_IF_ERROR(find_model(core_.store, call.model()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, core_.store.labels(call.path[1]));
  Json list = Json::array();
  for (const LabelRecord& move : moves) {
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

}  // namespace stripline::server
