#include "server/api.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pki/token.h"
#include "dashboards/bundle.h"
#include "optimizer/experiment/json.h"
#include "server/actions.h"
#include "server/api_call.h"
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

// An option that is a share; 0 where it is not there, which stands for what is usual. Problems:
// INVALID_FIELD.
Answer<double> share_from(const http::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  if (found == request.query.end() || found->second.empty()) return 0.0;
  const std::string& text = found->second;
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error == std::errc() && end == text.data() + text.size()) return share;
  return invalid_field(name, "'" + text + "' is not a number");
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

http::Response answered(const Result<Json>& json) {
  if (!json.ok()) return refused(problem_from(json.error()));
  return {http::kOk, "application/json", text_of(*json)};
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

Api::Api(Coordinator& coordinator, Store& store, WatchHub& hub, Access& access, Meters& meters)
    : coordinator_(coordinator),
      store_(store),
      hub_(hub),
      access_(access),
      refusals_(meters),
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
    refusals_.note(request.path, caller.problem().message);
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
  return acted<v1::CordonNodeRequest>(call.request, call.node(), [&](const auto& request) {
    return cordon_node(coordinator_, request, call.caller.name);
  });
}

http::Response Api::drain(const Call& call) {
  return acted<v1::DrainNodeRequest>(call.request, call.node(), [&](const auto& request) {
    return drain_node(coordinator_, request, call.caller.name);
  });
}

http::Response Api::uncordon(const Call& call) {
  return acted<v1::UncordonNodeRequest>(call.request, call.node(), [&](const auto& request) {
    return uncordon_node(coordinator_, request, call.caller.name);
  });
}

http::Response Api::remove_node(const Call& call) {
  const auto name = node_segment(call.node());
  if (!name) return refused(name.problem());
  const auto removed = coordinator_.remove_node(*name, call.caller.name);
  if (!removed) return refused(removed.problem());
  return answered(Answer<v1::RemoveNodeResponse>(v1::RemoveNodeResponse()));
}

http::Response Api::campaigns(const Call& call) {
  v1::ListCampaignsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_campaigns(coordinator_, list));
}

http::Response Api::campaign(const Call& call) {
  v1::GetCampaignRequest get;
  get.set_name(call.campaign());
  return answered(get_campaign(coordinator_, store_, get));
}

http::Response Api::cancel(const Call& call) {
  return acted<v1::CancelCampaignRequest>(call.request, call.campaign(), [&](const auto& request) {
    return cancel_campaign(coordinator_, request, call.caller.name);
  });
}

http::Response Api::pause(const Call& call) {
  const auto request = request_from<v1::PauseCampaignRequest>(call.request, call.campaign());
  if (!request) return refused(request.problem());
  return answered(pause_campaign(coordinator_, *request, call.caller.name));
}

http::Response Api::resume(const Call& call) {
  const auto request = request_from<v1::ResumeCampaignRequest>(call.request, call.campaign());
  if (!request) return refused(request.problem());
  return answered(resume_campaign(coordinator_, *request, call.caller.name));
}

http::Response Api::retry(const Call& call) {
  const auto request = request_from<v1::RetryCampaignRequest>(call.request, call.campaign());
  if (!request) return refused(request.problem());
  return answered(retry_campaign(coordinator_, *request, call.caller.name));
}

http::Response Api::remove(const Call& call) {
  return acted<v1::DeleteCampaignRequest>(call.request, call.campaign(), [&](const auto& request) {
    return delete_campaign(coordinator_, request, call.caller.name);
  });
}

http::Response Api::estimate(const Call& call) {
  const auto request = request_from<v1::EstimateCampaignRequest>(call.request);
  if (!request) return refused(request.problem());
  return answered(estimate_campaign(coordinator_, *request));
}

http::Response Api::campaign_comparison(const Call& call) {
  v1::CompareCampaignsRequest compare;
  compare.set_baseline(call.campaign());
  const auto with = call.request.query.find("with");
  if (with == call.request.query.end()) {
    return refused(invalid_field("with", "it is needed: the campaign to compare, campaigns/cN"));
  }
  compare.set_candidate(with->second);
  const auto margin = share_from(call.request, "margin");
  if (!margin) return refused(margin.problem());
  compare.set_margin(*margin);
  const auto by_chance = share_from(call.request, "false_discoveries");
  if (!by_chance) return refused(by_chance.problem());
  compare.set_false_discoveries(*by_chance);
  return answered(compare_campaigns(store_, compare));
}

http::Response Api::points(const Call& call) {
  const auto number = campaign_number(call.campaign());
  const auto campaign = number ? coordinator_.campaign(*number) : number.problem();
  if (!campaign) return refused(campaign.problem());
  const auto runs = store_.runs(*number);
  if (!runs.ok()) return refused(problem_from(runs.error()));
  // Points are added when a run is given out, and known better when it has finished: whoever asks
  // again and again is notified when there is something new.
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

}  // namespace stripline::server
