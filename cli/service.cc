#include "cli/service.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <google/protobuf/util/json_util.h>

#include "base/pki/dev_token.h"
#include "cli/service_impl.h"
#include "optimizer/model/model_json.h"

namespace stripline::cli {
namespace {

// A stream is renewed this often, which finds out about a server that has gone without a word.
constexpr double kWatchCall_s = 60;
constexpr auto kTick = std::chrono::milliseconds(250);

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
  if (!campaign.ok() && may_be_repeated(campaign.error())) campaign = create();
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
  v1::CancelCampaignRequest request;
  request.set_name(name);
  request.set_drain(drain);
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::CancelCampaign, request);
}

Result<v1::ListCampaignsResponse> Service::list_campaigns(int page_size,
                                                          const std::string& page_token) {
  return impl_->call_for_page(&Door::campaigns, &v1::Campaigns::Stub::ListCampaigns, page_size,
                              page_token);
}

Result<v1::CompareCampaignsResponse> Service::compare_campaigns(
    const v1::CompareCampaignsRequest& request) {
  return impl_->call(&Door::campaigns, &v1::Campaigns::Stub::CompareCampaigns, request);
}

Result<v1::ListPointsResponse> Service::list_points(const v1::ListPointsRequest& request) {
  return next_of(impl_->call(&Door::campaigns, &v1::Campaigns::Stub::ListPoints, request),
                 request.page_token());
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
  return impl_->call_for_page(&Door::models, &v1::Models::Stub::ListModels, page_size, page_token);
}

Result<v1::ListModelVersionsResponse> Service::list_model_versions(const std::string& model,
                                                                   int page_size,
                                                                   const std::string& page_token) {
  v1::ListModelVersionsRequest request;
  request.set_parent(model);
  return impl_->call_for_page(&Door::models, &v1::Models::Stub::ListModelVersions, page_size,
                              page_token, request);
}

Result<v1::Model> Service::get_model(const std::string& name) {
  return impl_->call_by_name(&Door::models, &v1::Models::Stub::GetModel, name);
}

Result<v1::ModelVersion> Service::check_model(const std::string& version,
                                              const std::string& campaign, bool rollback) {
  v1::CheckModelVersionRequest request;
  request.set_name(version);
  request.set_campaign(campaign);
  request.set_rollback(rollback);
  return impl_->call(&Door::models, &v1::Models::Stub::CheckModelVersion, request);
}

Result<v1::ModelVersion> Service::get_model_version(const std::string& name) {
  return impl_->call_by_name(&Door::models, &v1::Models::Stub::GetModelVersion, name);
}

Result<v1::ModelVersion> Service::validate_model(const std::string& version,
                                                 const std::vector<std::string>& campaigns) {
  v1::ValidateModelVersionRequest request;
  request.set_name(version);
  for (const std::string& campaign : campaigns) request.add_campaigns(campaign);
  return impl_->call(&Door::models, &v1::Models::Stub::ValidateModelVersion, request);
}

Result<v1::ModelVersion> Service::promote_model(const v1::PromoteModelVersionRequest& request) {
  return impl_->call(&Door::models, &v1::Models::Stub::PromoteModelVersion, request);
}

Result<v1::ModelVersion> Service::rollback_label(const std::string& label) {
  return impl_->call_by_name(&Door::models, &v1::Models::Stub::RollbackModelLabel, label);
}

Result<v1::ModelVersion> Service::import_model(const std::string& model,
                                               const std::string& content) {
  v1::ImportModelVersionRequest request;
  request.set_parent(model);
  request.set_content(content);
  return impl_->call(&Door::models, &v1::Models::Stub::ImportModelVersion, request);
}

Result<v1::ListFeedbackResponse> Service::list_feedback(const std::string& name, int page_size,
                                                        const std::string& page_token) {
  v1::ListFeedbackRequest request;
  request.set_parent(name);
  return impl_->call_for_page(&Door::models, &v1::Models::Stub::ListFeedback, page_size, page_token,
                              request);
}

Result<v1::SendFeedbackResponse> Service::send_feedback(const std::string& content) {
  v1::SendFeedbackRequest request;
  request.set_content(content);
  return impl_->call(&Door::models, &v1::Models::Stub::SendFeedback, request);
}

Result<v1::ModelVersion> Service::withdraw_model(const std::string& version,
                                                 const std::string& reason) {
  v1::WithdrawModelVersionRequest request;
  request.set_name(version);
  request.set_reason(reason);
  return impl_->call(&Door::models, &v1::Models::Stub::WithdrawModelVersion, request);
}

Result<FetchedModel> Service::fetch_model(const std::string& name, const std::string& if_none_match,
                                          Failed failed) {
  v1::FetchModelVersionRequest request;
  request.set_name(name);
  request.set_if_none_match(if_none_match);
  request.set_accept_failed(failed == Failed::accept);
  return impl_->at_some_server([&] { return fetch_here(request); });
}

Result<FetchedModel> Service::fetch_here(const v1::FetchModelVersionRequest& request) {
  grpc::ClientContext context;
  context.set_deadline(deadline_after(impl_->timeout_s));
  STRIPLINE_RETURN_IF_ERROR(impl_->door().show(context));
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
      fetched.failed = chunk.version().failed();
    }
    fetched.data += chunk.data();
    if (fetched.data.size() > model::kMaxModelFileBytes) {
      context.TryCancel();
      return Error(ErrorCode::data_loss, "what the server sent as " + request.name() +
                                             " is larger than any model; it was not written");
    }
  }
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return impl_->error_of(status);
  // Nothing is sent of what the client has, and of nothing else.
  if (fetched.data.empty() && fetched.sha256 != request.if_none_match()) {
    return Error(ErrorCode::data_loss, "the server announced " + request.name() +
                                           " with the hash " + fetched.sha256 +
                                           " and sent nothing of it; fetch it again");
  }
  return fetched;
}

Result<v1::ListNodesResponse> Service::list_nodes(int page_size, const std::string& page_token) {
  return impl_->call_for_page(&Door::fleet, &v1::Fleet::Stub::ListNodes, page_size, page_token);
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

Result<v1::ServerStatus> Service::server_status() {
  return impl_->call(&Door::fleet, &v1::Fleet::Stub::GetServerStatus, v1::GetServerStatusRequest());
}

Result<v1::WhoAmIResponse> Service::who_am_i() {
  return impl_->call(&Door::admin, &v1::Admin::Stub::WhoAmI, v1::WhoAmIRequest());
}

Result<v1::SignIn> Service::get_sign_in() {
  return impl_->call(&Door::admin, &v1::Admin::Stub::GetSignIn, v1::GetSignInRequest());
}

Result<v1::CreateTokenResponse> Service::create_token(const v1::CreateTokenRequest& request) {
  return impl_->call(&Door::admin, &v1::Admin::Stub::CreateToken, request);
}

Result<v1::ListTokensResponse> Service::list_tokens() {
  return impl_->call(&Door::admin, &v1::Admin::Stub::ListTokens, v1::ListTokensRequest());
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
  return impl_->call_for_page(&Door::admin, &v1::Admin::Stub::ListAuditEvents, page_size,
                              page_token);
}

}  // namespace stripline::cli
