// The server as the commands see it: calls that return a Result. Every error carries what to do.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "cli/contexts.h"

namespace google::protobuf {
class Message;
}
namespace stripline {
namespace v1 {
class Campaign;
class CampaignEstimate;
class CampaignEvent;
class CompareCampaignsRequest;
class CompareCampaignsResponse;
class CreateCampaignRequest;
class EstimateCampaignRequest;
class ExportPlanRequest;
class FetchModelVersionRequest;
class FitModelRequest;
class ListOperationsRequest;
class ListOperationsResponse;
class Operation;
class RetryCampaignRequest;
class ListCampaignsResponse;
class ListPointsRequest;
class ListPointsResponse;
class ListModelsResponse;
class ListModelVersionsResponse;
class ListNodesResponse;
class Node;
class CordonNodeRequest;
class DrainNodeRequest;
class ListFeedbackResponse;
class Model;
class ModelVersion;
class PromoteModelVersionRequest;
class SendFeedbackResponse;
class CreateTokenRequest;
class CreateTokenResponse;
class ListAuditEventsResponse;
class ListTokensResponse;
class ServerStatus;
class SignIn;
class Token;
class WhoAmIResponse;
}  // namespace v1
}  // namespace stripline

namespace stripline::cli {

/// The message as one line of JSON in the proto3 mapping, with the field names of the .proto files
/// and all fields present.
std::string json_line(const google::protobuf::Message& message);

/// A model file as it came, and which version it is.
struct FetchedModel {
  std::string version;  ///< "models/m/versions/2"
  std::string sha256;
  std::string provisional;  ///< why it is; empty: it is not
  std::string withdrawn;    ///< why it was; empty: it was not
  std::string stale;        ///< why it does not hold any more; empty: it may
  std::string failed;       ///< what failed in its validation; empty: nothing
  std::string data;         ///< empty when it is the one the client has
};

class Service {
 public:
  /// How watching goes on after an event, or after a quarter of a second without one.
  enum class Next { go_on, stop };
  /// Called with null when nothing has happened.
  using OnEvent = std::function<Next(const v1::CampaignEvent*)>;

  /// With what the user has for each of the servers: a login, or the file of a --dev server of his
  /// own. Where there are several, a call goes to the one that serves.
  explicit Service(const Global& global);
  /// With this instead.
  Service(const Global& global, const Context& context);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  Result<v1::Campaign> create_campaign(const v1::CreateCampaignRequest& request);
  Result<v1::Campaign> get_campaign(const std::string& name);
  Result<v1::CampaignEstimate> estimate_campaign(const v1::EstimateCampaignRequest& request);
  /// Errors of the next five: also already_exists where the campaign's state forbids it.
  Result<v1::Campaign> cancel_campaign(const std::string& name, bool drain);
  Result<v1::Campaign> pause_campaign(const std::string& name);
  Result<v1::Campaign> resume_campaign(const std::string& name);
  Result<v1::Campaign> retry_campaign(const v1::RetryCampaignRequest& request);
  Status delete_campaign(const std::string& name);
  Result<v1::ListCampaignsResponse> list_campaigns(int page_size, const std::string& page_token);
  Result<v1::CompareCampaignsResponse> compare_campaigns(
      const v1::CompareCampaignsRequest& request);
  Result<v1::ListPointsResponse> list_points(const v1::ListPointsRequest& request);
  /// Streams events after `cursor` until the campaign ends, `on_event` stops it, or a minute has
  /// passed: success in all three cases. Call it again with the last event's cursor to go on.
  Status watch_campaign(const std::string& name, uint64_t cursor, const OnEvent& on_event);
  /// Hands every chunk to `sink`; its error ends the call, as does `stop` when it returns true,
  /// which is asked from another thread all the while.
  Status export_samples(
      const std::string& name, const std::function<Status(std::string_view)>& sink,
      const std::function<bool()>& stop = [] { return false; });

  Result<v1::ListModelsResponse> list_models(int page_size, const std::string& page_token);
  Result<v1::ListModelVersionsResponse> list_model_versions(const std::string& model, int page_size,
                                                            const std::string& page_token);
  /// A model that failed its validation: who wants to use one does not want it, who looks at one
  /// does.
  enum class Failed { refuse, accept };
  /// `if_none_match`: a sha256, or empty. Errors: also data_loss when it exceeds the largest model,
  /// already_exists for a model without a version whose best one failed its validation.
  Result<FetchedModel> fetch_model(const std::string& name, const std::string& if_none_match,
                                   Failed failed);

  Result<v1::Model> get_model(const std::string& name);
  Result<v1::ModelVersion> check_model(const std::string& version, const std::string& campaign,
                                       bool rollback);
  Result<v1::ModelVersion> get_model_version(const std::string& name);
  Result<v1::ModelVersion> validate_model(const std::string& version,
                                          const std::vector<std::string>& campaigns);
  /// Errors: also already_exists for a version that does not pass the gate.
  Result<v1::ModelVersion> promote_model(const v1::PromoteModelVersionRequest& request);
  /// `label`: "models/m/labels/stable". Errors: also already_exists if there is no version to go
  /// back to.
  Result<v1::ModelVersion> rollback_label(const std::string& label);
  /// `model` may be empty. Errors: also already_exists if it describes another fabric.
  Result<v1::ModelVersion> import_model(const std::string& model, const std::string& content);
  /// Errors: also invalid_argument for a model without a version.
  Result<v1::ModelVersion> withdraw_model(const std::string& version, const std::string& reason);
  /// Errors: also already_exists if the campaigns' state forbids it.
  Result<v1::Operation> fit_model(const v1::FitModelRequest& request);
  Result<v1::Operation> get_operation(const std::string& name);
  /// Errors: also already_exists once it succeeded or failed.
  Result<v1::Operation> cancel_operation(const std::string& name);
  Result<v1::ListOperationsResponse> list_operations(const v1::ListOperationsRequest& request);
  Result<v1::ListFeedbackResponse> list_feedback(const std::string& name, int page_size,
                                                 const std::string& page_token);
  Result<v1::SendFeedbackResponse> send_feedback(const std::string& content);

  /// The file. Errors: also data_loss when it is larger than any plan.
  Result<std::string> export_plan(const v1::ExportPlanRequest& request);
  /// `text` is the file of results. No time limit: it may have many megabytes.
  Result<v1::Campaign> import_results(const std::string& text);

  Result<v1::ListNodesResponse> list_nodes(int page_size, const std::string& page_token);
  Result<v1::Node> get_node(const std::string& name);
  Result<v1::Node> cordon_node(const v1::CordonNodeRequest& request);
  Result<v1::Node> drain_node(const v1::DrainNodeRequest& request);
  Result<v1::Node> uncordon_node(const std::string& name);
  Status remove_node(const std::string& name);

  Result<v1::ServerStatus> server_status();
  Result<v1::WhoAmIResponse> who_am_i();
  Result<v1::SignIn> get_sign_in();
  Result<v1::CreateTokenResponse> create_token(const v1::CreateTokenRequest& request);
  Result<v1::ListTokensResponse> list_tokens();
  Result<v1::Token> revoke_token(const std::string& name);
  Status revoke_node(const std::string& name);
  Result<v1::ListAuditEventsResponse> list_audit_events(int page_size,
                                                        const std::string& page_token);

  const std::string& server() const;

 private:
  // The calls of these names at one server.
  Status watch_here(const std::string& name, uint64_t cursor, const OnEvent& on_event);
  Status export_here(const std::string& name, const std::function<Status(std::string_view)>& sink,
                     const std::function<bool()>& stop);
  Result<FetchedModel> fetch_here(const v1::FetchModelVersionRequest& request);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stripline::cli
