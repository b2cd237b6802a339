#include "server/api.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pki/token.h"
#include "optimizer/experiment/json.h"
#include "optimizer/model/model_json.h"
#include "server/campaign_events.h"
#include "server/clock.h"
#include "server/decisions.h"
#include "server/grpc_access.h"
#include "server/http/bundle.h"
#include "server/reads.h"
#include "server/wire.h"
#include "stripline/v1/access.pb.h"

namespace stripline::server {
namespace {

constexpr std::string_view kPrefix = "/api/v1/";
constexpr const char* kEvents = "text/event-stream";
// A table of decisions costs as much as so many lists.
constexpr double kTableCost = 10;
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

http::Response refused(const Problem& problem) {
  std::string code(to_string(problem.code));
  return {status_of(problem), "application/json",
          text_of({{"code", code},
                   {"reason", problem.reason},
                   {"message", problem.message},
                   {"metadata", problem.metadata}})};
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

// A path below /api/v1 with what it was asked by.
struct Api::Call {
  const http::Request& request;
  std::vector<std::string> path;
  Caller caller;

  bool is(size_t length) const { return path.size() == length; }
  bool is(size_t length, std::string_view last) const { return is(length) && path.back() == last; }
  std::string name(size_t length) const {
    std::string joined;
    for (size_t i = 0; i < length; ++i) joined += (i > 0 ? "/" : "") + path[i];
    return joined;
  }
};

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
  const auto file = http::bundled_file(request.path);
  if (!file) return refused(no_such_path(request.path));
  const std::string etag = "\"" + std::string(file->sha256) + "\"";
  if (request.if_none_match == etag) return {http::kNotModified, std::string(file->type), "", etag};
  return {http::kOk, std::string(file->type), std::string(file->content), etag};
}

http::Response Api::call(const http::Request& request) {
  Call call{request, segments(std::string_view(request.path).substr(kPrefix.size())), {}};
  // The method of the service that answers the same.
  static const std::array<std::pair<std::string_view, const char*>, 4> kMethods = {
      {{"whoami", "/stripline.v1.Admin/WhoAmI"},
       {"nodes", "/stripline.v1.Fleet/ListNodes"},
       {"campaigns", "/stripline.v1.Campaigns/ListCampaigns"},
       {"models", "/stripline.v1.Models/ListModels"}}};
  const auto* const method = std::ranges::find_if(
      kMethods, [&](const auto& one) { return !call.path.empty() && one.first == call.path[0]; });
  if (method == kMethods.end()) return refused(no_such_path(request.path));
  auto caller =
      access_.authorize({secret_of(request.bearer), ""}, roles_.at(method->second), unix_seconds());
  if (!caller) {
    meters_.count(Meters::Counter::calls_refused);
    return refused(caller.problem());
  }
  call.caller = std::move(*caller);
  const bool table = call.path.size() > 2 && call.path[call.path.size() - 2] == "decisions";
  if (const auto problem = limits_.refusal(request.peer, table ? kTableCost : 1)) {
    return refused(*problem);
  }
  if (call.path[0] == "campaigns") return campaign(call);
  if (call.path[0] == "models") return model(call);
  if (call.is(1, "whoami")) {
    v1::WhoAmIResponse who;
    who.set_name(call.caller.name);
    who.set_role(to_wire(call.caller.role));
    return answered(Answer<v1::WhoAmIResponse>(who));
  }
  if (call.is(1)) {
    v1::ListNodesRequest list;
    if (const auto problem = set_page(request, list)) return refused(*problem);
    return answered(list_nodes(coordinator_, list));
  }
  if (call.path[0] == "nodes" && call.is(2)) {
    v1::GetNodeRequest get;
    get.set_name(call.name(2));
    return answered(get_node(coordinator_, get));
  }
  return refused(no_such_path(request.path));
}

http::Response Api::campaign(const Call& call) {
  if (call.is(1)) {
    v1::ListCampaignsRequest list;
    if (const auto problem = set_page(call.request, list)) return refused(*problem);
    return answered(list_campaigns(coordinator_, list));
  }
  if (call.is(2)) {
    v1::GetCampaignRequest get;
    get.set_name(call.name(2));
    return answered(get_campaign(coordinator_, get));
  }
  if (call.is(3, "points")) return points(call);
  if (call.is(3, "events")) return events(call);
  return refused(no_such_path(call.request.path));
}

http::Response Api::points(const Call& call) {
  const auto number = campaign_number(call.name(2));
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
  const auto number = campaign_number(call.name(2));
  const auto campaign = number ? coordinator_.campaign(*number) : number.problem();
  if (!campaign) return refused(campaign.problem());
  const auto cursor = number_from(call.request, "cursor");
  if (!cursor) return refused(cursor.problem());
  auto stream = std::make_shared<CampaignEvents>(
      store_, hub_, *number, static_cast<uint64_t>(*cursor),
      [this, caller = call.caller] { return access_.refusal_of_stream(caller, unix_seconds()); });
  http::Response response{http::kOk, kEvents, ""};
  response.next_piece = [stream] { return stream->next(); };
  return response;
}

http::Response Api::model(const Call& call) {
  if (call.is(1)) {
    v1::ListModelsRequest list;
    if (const auto problem = set_page(call.request, list)) return refused(*problem);
    return answered(list_models(store_, list));
  }
  if (call.is(2)) {
    v1::GetModelRequest get;
    get.set_name(call.name(2));
    return answered(get_model(store_, get));
  }
  if (call.is(3, "versions")) {
    v1::ListModelVersionsRequest list;
    list.set_parent(call.name(2));
    if (const auto problem = set_page(call.request, list)) return refused(*problem);
    return answered(list_model_versions(store_, list));
  }
  if (call.path.size() > 3 && call.path[2] == "versions") {
    if (call.is(4)) {
      const auto version = find_version(store_, call.name(4));
      return version ? answered(Answer<v1::ModelVersion>(to_wire(*version)))
                     : refused(version.problem());
    }
    return content(call);
  }
  return refused(no_such_path(call.request.path));
}

// The file itself, and what follows from it: neither changes.
http::Response Api::content(const Call& call) {
  const auto version = find_version(store_, call.name(4));
  if (!version) return refused(version.problem());
  const std::string etag = "\"" + version->sha256 + "\"";
  if (call.request.if_none_match == etag) return {http::kNotModified, "application/json", "", etag};
  const auto file = store_.model_content(version->key);
  if (!file.ok()) return refused(problem_from(file.error()));
  http::Response response{http::kOk, "application/json", *file};
  if (!call.is(5, "file")) {
    const bool one = call.is(6) && call.path[4] == "explain";
    if (!one && !(call.is(6) && call.path[4] == "decisions")) {
      return refused(no_such_path(call.request.path));
    }
    const auto model = model::parse_model(*file, version_name(version->key));
    if (!model.ok()) return refused(problem_from(model.error()));
    response = answered(one ? explain_decision(*model, call.path[5], call.request.query)
                            : tabulate_decisions(*model, call.path[5], call.request.query));
  }
  if (response.status == http::kOk) response.etag = etag;
  return response;
}

}  // namespace stripline::server
