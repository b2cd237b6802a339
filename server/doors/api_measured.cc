// What /api/v1 answers about what campaigns have measured, and how they come into being.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/number_text.h"
#include "server/clock.h"
#include "server/core/actions.h"
#include "server/core/campaigns/point_samples.h"
#include "server/core/reads.h"
#include "server/doors/api_call.h"
#include "server/store/names.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kMaxUploadName = 64;

// What is known of points changes when a run is given out, as points may be added then, and when it
// has finished.
std::string tag_of(const std::vector<RunRecord>& runs, const std::string& what) {
  uint64_t finished = 0;
  uint64_t attempts = 0;
  for (const RunRecord& run : runs) {
    if (run.state == RunState::finished) ++finished;
    attempts += run.fence;
  }
  return "\"" + what + "-" + std::to_string(finished) + "-" + std::to_string(attempts) + "\"";
}

}  // namespace

Answer<http::Response> Api::point_summary(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_of(call));
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, core_.store.runs(number));
  http::Response response;
  const std::string etag = tag_of(runs, "summary");
  if (shows_tag(call.request.if_none_match, etag)) {
    response.status = http::kNotModified;
    response.etag = etag;
    return response;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto summary, core_.store.point_summary(number));
  Json list = Json::array();
  for (const ExperimentSummary& one : summary) {
    list.push_back({{"experiment", one.experiment},
                    {"points", one.points},
                    {"measured", one.measured},
                    {"failed", one.failed}});
  }
  STRIPLINE_ASSIGN_OR_RETURN(response,
                             answered(Result<Json>(Json{{"experiments", std::move(list)}})));
  response.etag = etag;
  return response;
}

Answer<http::Response> Api::point_columns(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_of(call));
  const auto named = call.request.query.find("experiment");
  if (named == call.request.query.end()) {
    return invalid_field("experiment", "it is needed: one of those that " + call.campaign() +
                                           "/points/summary names");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, core_.store.runs(number));
  http::Response response;
  response.etag = tag_of(runs, "columns");
  if (shows_tag(call.request.if_none_match, response.etag)) {
    response.status = http::kNotModified;
    return response;
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto columns, core_.store.point_columns(number, named->second));
  response.body = columns.json();
  return response;
}

Answer<http::Response> Api::samples_of_point(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_of(call));
  const auto place = number_from_text<uint32_t>(call.path.back());
  if (!place) {
    return invalid_field("point", "it must be the place of a point in the campaign's plan");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto samples, point_samples(core_.store, number, *place));
  return answered(Result<Json>(samples));
}

Answer<http::Response> Api::runs(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_of(call));
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, core_.store.runs(number));
  Json list = Json::array();
  for (const RunRecord& run : runs) {
    Json nodes = Json::array();
    for (const std::string& node : run.rank_nodes) {
      const Json name = node_name(node);
      if (std::ranges::find(nodes, name) == nodes.end()) nodes.push_back(name);
    }
    list.push_back({{"name", run_name(run.key)},
                    {"state", to_string(run.state)},
                    {"failures", run.failures},
                    {"nodes", std::move(nodes)},
                    {"points_done", run.points_done},
                    {"points_total", run.points_total},
                    {"duration_s", run.duration_s},
                    {"message", run.message}});
  }
  return answered(Result<Json>(Json{{"runs", std::move(list)}}));
}

// A part is acknowledged by what is there of the file, {"size"}; the last one by the campaign.
Answer<http::Response> Api::import(const Call& call) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto part, call.as<v1::ResultsChunk>());
  if (part.upload().empty() || part.upload().size() > kMaxUploadName) {
    return invalid_field("upload", "a name of 1 to " + std::to_string(kMaxUploadName) +
                                       " bytes is needed, which all parts share");
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto size,
      uploads_.add(call.caller.name, part.upload(), part.offset(), part.data(), steady_seconds()));
  if (!part.last()) return answered(Result<Json>(Json{{"size", size}}));
  return answered(import_results(core_.coordinator, uploads_.take(call.caller.name, part.upload()),
                                 call.caller.name));
}

}  // namespace stripline::server
