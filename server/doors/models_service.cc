// Models: the stream of a model file. The table of calls has the rest.
#include <algorithm>
#include <optional>
#include <string>

#include <grpcpp/grpcpp.h>

#include "server/core/models/model_verdict.h"
#include "server/core/reads.h"
#include "server/core/wire.h"
#include "server/doors/reactor_step.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;

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

// Writes a model file in chunks.
class FetchReactor final : public grpc::ServerWriteReactor<v1::ModelChunk> {
 public:
  FetchReactor(Store& store, const v1::FetchModelVersionRequest& request) {
    ReactorStep step(this);
    const auto version = find_version(store, request.name());
    if (!version) {
      Finish(rpc_status(version.problem()));
      return;
    }
    if (auto problem = failed_validation(*version, request)) {
      Finish(rpc_status(*problem));
      return;
    }
    if (request.if_none_match().empty() || request.if_none_match() != version->sha256) {
      auto content = store.model_content(version->key);
      if (!content.ok()) {
        Finish(rpc_status(problem_from(content.error())));
        return;
      }
      content_ = std::move(*content);
    }
    *chunk_.mutable_version() = to_wire(*version);
    write_next(step);
  }

  void OnWriteDone(bool ok) override {
    ReactorStep step(this);
    if (!ok || sent_ >= content_.size()) {
      Finish(grpc::Status::OK);
      return;
    }
    chunk_.Clear();
    write_next(step);
  }

  void OnDone() override {
    { const ReactorStep last(this); }
    delete this;  // NOLINT(cppcoreguidelines-owning-memory): how reactors end
  }

 private:
  void write_next(ReactorStep& step) {
    const size_t size = std::min(kChunkBytes, content_.size() - sent_);
    chunk_.set_data(content_.substr(sent_, size));
    sent_ += size;
    step.hand_over();
    StartWrite(&chunk_);
  }

  std::string content_;
  size_t sent_ = 0;
  v1::ModelChunk chunk_;
};

using ModelsTable =
    TableService<v1::Models::WithCallbackMethod_FetchModelVersion<v1::Models::Service>>;

class ModelsService final : public ModelsTable {
 public:
  ModelsService(const Core& core, CallLimits& limits)
      : ModelsTable(v1::Models::service_full_name(), core, limits), core_(core) {}

  grpc::ServerWriteReactor<v1::ModelChunk>* FetchModelVersion(
      GrpcContext* /*context*/, const v1::FetchModelVersionRequest* request) override {
    return new FetchReactor(core_.store, *request);  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  const Core core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_models_service(const Core& core, CallLimits& limits) {
  return std::make_unique<ModelsService>(core, limits);
}

}  // namespace stripline::server
