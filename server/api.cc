#include "server/api.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/util/json_util.h>

#include "base/pki/token.h"
#include "dashboards/bundle.h"
#include "optimizer/experiment/json.h"
#include "optimizer/model/model_json.h"
#include "optimizer/report/compare_models.h"
#include "optimizer/report/questions.h"
#include "server/actions.h"
#include "server/campaign_events.h"
#include "server/clock.h"
#include "server/grpc_access.h"
#include "server/reads.h"
#include "server/wire.h"
#include "stripline/v1/access.pb.h"

namespace stripline::server {
namespace {

constexpr std::string_view kPrefix = "/api/v1/";
constexpr size_t kAllPoints = std::numeric_limits<int64_t>::max();

Json to_json(const PointRecord& record) {
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  Json json = experiment::to_json(record.point);
  json["runs"] = record.runs - record.failed;
  json["samples"] = record.samples;
  json["failed"] = record.failed;
  json["median"] = record.estimate ? Json(record.estimate->median) : Json();
  json["low"] = record.estimate ? number(record.estimate->low) : Json();
  json["high"] = record.estimate ? number(record.estimate->high) : Json();
  return json;
}

int status_of(const Problem& problem) {
  if (problem.reason == "UNAUTHENTICATED") return http::kUnauthorised;
  if (problem.reason == "PERMISSION_DENIED") return http::kForbidden;
  switch (problem.code) {
    case ErrorCode::invalid_argument:
      return http::kBadRequest;
    case ErrorCode::not_found:
      return http::kNotFound;
    case ErrorCode::already_exists:
    case ErrorCode::aborted:
    case ErrorCode::failed_precondition:
      return http::kConflict;
    case ErrorCode::resource_exhausted:
      return http::kTooManyRequests;
    case ErrorCode::unavailable:
    case ErrorCode::deadline_exceeded:
      return http::kUnavailable;
    case ErrorCode::unimplemented:
      return http::kNotImplemented;
    default:
      return http::kInternalError;
  }
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Message>
http::Response answered(const Answer<Message>& message) {
  if (!message) return refused(message.problem());
  auto text = json_text(*message);
  if (!text.ok()) return refused(problem_from(text.error()));
  return {http::kOk, "application/json", std::move(*text)};
}

http::Response answered(const Result<Json>& json) {
  if (!json.ok()) return refused(problem_from(json.error()));
  return {http::kOk, "application/json", text_of(*json)};
}

std::vector<std::string> segments(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

Answer<int64_t> number_from(const http::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  if (found == request.query.end() || found->second.empty()) return int64_t{0};
  const std::string& text = found->second;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  return invalid_field(name, "'" + text + "' is not a whole number");
}

// What lists have in common.
template <typename Request>
std::optional<Problem> set_page(const http::Request& from, Request& request) {
  const auto size = number_from(from, "page_size");
  if (!size) return size.problem();
  request.set_page_size(static_cast<int32_t>(std::min<int64_t>(*size, INT32_MAX)));
  if (const auto token = from.query.find("page_token"); token != from.query.end()) {
    request.set_page_token(token->second);
  }
  return std::nullopt;
}

Problem no_such_path(const std::string& path) {
  return {ErrorCode::not_found,
          "PATH_NOT_FOUND",
          "there is no " + path +
              "; docs/http.md lists "
              "what there is",
          {}};
}

// People may paste a token as it was handed to them; what is shown is its secret.
std::string secret_of(const std::string& shown) {
  const auto token = pki::parse_token(shown);
  return token.ok() ? token->secret : shown;
}

}  // namespace

http::Response refused(const Problem& problem) {
  std::string code(to_string(problem.code));
  return {status_of(problem), "application/json",
          text_of({{"code", code},
                   {"reason", problem.reason},
                   {"message", problem.message},
                   {"metadata", problem.metadata}})};
}

// A path below /api/v1 with what it was asked by.
struct Api::Call {
  const http::Request& request;
  std::vector<std::string> path;
  Caller caller;

  // The name that the first so many parts of the path are.
  std::string name(size_t length) const {
    std::string joined;
    for (size_t i = 0; i < length; ++i) joined += (i > 0 ? "/" : "") + path[i];
    return joined;
  }
  std::string node() const { return name(2); }
  std::string campaign() const { return name(2); }
  std::string model() const { return name(2); }
  std::string version() const { return name(4); }
};

namespace {

// What a POST says, in the JSON form of the method's request. The path has the name.
template <typename Request>
Answer<Request> request_from(const http::Request& from, const std::string& name) {
  Request request;
  if (!from.body.empty()) {
    const auto read = google::protobuf::util::JsonStringToMessage(from.body, &request);
    if (!read.ok()) return invalid_field("body", std::string(read.message()));
  }
  request.set_name(name);
  return request;
}

// What does not change is not sent to who has it already.
template <typename Make>
http::Response unchanging(const http::Request& request, const std::string& tag, const Make& make) {
  const std::string etag = "\"" + tag + "\"";
  if (request.if_none_match == etag) return {http::kNotModified, "application/json", "", etag};
  http::Response response = make();
  if (response.status == http::kOk) response.etag = etag;
  return response;
}

Answer<model::TunedModel> model_of(Store& store, const ModelVersionRecord& version) {
  const auto file = store.model_content(version.key);
  if (!file.ok()) return file.error();
  auto model = model::parse_model(*file, version_name(version.key));
  if (!model.ok()) return model.error();
  return std::move(*model);
}

}  // namespace

Api::Api(Coordinator& coordinator, Store& store, WatchHub& hub, const Access& access,
         Meters& meters)
    : coordinator_(coordinator),
      store_(store),
      hub_(hub),
      access_(access),
      meters_(meters),
      roles_(method_roles()) {}

http::Response Api::answer(const http::Request& request) {
  if (request.path.starts_with(kPrefix)) return call(request);
  const auto file = dashboards::bundled_file(request.path);
  if (!file || request.post) return refused(no_such_path(request.path));
  const std::string etag = "\"" + std::string(file->sha256) + "\"";
  if (request.if_none_match == etag) return {http::kNotModified, std::string(file->type), "", etag};
  return {http::kOk, std::string(file->type), std::string(file->content), etag};
}

http::Response Api::call(const http::Request& request) {
  const std::string path = request.path.substr(kPrefix.size());
  const auto verb = request.post ? Route::Verb::post : Route::Verb::get;
  const auto entry = std::ranges::find_if(entries(), [&](const Entry& one) {
    return one.route.verb == verb && matches(one.route, path);
  });
  if (entry == entries().end()) return refused(no_such_path(request.path));
  auto caller = access_.authorize({secret_of(request.bearer), ""}, roles_.at(entry->route.method),
                                  unix_seconds());
  if (!caller) {
    meters_.count(Meters::Counter::calls_refused);
    return refused(caller.problem());
  }
  if (const auto problem = limits_.refusal(request.peer, entry->cost)) return refused(*problem);
  // A page of elsewhere can send other types unasked, with the rights of who looks at it.
  if (request.post && !request.type.starts_with("application/json")) {
    auto response = refused(invalid_field("Content-Type", "it must be application/json"));
    response.status = http::kWrongType;
    return response;
  }
  return (this->*entry->answer)({request, segments(path), std::move(*caller)});
}

http::Response Api::who_am_i(const Call& call) {
  v1::WhoAmIResponse who;
  who.set_name(call.caller.name);
  who.set_role(to_wire(call.caller.role));
  return answered(Answer<v1::WhoAmIResponse>(who));
}

http::Response Api::description(const Call& /*call*/) {
  std::vector<Route> routes;
  for (const Entry& entry : entries()) routes.push_back(entry.route);
  return answered(Result<Json>(openapi(routes, roles_)));
}

http::Response Api::nodes(const Call& call) {
  v1::ListNodesRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_nodes(coordinator_, list));
}

http::Response Api::node(const Call& call) {
  v1::GetNodeRequest get;
  get.set_name(call.node());
  return answered(get_node(coordinator_, get));
}

http::Response Api::cordon(const Call& call) {
  const auto request = request_from<v1::CordonNodeRequest>(call.request, call.node());
  if (!request) return refused(request.problem());
  return answered(cordon_node(coordinator_, *request, call.caller.name));
}

http::Response Api::drain(const Call& call) {
  const auto request = request_from<v1::DrainNodeRequest>(call.request, call.node());
  if (!request) return refused(request.problem());
  return answered(drain_node(coordinator_, *request, call.caller.name));
}

http::Response Api::uncordon(const Call& call) {
  const auto request = request_from<v1::UncordonNodeRequest>(call.request, call.node());
  if (!request) return refused(request.problem());
  return answered(uncordon_node(coordinator_, *request, call.caller.name));
}

http::Response Api::campaigns(const Call& call) {
  v1::ListCampaignsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_campaigns(coordinator_, list));
}

http::Response Api::campaign(const Call& call) {
  v1::GetCampaignRequest get;
  get.set_name(call.campaign());
  return answered(get_campaign(coordinator_, get));
}

http::Response Api::cancel(const Call& call) {
  const auto request = request_from<v1::CancelCampaignRequest>(call.request, call.campaign());
  if (!request) return refused(request.problem());
  return answered(cancel_campaign(coordinator_, *request, call.caller.name));
}

http::Response Api::points(const Call& call) {
  const auto number = campaign_number(call.campaign());
  const auto campaign = number ? coordinator_.campaign(*number) : number.problem();
  if (!campaign) return refused(campaign.problem());
  const auto runs = store_.runs(*number);
  if (!runs.ok()) return refused(problem_from(runs.error()));
  // Points are added when a run is given out, and known better when it has finished: whoever asks
  // again and again is told when there is something new.
  uint64_t finished = 0;
  uint64_t attempts = 0;
  for (const RunRecord& run : *runs) {
    if (run.state == RunState::finished) ++finished;
    attempts += run.fence;
  }
  const std::string etag =
      "\"runs-" + std::to_string(finished) + "-" + std::to_string(attempts) + "\"";
  if (call.request.if_none_match == etag) return {http::kNotModified, "application/json", "", etag};
  const auto points = store_.points(*number, {}, 0, kAllPoints);
  if (!points.ok()) return refused(problem_from(points.error()));
  Json list = Json::array();
  for (const PointRecord& point : *points) list.push_back(to_json(point));
  auto response = answered(Result<Json>(Json{{"points", std::move(list)}}));
  response.etag = etag;
  return response;
}

http::Response Api::events(const Call& call) {
  const auto number = campaign_number(call.campaign());
  const auto campaign = number ? coordinator_.campaign(*number) : number.problem();
  if (!campaign) return refused(campaign.problem());
  const auto cursor = number_from(call.request, "cursor");
  if (!cursor) return refused(cursor.problem());
  auto stream = std::make_shared<CampaignEvents>(
      store_, hub_, *number, static_cast<uint64_t>(*cursor),
      [this, caller = call.caller] { return access_.refusal_of_stream(caller, unix_seconds()); });
  http::Response response{http::kOk, "text/event-stream", ""};
  response.next_piece = [stream] { return stream->next(); };
  return response;
}

http::Response Api::questions(const Call& /*call*/) {
  return answered(Result<Json>(report::describe_questions()));
}

http::Response Api::models(const Call& call) {
  v1::ListModelsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_models(store_, list));
}

http::Response Api::model(const Call& call) {
  v1::GetModelRequest get;
  get.set_name(call.model());
  return answered(get_model(store_, get));
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

http::Response Api::file(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call.request, version->sha256, [&]() -> http::Response {
    auto file = store_.model_content(version->key);
    if (!file.ok()) return refused(problem_from(file.error()));
    return {http::kOk, "application/json", std::move(*file)};
  });
}

http::Response Api::explanation(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call.request, version->sha256, [&] {
    const auto model = model_of(store_, *version);
    if (!model) return refused(model.problem());
    return answered(report::explain_decision(*model, call.path.back(), call.request.query));
  });
}

http::Response Api::decisions(const Call& call) {
  const auto version = find_version(store_, call.version());
  if (!version) return refused(version.problem());
  return unchanging(call.request, version->sha256, [&] {
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
  return unchanging(call.request, version->sha256 + "-" + other->sha256, [&] {
    const auto a = model_of(store_, *version);
    if (!a) return refused(a.problem());
    const auto b = model_of(store_, *other);
    if (!b) return refused(b.problem());
    const auto compared = report::compare_models(*a, *b);
    if (!compared.ok()) return refused(problem_from(compared.error()));
    return answered(Result<Json>(report::to_json(*compared)));
  });
}

}  // namespace stripline::server
