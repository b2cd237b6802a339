// The table of calls: what gRPC and /api/v1 answer (docs/http.md, Paths), a line each. Messages and
// roles are those of the .proto files. Of a line with a function of the core follow the method of
// gRPC, the path of HTTP and its description; a line with a method of Api is HTTP's alone, and
// streams are methods of gRPC's services.
#include <exception>
#include <string>

#include <google/protobuf/descriptor.h>

#include "proto/methods.h"
#include "server/core/actions.h"
#include "server/core/fleet_history.h"
#include "server/core/models/feedback.h"
#include "server/core/models/model_actions.h"
#include "server/core/operations/operations.h"
#include "server/core/operations/server_status.h"
#include "server/core/reads.h"
#include "server/doors/admin_calls.h"
#include "server/doors/api_call.h"
#include "server/doors/comparison_pieces.h"
#include "server/doors/unary.h"
// With it comes how gRPC reads and writes messages.
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kEvents = "text/event-stream";
constexpr const char* kVersion = "/stripline.v1.Models/ListModelVersions";
constexpr bool kLong = true;
constexpr double kReportCost_s = 0.5;

}  // namespace

template <auto kCall>
Api::Entry Api::by_grpc(const GrpcCharge& charge) {
  const google::protobuf::MethodDescriptor& method = method_taking(*RequestOf<kCall>::descriptor());
  if (method.output_type() != ResponseOf<kCall>::descriptor()) std::terminate();
  Entry entry;
  entry.route.method = path_of(method);
  entry.charge = charge;
  entry.handler = &unary_handler<kCall>;
  return entry;
}

template <auto kCall>
Api::Entry Api::by_http(Route::Verb verb, const char* path, const char* operation,
                        const char* about, double cost_s, bool is_long) {
  Entry entry = by_grpc<kCall>();
  entry.handler = nullptr;
  entry.route.verb = verb;
  entry.route.path = path;
  entry.route.operation = operation;
  entry.route.about = about;
  if (verb == Route::Verb::get) entry.route.query = options_of(*RequestOf<kCall>::descriptor());
  entry.answer = &Api::asked<kCall>;
  entry.cost_s = cost_s;
  entry.is_long = is_long;
  return entry;
}

template <auto kCall>
Api::Entry Api::by_both(Route::Verb verb, const char* path, const char* operation,
                        const char* about, const GrpcCharge& charge, double cost_s, bool is_long) {
  Entry entry = by_http<kCall>(verb, path, operation, about, cost_s, is_long);
  entry.charge = charge;
  entry.handler = &unary_handler<kCall>;
  return entry;
}

const std::vector<Api::Entry>& Api::entries() {
  using enum Route::Verb;
  static const std::vector<Entry> kEntries = {
      by_both<who_am_i>(get, "whoami", "whoAmI", "Who the caller is."),
      by_both<get_server_status>(get, "status", "getServerStatus",
                                 "Whether anything can be stored, and what ends soon."),
      {{get, "openapi.json", "getDescription", "/stripline.v1.Admin/WhoAmI", "This description.",
        kJson},
       &Api::description},
      by_both<list_nodes>(get, "nodes", "listNodes", "All nodes, by name.",
                          {.least_s = kCallCost_s}),
      by_both<get_node>(get, "nodes/{node}", "getNode", "One node.", {.least_s = kReadCost_s}),
      by_both<cordon_node>(post, "nodes/{node}/cordon", "cordonNode",
                           "It gets no new runs; what it works on goes on."),
      by_both<drain_node>(post, "nodes/{node}/drain", "drainNode",
                          "The same, and what it works on ends at the time limit."),
      by_both<uncordon_node>(post, "nodes/{node}/uncordon", "uncordonNode", "It gets runs again."),
      by_both<remove_node>(post, "nodes/{node}/remove", "removeNode",
                           "It is forgotten, once its agent is not connected any more."),
      by_both<get_history>(get, "history", "getHistory",
                           "What ran on which nodes, and what happened to these.",
                           {.least_s = kTableCost_s, .is_long = true}, kTableCost_s, kLong),
      by_both<list_campaigns>(get, "campaigns", "listCampaigns", "All campaigns, the newest first.",
                              {.least_s = kCallCost_s}),
      by_both<get_campaign>(get, "campaigns/{campaign}", "getCampaign", "One campaign.",
                            {.least_s = kReadCost_s}),
      {{get, "campaigns/{campaign}/points", "getPoints", "/stripline.v1.Campaigns/GetCampaign",
        "What is known of each point so far.", kJson},
       &Api::points},
      {{get,
        "campaigns/{campaign}/events",
        "watchCampaign",
        "/stripline.v1.Campaigns/WatchCampaign",
        "What happens, until the campaign ends.",
        kEvents,
        {"cursor"}},
       &Api::events},
      {{get,
        "events",
        "watchCampaigns",
        "/stripline.v1.Campaigns/WatchCampaign",
        "What happens to several campaigns, as one stream.",
        kEvents,
        {"after"}},
       &Api::all_events},
      by_both<cancel_campaign>(
          post, "campaigns/{campaign}/cancel", "cancelCampaign",
          "No run starts any more, running ones are asked to stop; samples stay."),
      by_both<pause_campaign>(
          post, "campaigns/{campaign}/pause", "pauseCampaign",
          "No run starts until it is resumed; a running one goes on to its end."),
      by_both<resume_campaign>(post, "campaigns/{campaign}/resume", "resumeCampaign",
                               "Runs start again."),
      by_both<retry_campaign>(post, "campaigns/{campaign}/retry", "retryCampaign",
                              "A failed or cancelled one goes on; finished runs count."),
      by_both<delete_campaign>(
          post, "campaigns/{campaign}/delete", "deleteCampaign",
          "It is forgotten with its samples, once it has ended and no model was fitted to it."),
      by_both<estimate_campaign>(post, "campaigns/estimate", "estimateCampaign",
                                 "What a campaign would take and reach. Nothing is created.",
                                 {.least_s = kPlanCost_s, .is_long = true}, kPlanCost_s),
      {{get,
        "campaigns/{campaign}/compare",
        "compareCampaigns",
        "/stripline.v1.Campaigns/CompareCampaigns",
        "Another campaign against this one, point by point.",
        "",
        {"with", "margin", "false_discoveries"}},
       &Api::campaign_comparison<ComparisonRows>,
       kCompareCost_s,
       kLong},
      {{get,
        "campaigns/{campaign}/compare/columns",
        "getComparisonColumns",
        "/stripline.v1.Campaigns/CompareCampaigns",
        "The same column by column, for hundreds of thousands of points.",
        kJson,
        {"with", "margin", "false_discoveries"}},
       &Api::campaign_comparison<ComparisonColumns>,
       kCompareCost_s,
       kLong},
      {{get, "explain", "listDecisions", "/stripline.v1.Models/GetModel",
        "Which decisions may be asked for, with their options.", kJson},
       &Api::questions},
      by_both<list_models>(get, "models", "listModels", "All models.", {.least_s = kCallCost_s}),
      by_both<get_model>(get, "models/{model}", "getModel", "One model.", {.least_s = kReadCost_s}),
      by_both<list_model_versions>(get, "models/{model}/versions", "listModelVersions",
                                   "Its versions, the newest first.", {.least_s = kCallCost_s}),
      by_both<get_model_version>(get, "models/{model}/versions/{version}", "getModelVersion",
                                 "One version.", {.least_s = kReadCost_s}),
      by_both<list_feedback>(get, "models/{model}/feedback", "listFeedback",
                             "What runs reported about its versions, the newest first.",
                             {.least_s = kTableCost_s, .is_long = true}, kTableCost_s),
      by_http<list_feedback>(
          get, "models/{model}/versions/{version}/feedback", "listVersionFeedback",
          "What runs reported about this version, the newest first.", kTableCost_s),
      {{get, "models/{model}/versions/{version}/file", "getModelFile", kVersion, "The model file.",
        kJson},
       &Api::file},
      {{get,
        "models/{model}/versions/{version}/explain/{command}",
        "explainDecision",
        kVersion,
        "One decision with its reasons.",
        kJson,
        {"*"}},
       &Api::explanation},
      {{get,
        "models/{model}/versions/{version}/decisions/{command}",
        "tabulateDecisions",
        kVersion,
        "A table of decisions.",
        kJson,
        {"*"}},
       &Api::decisions,
       kTableCost_s,
       kLong},
      {{get,
        "models/{model}/versions/{version}/compare",
        "compareModelVersions",
        kVersion,
        "Another version against this one.",
        kJson,
        {"with"}},
       &Api::comparison,
       kTableCost_s,
       kLong},
      {{get, "models/{model}/versions/{version}/sentinels", "listSentinels", kVersion,
        "What sentinels have said of it over time.", kJson},
       &Api::sentinels,
       kTableCost_s,
       kLong},
      {{get, "models/{model}/versions/{version}/gate", "getGate", kVersion,
        "Why a label would not name it now, by label; null: it would.", kJson},
       &Api::gate},
      {{get, "models/{model}/labels", "listLabelMoves", "/stripline.v1.Models/GetModel",
        "What its labels have named, in the order of their moves.", kJson},
       &Api::labels},
      by_both<promote_model>(post, "models/{model}/versions/{version}/promote",
                             "promoteModelVersion",
                             "A label names it, if it passes the gate; agents are offered it."),
      by_both<withdraw_model>(post, "models/{model}/versions/{version}/withdraw",
                              "withdrawModelVersion", "It is not to be used any more."),
      by_both<validate_model>(post, "models/{model}/versions/{version}/validate",
                              "validateModelVersion", "Campaigns judge it.",
                              {.least_s = kTableCost_s, .is_long = true}, kTableCost_s),
      by_both<check_model>(
          post, "models/{model}/versions/{version}/check", "checkModelVersion",
          "Whether the network is still as it says, by a campaign that has measured again.", {},
          kTableCost_s),
      by_both<rollback_label>(post, "models/{model}/labels/{label}/rollback", "rollbackModelLabel",
                              "The label names the version of before again."),
      by_both<fit_model>(post, "models/{model}/fit", "fitModel",
                         "A version is fitted to what campaigns have measured: an operation."),
      by_both<list_operations>(get, "operations", "listOperations",
                               "What takes longer than a call, the newest first.",
                               {.least_s = kCallCost_s}),
      by_both<get_operation>(get, "operations/{operation}", "getOperation",
                             "How far one is, or what became of it.", {.least_s = kReadCost_s}),
      by_both<cancel_operation>(post, "operations/{operation}/cancel", "cancelOperation",
                                "It ends without a result."),
      {{get, "campaigns/{campaign}/points/summary", "getPointSummary",
        "/stripline.v1.Campaigns/GetCampaign",
        "How many points of each experiment there are, and how many are measured.", kJson},
       &Api::point_summary},
      {{get,
        "campaigns/{campaign}/points/columns",
        "getPointColumns",
        "/stripline.v1.Campaigns/GetCampaign",
        "The points of one experiment, column by column.",
        kJson,
        {"experiment"}},
       &Api::point_columns,
       kTableCost_s,
       kLong},
      {{get, "campaigns/{campaign}/points/{point}", "getSamplesOfPoint",
        "/stripline.v1.Campaigns/ExportSamples", "Every sample of the point at this place, by run.",
        kJson},
       &Api::samples_of_point,
       kCompareCost_s,
       kLong},
      {{get, "campaigns/{campaign}/runs", "listRuns", "/stripline.v1.Campaigns/GetCampaign",
        "Its runs: where each was, and what became of it.", kJson},
       &Api::runs},
      // It is what operators are here for: gRPC charges a call, not the time that planning takes.
      by_both<create_campaign>(post, "campaigns", "createCampaign",
                               "A campaign is planned and starts when its nodes are free.",
                               {.least_s = kPlanCost_s, .by_call = true}, kPlanCost_s),
      {{post, "campaigns/import", "importResults", "/stripline.v1.Campaigns/ImportResults",
        "What a plan has brought where no server is reached becomes a campaign; in parts."},
       &Api::import,
       kCallCost_s,
       kLong},
      by_both<label_campaign>(post, "campaigns/{campaign}/label", "labelCampaign",
                              "Its labels are these from now on."),
      by_both<list_tokens>(get, "tokens", "listTokens",
                           "All tokens that can be used, and those that could lately."),
      by_both<create_token>(
          post, "tokens", "createToken",
          "A token for a user, or for nodes to enrol with. Its text is in this answer alone."),
      by_both<revoke_token>(post, "tokens/{token}/revoke", "revokeToken",
                            "It is not accepted from now on."),
      by_both<list_audit_events>(get, "audit", "listAuditEvents",
                                 "What was changed, and by whom, the newest first."),
      by_grpc<list_points>({.least_s = kCallCost_s, .is_long = true}),
      by_grpc<compare_campaigns>({.least_s = kCompareCost_s, .is_long = true}),
      by_grpc<import_model>(),
      // Each report is written to the disk and displaces an older one: one a second.
      by_grpc<send_feedback>({.least_s = kReportCost_s}),
      by_grpc<get_sign_in>(),
      by_grpc<revoke_node>()};
  return kEntries;
}

}  // namespace stripline::server
