#include "cli/report_data.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/rfc3339.h"
#include "cli/find_model.h"
#include "cli/names.h"
#include "cli/service.h"
#include "optimizer/experiment/json.h"
#include "optimizer/model/model_json.h"
#include "optimizer/report/decision_tables.h"
#include "optimizer/report/questions.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {
namespace {

constexpr int kMaxVersions = 100;
constexpr int kPointsAtOnce = 1000;

Result<Json> message_json(const google::protobuf::Message& message) {
  return parse_json(json_line(message), "a message of the server");
}

std::string key_of(const std::string& path, const reports::Question& question) {
  std::string key = path;
  char before = '?';
  for (const auto& [option, value] : question) {
    key += before + option + "=" + value;
    before = '&';
  }
  return key;
}

// The file of a version, and what follows from it.
Status add_version(const std::string& version, const model::TunedModel& model, Json& answers) {
  STRIPLINE_ASSIGN_OR_RETURN(answers[version + "/file"], model::to_json(model));
  answers["explain"] = reports::describe_questions();
  for (const reports::DecisionTable& table : reports::decision_tables()) {
    for (const reports::Question& question : reports::questions_of(table)) {
      auto decided = reports::tabulate_decisions(model, table.command, question);
      // A model may lack what a table is decided by; its page says so.
      if (!decided.ok()) continue;
      answers[key_of(version + "/decisions/" + table.command, question)] = std::move(*decided);
    }
  }
  return {};
}

Json models_of(const Json& model) { return {{"models", {model}}, {"next_page_token", ""}}; }

Result<ReportContent> of_file(const std::filesystem::path& path) {
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, model::load_model(path));
  STRIPLINE_ASSIGN_OR_RETURN(const std::string sha256, model::content_sha256(model));
  const std::string name = "models/" + model.name;
  const std::string version = name + "/versions/file";
  const auto fabric = model.fingerprint.find("fabric");
  ReportContent content;
  content.title = path.filename().string();
  content.start = "/" + name;
  const Json of_model = {{"name", name},
                         {"fabric", fabric == model.fingerprint.end() ? "" : fabric->second.value},
                         {"latest_version", version},
                         {"create_time", model.provenance.fitted_at}};
  const Json of_version = {{"name", version},
                           {"sha256", sha256},
                           {"campaigns", model.provenance.campaigns},
                           {"create_time", model.provenance.fitted_at},
                           {"size_bytes", std::to_string(std::filesystem::file_size(path))},
                           {"summary", ""},
                           {"provisional", model.provenance.provisional},
                           {"withdrawn", ""}};
  content.answers["models"] = models_of(of_model);
  content.answers[name] = of_model;
  content.answers[name + "/versions"] = {{"versions", {of_version}}, {"next_page_token", ""}};
  STRIPLINE_RETURN_IF_ERROR(add_version(version, model, content.answers));
  return content;
}

// As /api/v1 tells a point: parameters are numbers where they can be.
Result<Json> point_json(const v1::PlannedPoint& planned) {
  experiment::Point point;
  point.experiment = planned.experiment();
  point.variant = planned.variant();
  for (const auto& [name, value] : planned.params()) {
    STRIPLINE_ASSIGN_OR_RETURN(auto param, experiment::parse_param(name + "=" + value));
    point.params.insert(std::move(param));
  }
  Json json = experiment::to_json(point);
  json["runs"] = planned.runs_done() - planned.runs_failed();
  json["samples"] = planned.samples();
  json["failed"] = planned.runs_failed();
  json["median"] = planned.has_median() ? Json(planned.median()) : Json();
  json["low"] = planned.has_low() ? Json(planned.low()) : Json();
  json["high"] = planned.has_high() ? Json(planned.high()) : Json();
  return json;
}

Status add_points(Service& service, const std::string& campaign, Json& answers) {
  v1::ListPointsRequest request;
  request.set_name(campaign);
  request.set_page_size(kPointsAtOnce);
  Json points = Json::array();
  do {
    STRIPLINE_ASSIGN_OR_RETURN(const v1::ListPointsResponse page,
                               service.call<v1::ListPointsResponse>(request));
    for (const v1::PlannedPoint& planned : page.points()) {
      STRIPLINE_ASSIGN_OR_RETURN(Json point, point_json(planned));
      points.push_back(std::move(point));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  answers[campaign + "/points"] = {{"points", std::move(points)}};
  return {};
}

// Adds what the pages show of one version of a model, or of its latest; all versions are listed,
// and the others say that they are not here.
Status add_model(Service& service, const std::string& name, ReportContent& content) {
  const Result<FetchedModel> fetched = service.fetch_model(name, "", Service::Failed::accept);
  if (!fetched.ok()) return with_nearest_model(service, name, fetched.error());
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model,
                             model::parse_model(fetched->data, fetched->version));
  const std::string resource = "models/" + model_segment(name);
  v1::ListModelVersionsRequest request;
  request.set_parent(resource);
  request.set_page_size(kMaxVersions);
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions,
                             service.call<v1::ListModelVersionsResponse>(request));
  v1::ModelVersion shown;
  for (const v1::ModelVersion& version : versions.versions()) {
    if (version.name() == fetched->version) shown = version;
  }
  const auto fabric = model.fingerprint.find("fabric");
  v1::Model of_model;
  of_model.set_name(resource);
  if (fabric != model.fingerprint.end()) of_model.set_fabric(fabric->second.value);
  of_model.set_latest_version(fetched->version);
  of_model.set_create_time(shown.create_time());
  STRIPLINE_ASSIGN_OR_RETURN(const Json model_json, message_json(of_model));
  STRIPLINE_ASSIGN_OR_RETURN(const Json version_json, message_json(shown));
  Json& answers = content.answers;
  answers["models"] = models_of(model_json);
  answers[resource] = model_json;
  answers[resource + "/versions"] = {{"versions", {version_json}}, {"next_page_token", ""}};
  for (const std::string& campaign : model.provenance.campaigns) {
    if (answers.contains(campaign + "/points")) continue;
    // Campaigns of long ago may be forgotten: the curves then stand without their samples.
    static_cast<void>(add_points(service, campaign, answers));
  }
  content.title = short_name(fetched->version);
  content.start = "/" + resource;
  return add_version(fetched->version, model, answers);
}

Result<Json> events_of(Service& service, const std::string& campaign) {
  Json events = Json::array();
  Status failure;
  STRIPLINE_RETURN_IF_ERROR(
      service.watch_campaign(campaign, 0, [&](const v1::CampaignEvent* event) {
        if (event == nullptr) return Service::Next::stop;  // what follows has not happened yet
        auto json = message_json(*event);
        if (json.ok()) {
          events.push_back(std::move(*json));
          return Service::Next::go_on;
        }
        failure = json.error();
        return Service::Next::stop;
      }));
  if (!failure.ok()) return failure.error();
  return events;
}

Status add_campaign(Service& service, const std::string& name, ReportContent& content) {
  STRIPLINE_ASSIGN_OR_RETURN(const v1::Campaign campaign,
                             service.call<v1::Campaign>(named<v1::GetCampaignRequest>(name)));
  if (!campaign.model_version().empty()) {
    STRIPLINE_RETURN_IF_ERROR(add_model(service, campaign.model_version(), content));
  }
  Json& answers = content.answers;
  STRIPLINE_ASSIGN_OR_RETURN(answers[name], message_json(campaign));
  answers["campaigns"] = {{"campaigns", {answers[name]}}, {"next_page_token", ""}};
  STRIPLINE_ASSIGN_OR_RETURN(answers[name + "/events"], events_of(service, name));
  if (!answers.contains(name + "/points")) {
    STRIPLINE_RETURN_IF_ERROR(add_points(service, name, answers));
  }
  content.title = short_name(name);
  content.start = "/" + name;
  return {};
}

bool is_campaign(const std::string& source) {
  if (source.starts_with("campaigns/")) return true;
  return source.size() > 1 && source.front() == 'c' &&
         std::all_of(source.begin() + 1, source.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<ReportContent> report_content(const Global& global, const std::string& source,
                                     double now_unix_s) {
  ReportContent content;
  if (names_file(source)) {
    STRIPLINE_ASSIGN_OR_RETURN(content, of_file(source));
  } else {
    Service service(global);
    if (is_campaign(source)) {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string name, campaign_resource(source));
      STRIPLINE_RETURN_IF_ERROR(add_campaign(service, name, content));
    } else {
      STRIPLINE_ASSIGN_OR_RETURN(const std::string name, model_resource(source));
      STRIPLINE_RETURN_IF_ERROR(add_model(service, name, content));
    }
  }
  content.made = rfc3339(now_unix_s);
  return content;
}

}  // namespace stripline::cli
