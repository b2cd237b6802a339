// Models: the stream of a model file. The table of calls has the rest.
#include <optional>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "server/core/models/model_verdict.h"
#include "server/core/reads.h"
#include "server/core/wire.h"
#include "server/doors/grpc_access.h"
#include "server/doors/long_streams.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::server {
namespace {

// A caller that asks for a model, and not for a version, is not to get one that failed.
std::optional<Problem> failed_validation(const ModelVersionRecord& version,
                                         const v1::FetchModelVersionRequest& request) {
  if (request.accept_failed() || !parse_model_name(request.name())) return std::nullopt;
  const VersionVerdict verdict = verdict_of(version.validation);
  if (verdict.verdict != Verdict::failed) return std::nullopt;
  const std::string name = version_name(version.key);
  return Problem{ErrorCode::failed_precondition,
                 "FAILED_VALIDATION",
                 "'" + name + "', the best version of '" + request.name() +
                     "' that there is, failed its validation: " + verdict.why +
                     "; run a campaign, or take it by its number or with --accept-failed",
                 {{"name", name}}};
}

using Fetched = TextReactor<v1::ModelChunk>;

Answer<Fetched::Content> fetched(Store& store, const v1::FetchModelVersionRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto version, find_version(store, request.name()));
  if (auto problem = failed_validation(version, request)) return std::move(*problem);
  Fetched::Content content;
  *content.first.mutable_version() = to_wire(version);
  if (request.if_none_match().empty() || request.if_none_match() != version.sha256) {
    STRIPLINE_ASSIGN_OR_RETURN(content.text, store.model_content(version.key));
  }
  return content;
}

using ModelsTable =
    TableService<v1::Models::WithCallbackMethod_FetchModelVersion<v1::Models::Service>>;

class ModelsService final : public ModelsTable {
 public:
  ModelsService(const GrpcDoor& door, LongStreams& streams)
      : ModelsTable(v1::Models::service_full_name(), door), door_(door), streams_(streams) {}

  grpc::ServerWriteReactor<v1::ModelChunk>* FetchModelVersion(
      GrpcContext* context, const v1::FetchModelVersionRequest* request) override {
    // NOLINTBEGIN(cppcoreguidelines-owning-memory): reactors own themselves
    const auto caller = admitted<v1::FetchModelVersionRequest>(*context, door_);
    if (!caller)
      return new RejectReactor<grpc::ServerWriteReactor<v1::ModelChunk>>(caller.problem());
    auto place = streams_.admit(payer_of(*context, *caller));
    if (!place) return new RejectReactor<grpc::ServerWriteReactor<v1::ModelChunk>>(place.problem());
    return new Fetched(streams_, std::move(*place),
                       [this, asked = *request] { return fetched(door_.core.store, asked); });
    // NOLINTEND(cppcoreguidelines-owning-memory)
  }

 private:
  const GrpcDoor door_;
  LongStreams& streams_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_models_service(const GrpcDoor& door, LongStreams& streams) {
  return std::make_unique<ModelsService>(door, streams);
}

}  // namespace stripline::server
