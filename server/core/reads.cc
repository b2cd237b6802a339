#include "server/core/reads.h"

#include <cstdlib>
#include <map>
#include <utility>

#include <google/protobuf/util/json_util.h>

#include "base/json.h"
#include "proto/campaign_messages.h"
#include "server/clock.h"
#include "server/core/models/model_gate.h"
#include "server/core/operations/server_status.h"
#include "server/core/page_token.h"
#include "server/core/sessions/run_load.h"
#include "server/core/wire.h"

namespace stripline::server {
namespace {

// The first `limit` of these, which are one more if there is another page. `key` is what the next
// one begins after.
template <typename Response, typename Items, typename Add, typename Key>
Response page_of(const Items& items, size_t limit, const std::string& list, const Add& add,
                 const Key& key) {
  Response response;
  for (size_t i = 0; i < items.size() && i < limit; ++i) add(response, items[i]);
  if (items.size() > limit) {
    response.set_next_page_token(make_page_token(list, key(items[limit - 1])));
  }
  return response;
}

Problem model_not_found(const std::string& name) {
  return {ErrorCode::not_found,
          "MODEL_NOT_FOUND",
          "no model is named '" + name + "'; 'stripline model list' names them",
          {{"name", name}}};
}

Answer<ModelVersionRecord> find_labelled(Store& store, const std::string& model,
                                         const std::string& label) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store.model(model));
  if (!existing) return model_not_found(model_name(model));
  STRIPLINE_ASSIGN_OR_RETURN(const auto moves, store.labels(model));
  const LabelRecord* const current = current_of(moves, label);
  STRIPLINE_ASSIGN_OR_RETURN(const auto version,
                             current == nullptr
                                 ? Result<std::optional<ModelVersionRecord>>(std::nullopt)
                                 : store.model_version(current->key));
  if (version) return *version;
  return Problem{ErrorCode::not_found,
                 "MODEL_VERSION_NOT_FOUND",
                 "no version of '" + model_name(model) + "' is " + label +
                     "; 'stripline model promote' names one",
                 {{"name", model_name(model)}}};
}

}  // namespace

Answer<v1::ListNodesResponse> list_nodes(Coordinator& coordinator, const Access& access,
                                         const v1::ListNodesRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto after, read_page_token("nodes", request.page_token()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto nodes, coordinator.fleet().nodes(after, limit + 1));
  const double now_unix_s = unix_seconds();
  return page_of<v1::ListNodesResponse>(
      nodes, limit, "nodes",
      [&](auto& response, const NodeView& node) {
        v1::Node& added = *response.add_nodes();
        added = to_wire(node);
        add_certificate_end(access, now_unix_s, added);
      },
      [](const NodeView& node) { return node.record.name; });
}

Answer<v1::Node> get_node(Coordinator& coordinator, const Access& access,
                          const v1::GetNodeRequest& request) {
  const auto name = parse_node_name(request.name());
  if (!name) return invalid_field("name", "'" + request.name() + "' is not of the form nodes/NAME");
  STRIPLINE_ASSIGN_OR_RETURN(const auto node, coordinator.fleet().node(*name));
  v1::Node message = to_wire(node);
  add_certificate_end(access, unix_seconds(), message);
  return message;
}

Answer<int64_t> campaign_number(const std::string& name) {
  const auto number = parse_campaign_name(name);
  if (!number) return invalid_field("name", "'" + name + "' is not of the form campaigns/cNUMBER");
  return *number;
}

Answer<v1::ListCampaignsResponse> list_campaigns(Coordinator& coordinator,
                                                 const v1::ListCampaignsRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto token, read_page_token("campaigns", request.page_token()));
  const int64_t before = token.empty() ? 0 : parse_campaign_name(token).value_or(0);
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaigns,
                             coordinator.campaigns().campaigns(before, limit + 1));
  return page_of<v1::ListCampaignsResponse>(
      campaigns, limit, "campaigns",
      [](auto& response, const CampaignView& view) { *response.add_campaigns() = to_wire(view); },
      [](const CampaignView& view) { return view.name; });
}

Answer<v1::ListPointsResponse> list_points(Coordinator& coordinator, Store& store,
                                           const v1::ListPointsRequest& request) {
  const auto number = campaign_number(request.name());
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign,
                             number ? coordinator.campaigns().campaign(*number) : number.problem());
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  const std::string list = campaign.name + "/points";
  STRIPLINE_ASSIGN_OR_RETURN(const auto last, read_page_token(list, request.page_token()));
  const auto from =
      last.empty() ? 0 : static_cast<uint32_t>(std::strtoul(last.c_str(), nullptr, 10)) + 1;
  const PointFilter filter{
      request.experiment(), request.variant(), {request.params().begin(), request.params().end()}};
  STRIPLINE_ASSIGN_OR_RETURN(const auto points, store.points(*number, filter, from, limit + 1));
  return page_of<v1::ListPointsResponse>(
      points, limit, list,
      [](auto& response, const PointRecord& point) { *response.add_points() = to_wire(point); },
      [](const PointRecord& point) { return std::to_string(point.place); });
}

namespace {

// What the two sides of a comparison have said.
struct Side {
  CampaignRecord record;
  campaign::MedianTable points;
};

Answer<Side> read_side(Store& store, RunResults& results, const std::string& name) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(name));
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, store.campaign(number));
  if (!record) return campaign_not_found(name);
  STRIPLINE_ASSIGN_OR_RETURN(auto stored, store.point_medians(number));
  if (stored) return Side{*record, *std::move(stored)};
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store.runs(number));
  STRIPLINE_ASSIGN_OR_RETURN(const auto points, results.points_of(store, number, runs));
  return Side{*record, campaign::MedianTable(points)};
}

// A share as it is asked for, or the usual one.
Answer<double> share_of(double asked, double usual, const char* field) {
  if (asked == 0) return usual;
  if (asked > 0 && asked < 1) return asked;
  return invalid_field(field, "a share above 0 and below 1 is possible");
}

}  // namespace

Answer<ComparedCampaigns> compared_campaigns(Store& store, RunResults& results,
                                             const v1::CompareCampaignsRequest& request) {
  campaign::ComparisonTerms terms;
  STRIPLINE_ASSIGN_OR_RETURN(const auto margin, share_of(request.margin(), terms.margin, "margin"));
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto rate,
      share_of(request.false_discoveries(), terms.false_discoveries, "false_discoveries"));
  STRIPLINE_ASSIGN_OR_RETURN(auto a, read_side(store, results, request.baseline()));
  STRIPLINE_ASSIGN_OR_RETURN(auto b, read_side(store, results, request.candidate()));
  terms.margin = margin;
  terms.false_discoveries = rate;
  terms.other_experiments = other_experiments(a.record, b.record);
  return ComparedCampaigns{
      campaign::compare_campaigns(std::move(a.points), std::move(b.points), std::move(terms)),
      spec_differences(a.record.spec, b.record.spec)};
}

Answer<v1::CompareCampaignsResponse> compare_campaigns(Store& store, RunResults& results,
                                                       const v1::CompareCampaignsRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto compared, compared_campaigns(store, results, request));
  v1::CompareCampaignsResponse response;
  for (const auto& point : compared.comparison.points) {
    STRIPLINE_ASSIGN_OR_RETURN(*response.add_points(), to_wire(compared.comparison, point));
  }
  for (const SpecDifference& difference : compared.differences) {
    auto& added = *response.add_differences();
    added.set_field(difference.field);
    added.set_baseline(difference.a);
    added.set_candidate(difference.b);
  }
  return response;
}

Answer<v1::CampaignEstimate> estimate_campaign(Coordinator& coordinator,
                                               const v1::EstimateCampaignRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto estimate, coordinator.planning().estimate_campaign(from_message(request.spec())));
  return to_wire(estimate);
}

Answer<v1::Campaign> get_campaign(Coordinator& coordinator, Store& store,
                                  const v1::GetCampaignRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, campaign_number(request.name()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, coordinator.campaigns().campaign(number));
  v1::Campaign message = to_wire(campaign);
  STRIPLINE_ASSIGN_OR_RETURN(const auto runs, store.runs(number));
  for (const RunRecord& run : runs) {
    if (run.state != RunState::finished) continue;
    STRIPLINE_ASSIGN_OR_RETURN(const auto facts, store.attempt_facts(run.key, run.fence));
    if (const auto load = load_of_run(facts)) *message.add_run_loads() = to_wire(*load);
  }
  return message;
}

Result<v1::CampaignEvent> event_message(const EventRecord& event) {
  STRIPLINE_ASSIGN_OR_RETURN(const Json json, parse_json(event.view_json, "stored event"));
  STRIPLINE_ASSIGN_OR_RETURN(const CampaignView view, campaign_view_from_json(json));
  v1::CampaignEvent message;
  message.set_cursor(event.cursor);
  message.set_time(rfc3339(event.time_unix_s));
  message.set_message(event.message);
  *message.mutable_campaign() = to_wire(view);
  return message;
}

bool is_last(const v1::CampaignEvent& event, const CampaignRecord& now) {
  const auto state = event.campaign().state();
  return event.campaign().retries() == now.retries &&
         (state == v1::Campaign::SUCCEEDED || state == v1::Campaign::FAILED ||
          state == v1::Campaign::CANCELLED);
}

namespace {

v1::Model model_message(const ModelRecord& model,
                        const std::map<std::string, std::string>& unreadable) {
  v1::Model message = to_wire(model);
  const auto why = unreadable.find(model.name);
  if (why != unreadable.end()) message.set_unreadable(why->second);
  return message;
}

}  // namespace

Answer<v1::ListModelsResponse> list_models(Coordinator& coordinator, Store& store,
                                           const v1::ListModelsRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto after, read_page_token("models", request.page_token()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto models, store.models(after, limit + 1));
  const auto unreadable = coordinator.models().unreadable();
  return page_of<v1::ListModelsResponse>(
      models, limit, "models",
      [&](auto& response, const ModelRecord& model) {
        *response.add_models() = model_message(model, unreadable);
      },
      [](const ModelRecord& model) { return model.name; });
}

Answer<v1::Model> get_model(Coordinator& coordinator, Store& store,
                            const v1::GetModelRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, find_model(store, request.name()));
  return model_message(model, coordinator.models().unreadable());
}

Answer<ModelRecord> find_model(Store& store, const std::string& name) {
  const auto segment = parse_model_name(name);
  if (!segment) return invalid_field("name", "'" + name + "' is not of the form models/NAME");
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store.model(*segment));
  if (!model) return model_not_found(name);
  return *model;
}

Answer<v1::ListModelVersionsResponse> list_model_versions(
    Store& store, const v1::ListModelVersionsRequest& request) {
  const auto model = parse_model_name(request.parent());
  if (!model) {
    return invalid_field("parent", "'" + request.parent() + "' is not of the form models/NAME");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  const std::string list = request.parent() + "/versions";
  STRIPLINE_ASSIGN_OR_RETURN(const auto token, read_page_token(list, request.page_token()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto existing, store.model(*model));
  if (!existing) return model_not_found(request.parent());
  const auto last = parse_version_name(list + "/" + token);
  STRIPLINE_ASSIGN_OR_RETURN(const auto versions,
                             store.model_versions(*model, last ? last->version : 0, limit + 1));
  return page_of<v1::ListModelVersionsResponse>(
      versions, limit, list,
      [](auto& response, const ModelVersionRecord& version) {
        *response.add_versions() = to_wire(version);
      },
      [](const ModelVersionRecord& version) { return std::to_string(version.key.version); });
}

Answer<ModelVersionRecord> find_version(Store& store, const std::string& name) {
  if (const auto label = parse_label_name(name)) {
    return find_labelled(store, label->first, label->second);
  }
  const auto key = parse_version_name(name);
  if (!key) {
    return invalid_field("name", "'" + name +
                                     "' is of none of the forms models/NAME/versions/NUMBER, "
                                     "models/NAME/labels/LABEL and models/NAME");
  }
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, store.model_version(*key));
  if (version) return *version;
  STRIPLINE_ASSIGN_OR_RETURN(const auto model, store.model(key->model));
  if (!model) return model_not_found(model_name(key->model));
  if (model->latest_version == 0) {
    return Problem{ErrorCode::not_found,
                   "MODEL_VERSION_NOT_FOUND",
                   "every version of '" + model_name(key->model) +
                       "' is withdrawn; 'stripline model list NAME' says why",
                   {{"name", name}}};
  }
  return Problem{ErrorCode::not_found,
                 "MODEL_VERSION_NOT_FOUND",
                 "'" + name + "' does not exist; the latest is " +
                     version_name({key->model, model->latest_version}),
                 {{"name", name}}};
}

Answer<v1::ModelVersion> get_model_version(Store& store,
                                           const v1::GetModelVersionRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, request.name()));
  return to_wire(version);
}

Result<std::string> json_text(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) return Error(ErrorCode::internal, "no JSON form: " + status.ToString());
  return text;
}

}  // namespace stripline::server
