#include "cli/service.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <google/protobuf/util/json_util.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/grpcpp.h>

#include "base/host_and_port.h"
#include "base/pki/dev_token.h"
#include "base/pki/token.h"
#include "cli/server_errors.h"
#include "optimizer/campaign/plan_bundle.h"
#include "optimizer/model/model_json.h"
#include "proto/rpc_error.h"
#include "stripline/v1/access.grpc.pb.h"
#include "stripline/v1/campaigns.grpc.pb.h"
#include "stripline/v1/fleet.grpc.pb.h"
#include "stripline/v1/models.grpc.pb.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::cli {
namespace {

// A stream is renewed this often, which finds out about a server that has gone without a word.
constexpr double kWatchCall_s = 60;
// Where there are several servers, one that is not reached within this time is passed over.
constexpr double kConnectPatience_s = 3;
// Bytes of a file that are sent at a time.
constexpr size_t kUploadBytes = size_t{1} << 20;
constexpr auto kTick = std::chrono::milliseconds(250);

grpc::ChannelArguments channel_arguments() {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  // A server that restarts is noticed soon.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(64 << 20);
  return arguments;
}

std::chrono::system_clock::time_point deadline_after(double seconds) {
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(
             std::chrono::duration<double>(seconds));
}

// A --dev server of the user's own comes first: its file exists while it runs.
Result<std::optional<Context>> login_for(const std::string& server) {
  if (const auto address = parse_host_and_port(server); address.ok()) {
    STRIPLINE_ASSIGN_OR_RETURN(const std::string secret, pki::dev_secret(*address));
    if (!secret.empty()) return std::optional<Context>();
  }
  STRIPLINE_ASSIGN_OR_RETURN(const Contexts contexts, read_contexts());
  const auto found = contexts.servers.find(server);
  return found == contexts.servers.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string json_line(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  // Fails only for google.protobuf.Any of an unknown type, which no message of ours holds.
  return google::protobuf::util::MessageToJsonString(message, &text, options).ok() ? text + '\n'
                                                                                   : "{}\n";
}

// One of the servers that this user may call.
struct Door {
  Door(std::string address, Result<std::optional<Context>> login)
      : server(std::move(address)),
        context_of_login(std::move(login)),
        channel(grpc::CreateCustomChannel(server, channel_credentials(), channel_arguments())),
        campaigns(v1::Campaigns::NewStub(channel)),
        models(v1::Models::NewStub(channel)),
        operations(v1::Operations::NewStub(channel)),
        fleet(v1::Fleet::NewStub(channel)),
        admin(v1::Admin::NewStub(channel)) {}

  std::shared_ptr<grpc::ChannelCredentials> channel_credentials() const {
    if (!context_of_login.ok() || !*context_of_login) return grpc::InsecureChannelCredentials();
    grpc::SslCredentialsOptions options;
    options.pem_root_certs = (*context_of_login)->authority_pem;
    return grpc::SslCredentials(options);
  }

  // Shows who calls. The secret of a --dev server changes with each of its starts, and is shown to
  // no other machine; a user's token is shown to the server of its authority alone.
  Status show(grpc::ClientContext& context) const {
    if (!context_of_login.ok()) return context_of_login.error();
    std::string secret;
    if (*context_of_login) {
      STRIPLINE_ASSIGN_OR_RETURN(const pki::Token token,
                                 pki::parse_token((*context_of_login)->token));
      secret = token.secret;
    } else if (const auto address = parse_host_and_port(server); address.ok()) {
      STRIPLINE_ASSIGN_OR_RETURN(secret, pki::dev_secret(*address));
    }
    if (!secret.empty()) context.AddMetadata("authorization", "Bearer " + secret);
    return {};
  }

  std::string server;
  Result<std::optional<Context>> context_of_login;  // nullopt: none for this server
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Campaigns::Stub> campaigns;
  std::unique_ptr<v1::Models::Stub> models;
  std::unique_ptr<v1::Operations::Stub> operations;
  std::unique_ptr<v1::Fleet::Stub> fleet;
  std::unique_ptr<v1::Admin::Stub> admin;
};

class Service::Impl {
 public:
  // `login` of each server.
  template <typename Login>
  Impl(const Global& global, Login login) : server(global.server), timeout_s(global.timeout_s) {
    const auto servers = parse_servers(global.server);
    if (servers.ok()) {
      for (const HostAndPort& one : *servers) doors.emplace_back(one.text(), login(one.text()));
    } else {
      doors.emplace_back(global.server, login(global.server));
    }
  }

  Door& door() { return doors[current]; }

  // The call at the server that has served last; where that one cannot be reached or stands by, at
  // the others. `begun`: some of the answer has been used, so that the call cannot be made again.
  template <typename Call>
  auto at_some_server(Call call, const bool& begun) -> decltype(call()) {
    for (size_t left = doors.size(); true; --left) {
      elsewhere = false;
      const bool reached =
          left == 1 || door().channel->WaitForConnected(deadline_after(kConnectPatience_s));
      if (reached) {
        auto result = call();
        if (result.ok() || !elsewhere || begun || left == 1) return result;
      }
      current = (current + 1) % doors.size();
    }
  }
  template <typename Call>
  auto at_some_server(Call call) -> decltype(call()) {
    return at_some_server(call, false);
  }

  // One call: `invoke(context, response)`.
  template <typename Response, typename Invoke>
  Result<Response> call(Invoke invoke) {
    return at_some_server([&]() -> Result<Response> {
      grpc::ClientContext context;
      context.set_deadline(deadline_after(timeout_s));
      STRIPLINE_RETURN_IF_ERROR(door().show(context));
      Response response;
      const grpc::Status status = invoke(&context, &response);
      if (!status.ok()) return error_of(status);
      return response;
    });
  }

  // The same of a service's method.
  template <typename Stub, typename Request, typename Response>
  Result<Response> call(std::unique_ptr<Stub> Door::*service,
                        grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                     Response*),
                        const Request& request) {
    return call<Response>([&](auto* context, auto* response) {
      return ((door().*service).get()->*method)(context, request, response);
    });
  }

  // The same of one whose request only says of what it is.
  template <typename Stub, typename Request, typename Response>
  Result<Response> call_by_name(std::unique_ptr<Stub> Door::*service,
                                grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                             Response*),
                                const std::string& name) {
    Request request;
    request.set_name(name);
    return call(service, method, request);
  }

  Error error_of(const grpc::Status& status) {
    const RpcError error = rpc_error_from(status);
    elsewhere = error.reason == "STANDBY" ||
                (error.reason.empty() && error.error.code() == ErrorCode::unavailable);
    return explained(error, door().server);
  }

  std::string server;
  double timeout_s;
  std::vector<Door> doors;
  size_t current = 0;
  bool elsewhere = false;  // the last error says nothing of the other servers
};

Service::Service(const Global& global) : impl_(std::make_unique<Impl>(global, login_for)) {}
Service::Service(const Global& global, const Context& context)
    : impl_(std::make_unique<Impl>(global, [&](const std::string& /*server*/) {
        return Result<std::optional<Context>>(context);
      })) {}
Service::~Service() = default;
const std::string& Service::server() const { return impl_->server; }

Result<v1::Campaign> Service::create_campaign(const v1::CreateCampaignRequest& request) {
  const auto create = [&] {
    return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::CreateCampaign, request);
  };
  Result<v1::Campaign> campaign = create();
  // The request id makes a second attempt safe when the first answer was lost.
  if (!campaign.ok() && campaign.error().code() == ErrorCode::unavailable) campaign = create();
  return campaign;
}

Result<v1::Campaign> Service::get_campaign(const std::string& name) {
  return impl_->call_by_name(&Door::campaigns, &v1::Campaigns::Stub::GetCampaign, name);
}

Result<v1::CampaignEstimate> Service::estimate_campaign(
    const v1::EstimateCampaignRequest& request) {
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::EstimateCampaign, request);
}

Result<v1::Campaign> Service::pause_campaign(const std::string& name) {
  return impl_->call_by_name(&Door::campaigns, &v1::Campaigns::Stub::PauseCampaign, name);
}

Result<v1::Campaign> Service::resume_campaign(const std::string& name) {
  return impl_->call_by_name(&Door::campaigns, &v1::Campaigns::Stub::ResumeCampaign, name);
}

Result<v1::Campaign> Service::retry_campaign(const v1::RetryCampaignRequest& request) {
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::RetryCampaign, request);
}

Status Service::delete_campaign(const std::string& name) {
  const auto deleted =
      impl_->call_by_name(&Door::campaigns, &v1::Campaigns::Stub::DeleteCampaign, name);
  return deleted.ok() ? Status() : deleted.error();
}

Result<v1::Campaign> Service::cancel_campaign(const std::string& name, bool drain) {
  return impl_->call<v1::Campaign>([&](auto* context, auto* response) {
    v1::CancelCampaignRequest request;
    request.set_name(name);
    request.set_drain(drain);
    return impl_->door().campaigns->CancelCampaign(context, request, response);
  });
}

Result<v1::ListCampaignsResponse> Service::list_campaigns(int page_size,
                                                          const std::string& page_token) {
  return impl_->call<v1::ListCampaignsResponse>([&](auto* context, auto* response) {
    v1::ListCampaignsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().campaigns->ListCampaigns(context, request, response);
  });
}

Result<v1::CompareCampaignsResponse> Service::compare_campaigns(
    const v1::CompareCampaignsRequest& request) {
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::CompareCampaigns, request);
}

Result<v1::ListPointsResponse> Service::list_points(const v1::ListPointsRequest& request) {
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::ListPoints, request);
}

Status Service::watch_campaign(const std::string& name, uint64_t cursor, const OnEvent& on_event) {
  bool begun = false;
  const auto note = [&](const v1::CampaignEvent* event) {
    begun = begun || event != nullptr;
    return on_event(event);
  };
  return impl_->at_some_server([&] { return watch_here(name, cursor, note); }, begun);
}

Status Service::watch_here(const std::string& name, uint64_t cursor, const OnEvent& on_event) {
  // The completion queue of this call: waiting for it with a limit lets the caller redraw and stop.
  enum Operation { kStart, kRead, kFinish };
  std::array<char, 3> operations{};  // whose addresses tell them apart
  const auto tag = [&](Operation operation) -> void* { return &operations[operation]; };
  grpc::ClientContext context;
  context.set_deadline(deadline_after(kWatchCall_s));
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  v1::WatchCampaignRequest request;
  request.set_name(name);
  request.set_cursor(cursor);
  grpc::CompletionQueue queue;
  const auto reader =
      impl_->door().campaigns->AsyncWatchCampaign(&context, request, &queue, tag(kStart));
  v1::CampaignEvent event;
  grpc::Status status;
  bool stopped = false;
  const auto stop_if = [&](Next next) {
    if (next == Next::go_on || stopped) return;
    stopped = true;
    context.TryCancel();
  };
  while (true) {
    void* done = nullptr;
    bool ok = false;
    const auto outcome = queue.AsyncNext(&done, &ok, std::chrono::system_clock::now() + kTick);
    if (outcome == grpc::CompletionQueue::SHUTDOWN) break;
    if (outcome == grpc::CompletionQueue::TIMEOUT) {
      stop_if(on_event(nullptr));
      continue;
    }
    if (done == tag(kFinish)) {
      queue.Shutdown();
      continue;  // until the queue says that it is empty
    }
    if (done == tag(kRead) && ok && !stopped) stop_if(on_event(&event));
    if (ok) {
      reader->Read(&event, tag(kRead));
    } else {
      reader->Finish(&status, tag(kFinish));
    }
  }
  if (status.ok() || stopped || status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED)
    return {};
  return impl_->error_of(status);
}

Status Service::export_samples(const std::string& name,
                               const std::function<Status(std::string_view)>& sink,
                               const std::function<bool()>& stop) {
  bool begun = false;
  const auto note = [&](std::string_view data) {
    begun = true;
    return sink(data);
  };
  return impl_->at_some_server([&] { return export_here(name, note, stop); }, begun);
}

Status Service::export_here(const std::string& name,
                            const std::function<Status(std::string_view)>& sink,
                            const std::function<bool()>& stop) {
  // No limit in all, as an export may be large; a server that is gone ends the stream.
  grpc::ClientContext context;
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  v1::ExportSamplesRequest request;
  request.set_name(name);
  const auto reader = impl_->door().campaigns->ExportSamples(&context, request);
  const std::jthread watcher([&](const std::stop_token& ended) {
    std::mutex mutex;
    std::condition_variable_any ends;
    std::unique_lock lock(mutex);
    while (!ended.stop_requested()) {
      if (stop()) return context.TryCancel();
      ends.wait_for(lock, ended, kTick, [] { return false; });
    }
  });
  v1::SampleChunk chunk;
  while (reader->Read(&chunk)) {
    if (Status written = sink(chunk.data()); !written.ok()) {
      context.TryCancel();
      return written;
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return impl_->error_of(status);
  return {};
}

Result<v1::ListModelsResponse> Service::list_models(int page_size, const std::string& page_token) {
  return impl_->call<v1::ListModelsResponse>([&](auto* context, auto* response) {
    v1::ListModelsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().models->ListModels(context, request, response);
  });
}

Result<v1::ListModelVersionsResponse> Service::list_model_versions(const std::string& model,
                                                                   int page_size,
                                                                   const std::string& page_token) {
  return impl_->call<v1::ListModelVersionsResponse>([&](auto* context, auto* response) {
    v1::ListModelVersionsRequest request;
    request.set_parent(model);
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().models->ListModelVersions(context, request, response);
  });
}

Result<v1::Model> Service::get_model(const std::string& name) {
  return impl_->call_by_name(&Door::models, &v1::Models::Stub::GetModel, name);
}

Result<v1::ModelVersion> Service::check_model(const std::string& version,
                                              const std::string& campaign, bool rollback) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::CheckModelVersionRequest request;
    request.set_name(version);
    request.set_campaign(campaign);
    request.set_rollback(rollback);
    return impl_->door().models->CheckModelVersion(context, request, response);
  });
}

Result<v1::ModelVersion> Service::get_model_version(const std::string& name) {
  return impl_->call_by_name(&Door::models, &v1::Models::Stub::GetModelVersion, name);
}

Result<v1::ModelVersion> Service::validate_model(const std::string& version,
                                                 const std::vector<std::string>& campaigns) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::ValidateModelVersionRequest request;
    request.set_name(version);
    for (const std::string& campaign : campaigns) request.add_campaigns(campaign);
    return impl_->door().models->ValidateModelVersion(context, request, response);
  });
}

Result<v1::ModelVersion> Service::promote_model(const std::string& version,
                                                const std::string& label,
                                                const std::vector<std::string>& nodes) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::PromoteModelVersionRequest request;
    request.set_name(version);
    request.set_label(label);
    for (const std::string& node : nodes) request.add_nodes(node);
    return impl_->door().models->PromoteModelVersion(context, request, response);
  });
}

Result<v1::ModelVersion> Service::rollback_label(const std::string& label) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::RollbackModelLabelRequest request;
    request.set_name(label);
    return impl_->door().models->RollbackModelLabel(context, request, response);
  });
}

Result<v1::ModelVersion> Service::import_model(const std::string& model,
                                               const std::string& content) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::ImportModelVersionRequest request;
    request.set_parent(model);
    request.set_content(content);
    return impl_->door().models->ImportModelVersion(context, request, response);
  });
}

Result<v1::Operation> Service::fit_model(const v1::FitModelRequest& request) {
  const auto fit = [&] { return impl_->call(&Door::models, &v1::Models::Stub::FitModel, request); };
  Result<v1::Operation> operation = fit();
  // The request id makes a second attempt safe when the first answer was lost.
  if (!operation.ok() && operation.error().code() == ErrorCode::unavailable) operation = fit();
  return operation;
}

Result<v1::Operation> Service::get_operation(const std::string& name) {
  return impl_->call_by_name(&Door::operations, &v1::Operations::Stub::GetOperation, name);
}

Result<v1::ListOperationsResponse> Service::list_operations(
    const v1::ListOperationsRequest& request) {
  return impl_->call(&Door::operations, &v1::Operations::Stub::ListOperations, request);
}

Result<v1::ListFeedbackResponse> Service::list_feedback(const std::string& name, int page_size,
                                                        const std::string& page_token) {
  return impl_->call<v1::ListFeedbackResponse>([&](auto* context, auto* response) {
    v1::ListFeedbackRequest request;
    request.set_parent(name);
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().models->ListFeedback(context, request, response);
  });
}

Result<v1::SendFeedbackResponse> Service::send_feedback(const std::string& content) {
  return impl_->call<v1::SendFeedbackResponse>([&](auto* context, auto* response) {
    v1::SendFeedbackRequest request;
    request.set_content(content);
    return impl_->door().models->SendFeedback(context, request, response);
  });
}

Result<v1::ModelVersion> Service::withdraw_model(const std::string& version,
                                                 const std::string& reason) {
  return impl_->call<v1::ModelVersion>([&](auto* context, auto* response) {
    v1::WithdrawModelVersionRequest request;
    request.set_name(version);
    request.set_reason(reason);
    return impl_->door().models->WithdrawModelVersion(context, request, response);
  });
}

Result<FetchedModel> Service::fetch_model(const std::string& name,
                                          const std::string& if_none_match) {
  return impl_->at_some_server([&] { return fetch_here(name, if_none_match); });
}

Result<FetchedModel> Service::fetch_here(const std::string& name,
                                         const std::string& if_none_match) {
  grpc::ClientContext context;
  context.set_deadline(deadline_after(impl_->timeout_s));
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
  v1::FetchModelVersionRequest request;
  request.set_name(name);
  request.set_if_none_match(if_none_match);
  const auto reader = impl_->door().models->FetchModelVersion(&context, request);
  FetchedModel fetched;
  v1::ModelChunk chunk;
  while (reader->Read(&chunk)) {
    if (chunk.has_version()) {
      fetched.version = chunk.version().name();
      fetched.sha256 = chunk.version().sha256();
      fetched.provisional = chunk.version().provisional();
      fetched.withdrawn = chunk.version().withdrawn();
      fetched.stale = chunk.version().stale();
    }
    fetched.data += chunk.data();
    if (fetched.data.size() > model::kMaxModelFileBytes) {
      context.TryCancel();
      return Error(ErrorCode::data_loss, "what the server sent as " + name +
                                             " is larger than any model; it was not written");
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return impl_->error_of(status);
  return fetched;
}

Result<std::string> Service::export_plan(const v1::ExportPlanRequest& request) {
  return impl_->at_some_server([&]() -> Result<std::string> {
    grpc::ClientContext context;
    context.set_deadline(deadline_after(impl_->timeout_s));
    STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
    const auto reader = impl_->door().campaigns->ExportPlan(&context, request);
    std::string text;
    v1::PlanChunk chunk;
    while (reader->Read(&chunk)) {
      text += chunk.data();
      if (text.size() <= campaign::kMostBundleBytes) continue;
      context.TryCancel();
      return Error(ErrorCode::data_loss, "what the server sent is larger than any plan");
    }
    const grpc::Status status = reader->Finish();
    if (!status.ok()) return impl_->error_of(status);
    return text;
  });
}

// Sent again, the file is the same campaign: so it may go to another server.
Result<v1::Campaign> Service::import_results(const std::string& text) {
  return impl_->at_some_server([&]() -> Result<v1::Campaign> {
    grpc::ClientContext context;
    STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
    v1::Campaign campaign;
    const auto writer = impl_->door().campaigns->ImportResults(&context, &campaign);
    v1::ResultsChunk chunk;
    for (size_t sent = 0; sent < text.size(); sent += kUploadBytes) {
      chunk.set_data(text.substr(sent, kUploadBytes));
      if (!writer->Write(chunk)) break;  // Finish() says why.
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return impl_->error_of(status);
    return campaign;
  });
}

Result<v1::ListNodesResponse> Service::list_nodes(int page_size, const std::string& page_token) {
  return impl_->call<v1::ListNodesResponse>([&](auto* context, auto* response) {
    v1::ListNodesRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().fleet->ListNodes(context, request, response);
  });
}

Result<v1::Node> Service::get_node(const std::string& name) {
  return impl_->call_by_name(&Door::fleet, &v1::Fleet::Stub::GetNode, name);
}

Result<v1::Node> Service::cordon_node(const v1::CordonNodeRequest& request) {
  return impl_->call(&Door::fleet, &v1::Fleet::Stub::CordonNode, request);
}

Result<v1::Node> Service::drain_node(const v1::DrainNodeRequest& request) {
  return impl_->call(&Door::fleet, &v1::Fleet::Stub::DrainNode, request);
}

Result<v1::Node> Service::uncordon_node(const std::string& name) {
  return impl_->call_by_name(&Door::fleet, &v1::Fleet::Stub::UncordonNode, name);
}

Status Service::remove_node(const std::string& name) {
  const auto removed = impl_->call_by_name(&Door::fleet, &v1::Fleet::Stub::RemoveNode, name);
  return removed.ok() ? Status() : Status(removed.error());
}

Result<v1::WhoAmIResponse> Service::who_am_i() {
  return impl_->call<v1::WhoAmIResponse>([&](auto* context, auto* response) {
    return impl_->door().admin->WhoAmI(context, v1::WhoAmIRequest(), response);
  });
}

Result<v1::CreateTokenResponse> Service::create_token(const v1::CreateTokenRequest& request) {
  return impl_->call(&Door::admin, &v1::Admin::Stub::CreateToken, request);
}

Result<v1::ListTokensResponse> Service::list_tokens() {
  return impl_->call<v1::ListTokensResponse>([&](auto* context, auto* response) {
    return impl_->door().admin->ListTokens(context, v1::ListTokensRequest(), response);
  });
}

Result<v1::Token> Service::revoke_token(const std::string& name) {
  return impl_->call_by_name(&Door::admin, &v1::Admin::Stub::RevokeToken, name);
}

Status Service::revoke_node(const std::string& name) {
  const auto revoked = impl_->call_by_name(&Door::admin, &v1::Admin::Stub::RevokeNode, name);
  return revoked.ok() ? Status() : Status(revoked.error());
}

Result<v1::ListAuditEventsResponse> Service::list_audit_events(int page_size,
                                                               const std::string& page_token) {
  return impl_->call<v1::ListAuditEventsResponse>([&](auto* context, auto* response) {
    v1::ListAuditEventsRequest request;
    request.set_page_size(page_size);
    request.set_page_token(page_token);
    return impl_->door().admin->ListAuditEvents(context, request, response);
  });
}

}  // namespace stripline::cli
