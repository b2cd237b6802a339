#include "server/doors/api.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>

#include "base/cut_text.h"
#include "base/json.h"
#include "base/pki/token.h"
#include "base/sha256.h"
#include "dashboards/bundle.h"
#include "optimizer/experiment/json.h"
#include "server/clock.h"
#include "server/core/reads.h"
#include "server/doors/api_call.h"
#include "server/doors/comparison_pieces.h"
#include "server/doors/grpc_access.h"

namespace stripline::server {
namespace {

constexpr std::string_view kPrefix = "/api/v1/";
// What a piece of an answer holds: it takes milliseconds, and is sent before the next one is made.
constexpr size_t kRowsAtOnce = 500;
constexpr size_t kUnchangingBytes = size_t{16} << 20;
// A browser has one for all of its tabs (docs/http.md).
constexpr size_t kStreamsOfPayer = 8;
constexpr size_t kComparisonsOfPayer = 1;
constexpr size_t kPointsOfPayer = 4;
constexpr size_t kComparisons = 4;

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
  if (problem.reason == "PERMISSION_DENIED" || problem.reason == "NOT_OWNER") {
    return http::kForbidden;
  }
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

Problem no_such_path(const std::string& path) {
  return {ErrorCode::not_found,
          "PATH_NOT_FOUND",
          "there is no " + path +
              "; docs/http.md lists "
              "what there is",
          {}};
}

// "application/json", whatever parameters follow it.
bool is_json(std::string_view type) {
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  constexpr std::string_view kJson = "application/json";
  return std::ranges::equal(
      type, kJson, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

// True if Accept-Encoding names it, but for "q=0".
bool accepts(std::string_view list, std::string_view encoding) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    const std::string_view name = one.substr(0, one.find_first_of("; "));
    if (name != encoding) continue;
    const size_t weight = one.find("q=");
    return weight == std::string_view::npos ||
           one.substr(weight + 2).find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

// What pages ask for again and again is not sent again while it stays the same.
void tag(const http::Request& request, http::Response& response) {
  if (request.post || response.status != http::kOk || response.body.empty()) return;
  constexpr size_t kTagDigits = 32;
  response.etag = "\"" + sha256_hex(response.body).substr(0, kTagDigits) + "\"";
  if (!shows_tag(request.if_none_match, response.etag)) return;
  response.status = http::kNotModified;
  response.body.clear();
}

// People may paste a token as it was handed to them; what is shown is its secret.
std::string secret_of(const std::string& shown) {
  const auto token = pki::parse_token(shown);
  return token.ok() ? token->secret : shown;
}

}  // namespace

http::Response refused(const Problem& problem) {
  std::string code(to_string(problem.code));
  auto metadata = problem.metadata;
  for (auto& [key, value] : metadata) value = cut_text(value, kLongestQuoteBytes);
  http::Response response;
  response.status = status_of(problem);
  response.body = dumped({{"code", code},
                          {"reason", problem.reason},
                          {"message", cut_text(problem.message, kLongestMessageBytes)},
                          {"metadata", metadata}});
  if (const auto wait = problem.metadata.find("retry_after_s"); wait != problem.metadata.end()) {
    response.retry_after_s = static_cast<unsigned>(std::strtoul(wait->second.c_str(), nullptr, 10));
  }
  return response;
}

Answer<http::Response> answered(const Result<Json>& json) {
  if (!json.ok()) return json.error();
  http::Response response;
  response.body = dumped(*json);
  return response;
}

bool shows_tag(const std::string& if_none_match, const std::string& etag) {
  std::string_view rest = if_none_match;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.starts_with("W/")) one.remove_prefix(2);  // a proxy has compressed it
    if (one.substr(0, one.find_last_not_of(' ') + 1) == etag) return true;
  }
  return false;
}

Api::Api(const Core& core, WatchHub& hub, Meters& meters, CallLimits& limits, ReadingPool& reading)
    : core_(core),
      hub_(hub),
      refusals_(meters),
      roles_(method_roles()),
      limits_(limits),
      reading_(reading),
      streams_(kStreamsOfPayer),
      comparisons_of_payer_(kComparisonsOfPayer),
      comparisons_(kComparisons),
      points_of_payer_(kPointsOfPayer),
      unchanging_(kUnchangingBytes) {}

void Api::answer(http::Request request, const http::WebServer::Reply& reply) {
  if (request.path.starts_with(kPrefix)) return call(std::move(request), reply);
  if (sign_in_ && SignInPages::has(request.path)) return sign_in_->answer(request, reply);
  reply(page(request));
}

// A file of the pages, as it was compressed when this program was built if the caller reads that.
http::Response Api::page(const http::Request& request) {
  const auto file = dashboards::bundled_file(request.path);
  if (!file || request.post) return refused(no_such_path(request.path));
  http::Response response;
  response.type = file->type;
  response.encoding = http::kIdentity;
  response.lasting = file->content;
  if (!file->brotli.empty() && accepts(request.accept_encoding, "br")) {
    response.encoding = "br";
    response.lasting = file->brotli;
  } else if (!file->gzip.empty() && accepts(request.accept_encoding, "gzip")) {
    response.encoding = "gzip";
    response.lasting = file->gzip;
  }
  response.etag = "\"" + std::string(file->sha256) + "-" + response.encoding + "\"";
  if (shows_tag(request.if_none_match, response.etag)) {
    response.status = http::kNotModified;
    response.lasting = {};
  }
  return response;
}

void Api::call(http::Request request, const http::WebServer::Reply& reply) {
  const auto owned = std::make_shared<const http::Request>(std::move(request));
  const std::string path = owned->path.substr(kPrefix.size());
  const auto verb = owned->post ? Route::Verb::post : Route::Verb::get;
  const auto entry = std::ranges::find_if(entries(), [&](const Entry& one) {
    return one.answer != nullptr && one.route.verb == verb && matches(one.route, path);
  });
  if (entry == entries().end()) return reply(refused(no_such_path(owned->path)));
  auto caller = core_.access.authorize(
      {secret_of(owned->bearer), "", oidc::cookie_in(owned->cookie, oidc::kSessionCookie)},
      roles_.at(entry->route.method), unix_seconds());
  if (!caller) {
    // The path of the table: what stands in its place is the caller's choice.
    refusals_.note(std::string(kPrefix) + entry->route.path, owned->peer, caller.problem().message);
    return reply(refused(caller.problem()));
  }
  const std::string payer = payer_of(*caller, owned->peer);
  if (const auto problem = limits_.refusal(payer)) return reply(refused(*problem));
  // A page of elsewhere can send other types unasked, with the rights of who looks at it.
  if (owned->post && !is_json(owned->type)) {
    auto response = refused(invalid_field("Content-Type", "it must be application/json"));
    response.status = http::kWrongType;
    return reply(std::move(response));
  }
  const auto parts = segments(path);
  auto work = [this, owned, entry = &*entry,
               asked = Call{
                   *owned, entry->route, {parts.begin(), parts.end()}, std::move(*caller), payer}] {
    const MeteredCall metered(limits_, asked.payer, entry->cost_s);
    auto answer = (this->*entry->answer)(asked);
    http::Response response = answer ? std::move(answer).value() : refused(answer.problem());
    // What administrators alone see no browser keeps.
    const bool may_be_kept = roles_.at(entry->route.method) == Role::viewer;
    if (response.etag.empty() && may_be_kept) tag(*owned, response);
    response.payer = asked.payer;
    return response;
  };
  if (!entry->is_long) return reply(work());
  const auto problem = reading_.submit(payer, [owned, reply, work](bool stopping) {
    if (stopping) return reply(refused(stopping_problem()));
    if (owned->abandoned()) return reply({});
    try {
      reply(work());
    } catch (const std::exception& failure) {
      reply(refused({ErrorCode::internal,
                     "INTERNAL",
                     std::string("the server failed: ") + failure.what(),
                     {}}));
    }
  });
  if (problem) reply(refused(*problem));
}

Answer<int64_t> Api::campaign_of(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(call.campaign()));
  STRIPLINE_RETURN_IF_ERROR(core_.coordinator.campaigns().campaign(number));
  return number;
}

Answer<http::Response> Api::description(const Call& /*call*/) {
  std::vector<Route> routes;
  for (const Entry& entry : entries()) {
    if (entry.answer != nullptr) routes.push_back(entry.route);
  }
  return answered(Result<Json>(openapi(routes, roles_)));
}

template <typename Sent>
Answer<http::Response> Api::campaign_comparison(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(auto compare, call.as<v1::CompareCampaignsRequest>());
  compare.set_baseline(call.campaign());
  const auto with = call.request.query.find("with");
  if (with == call.request.query.end()) {
    return invalid_field("with", "it is needed: the campaign to compare, campaigns/cN");
  }
  compare.set_candidate(with->second);
  // It is in memory until it has been sent.
  auto place = comparisons_of_payer_.take(call.payer);
  auto one_of_all = place ? comparisons_.take("") : nullptr;
  if (!one_of_all) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   "comparisons are being sent, as many as may be at a time; try again when one "
                   "has arrived",
                   {}};
  }
  STRIPLINE_ASSIGN_OR_RETURN(auto compared,
                             compared_campaigns(core_.store, core_.results, compare));
  http::Response response;
  response.pieces = std::make_unique<Sent>(limits_, call.payer, std::move(compared));
  response.keeps = std::make_shared<std::pair<std::shared_ptr<void>, std::shared_ptr<void>>>(
      std::move(place), std::move(one_of_all));
  return response;
}

template Answer<http::Response> Api::campaign_comparison<ComparisonRows>(const Call& call);
template Answer<http::Response> Api::campaign_comparison<ComparisonColumns>(const Call& call);

// The points of a campaign, a page of the store at a time.
class Api::PointPieces final : public http::Pieces {
 public:
  PointPieces(Store& store, CallLimits& limits, std::string payer, int64_t campaign)
      : store_(store), limits_(limits), payer_(std::move(payer)), campaign_(campaign) {}

  std::optional<std::string> next() override {
    if (ended_) return std::nullopt;
    // Points share their threads with all pages: a caller without allowance left waits.
    if (limits_.refusal(payer_)) return "";
    const MeteredCall metered(limits_, payer_, 0);
    const auto points = store_.points(campaign_, {}, from_, kRowsAtOnce);
    // What breaks off is seen to be cut: it is no whole JSON.
    if (!points.ok()) return std::nullopt;
    std::string text = from_ == 0 ? "{\"points\": [" : "";
    for (const PointRecord& point : *points) {
      if (!first_) text += ",\n";
      first_ = false;
      text += dumped(to_json(point));
      from_ = point.place + 1;
    }
    ended_ = points->size() < kRowsAtOnce;
    if (ended_) text += "]}";
    return text;
  }

 private:
  Store& store_;
  CallLimits& limits_;
  const std::string payer_;
  const int64_t campaign_;
  uint32_t from_ = 0;
  bool first_ = true;
  bool ended_ = false;
};

Answer<http::Response> Api::points(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_of(call));
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, core_.store.runs(number));
  // Points are added when a run is given out, and known better when it has finished: whoever asks
  // again and again learns when there is something new.
  uint64_t finished = 0;
  uint64_t attempts = 0;
  for (const RunRecord& run : runs) {
    if (run.state == RunState::finished) ++finished;
    attempts += run.fence;
  }
  http::Response response;
  response.etag = "\"runs-" + std::to_string(finished) + "-" + std::to_string(attempts) + "\"";
  if (shows_tag(call.request.if_none_match, response.etag)) {
    response.status = http::kNotModified;
    return response;
  }
  response.keeps = points_of_payer_.take(call.payer);
  if (!response.keeps) {
    return Problem{ErrorCode::resource_exhausted,
                   "BUSY",
                   call.payer + " is sent the points of " + std::to_string(kPointsOfPayer) +
                       " campaigns, the maximum number for one caller; try again when some have "
                       "arrived",
                   {}};
  }
  response.pieces = std::make_unique<PointPieces>(core_.store, limits_, call.payer, number);
  return response;
}

Answer<http::Response> Api::opened(const Call& call, const std::vector<Followed>& followed,
                                   bool several) {
  for (const Followed& one : followed) {
    STRIPLINE_RETURN_IF_ERROR(core_.coordinator.campaigns().campaign(one.campaign));
  }
  auto place = streams_.take(call.payer);
  if (!place) {
    return Problem{ErrorCode::resource_exhausted,
                   "TOO_MANY_STREAMS",
                   call.payer + " has " + std::to_string(kStreamsOfPayer) +
                       " event streams open, as many as one caller may; one of them can follow "
                       "several campaigns: events?after=",
                   {}};
  }
  const auto refusal = [this, caller = call.caller] {
    return core_.access.refusal_of_stream(caller, unix_seconds());
  };
  http::Response response;
  response.type = "text/event-stream";
  if (several) {
    response.pieces =
        std::make_unique<CampaignEvents>(core_.store, hub_, followed, refusal, std::move(place));
  } else {
    response.pieces = std::make_unique<CampaignEvents>(core_.store, hub_, followed.front(), refusal,
                                                       std::move(place));
  }
  return response;
}

Answer<http::Response> Api::events(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto asked, call.as<v1::WatchCampaignRequest>());
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(asked.name()));
  return opened(call, {{number, asked.cursor()}}, false);
}

Answer<http::Response> Api::all_events(const Call& call) {
  const auto after = call.request.query.find("after");
  const auto followed =
      after == call.request.query.end() ? std::nullopt : parse_followed(after->second);
  if (!followed) {
    return invalid_field("after",
                         "it is needed: campaigns, each with the cursor of the last "
                         "event that is known, as in c1:17,c2:0; at most " +
                             std::to_string(kMaxFollowed));
  }
  return opened(call, *followed, true);
}

}  // namespace stripline::server
