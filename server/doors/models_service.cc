#include <algorithm>
#include <optional>
#include <string>

#include <grpcpp/grpcpp.h>

#include "server/core/models/feedback.h"
#include "server/core/models/heed_losses.h"
#include "server/core/models/model_actions.h"
#include "server/core/models/model_verdict.h"
#include "server/core/operations/operations.h"
#include "server/core/reads.h"
#include "server/core/wire.h"
#include "server/doors/grpc_access.h"
#include "server/doors/reactor_step.h"
#include "server/doors/rpc_status.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "server/security/call_limits.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
// Each report is written to the disk and displaces an older one: one a second.
constexpr double kReportCost_s = 0.5;

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

class ModelsService final : public v1::Models::CallbackService {
 public:
  ModelsService(const Core& core, CallLimits& limits) : core_(core), limits_(limits) {}

  Unary* ListModels(GrpcContext* context, const v1::ListModelsRequest* request,
                    v1::ListModelsResponse* response) override {
    return answer(context, core_, list_models, request, response);
  }

  Unary* GetModel(GrpcContext* context, const v1::GetModelRequest* request,
                  v1::Model* response) override {
    return answer(context, core_, get_model, request, response);
  }

  Unary* ListModelVersions(GrpcContext* context, const v1::ListModelVersionsRequest* request,
                           v1::ListModelVersionsResponse* response) override {
    return answer(context, core_, list_model_versions, request, response);
  }

  Unary* GetModelVersion(GrpcContext* context, const v1::GetModelVersionRequest* request,
                         v1::ModelVersion* response) override {
    return finish(context, find_version(core_.store, request->name()), response);
  }

  Unary* WithdrawModelVersion(GrpcContext* context, const v1::WithdrawModelVersionRequest* request,
                              v1::ModelVersion* response) override {
    return answer(context, core_, withdraw_model, request, response);
  }

  Unary* ValidateModelVersion(GrpcContext* context, const v1::ValidateModelVersionRequest* request,
                              v1::ModelVersion* response) override {
    return answer(context, core_, validate_model, request, response);
  }

  Unary* CheckModelVersion(GrpcContext* context, const v1::CheckModelVersionRequest* request,
                           v1::ModelVersion* response) override {
    return answer(context, core_, check_model, request, response);
  }

  Unary* PromoteModelVersion(GrpcContext* context, const v1::PromoteModelVersionRequest* request,
                             v1::ModelVersion* response) override {
    return answer(context, core_, promote_model, request, response);
  }

  Unary* RollbackModelLabel(GrpcContext* context, const v1::RollbackModelLabelRequest* request,
                            v1::ModelVersion* response) override {
    return answer(context, core_, rollback_label, request, response);
  }

  Unary* ImportModelVersion(GrpcContext* context, const v1::ImportModelVersionRequest* request,
                            v1::ModelVersion* response) override {
    return answer(context, core_, import_model, request, response);
  }

  Unary* FitModel(GrpcContext* context, const v1::FitModelRequest* request,
                  v1::Operation* response) override {
    return answer(context, core_, fit_model, request, response);
  }

  Unary* ListFeedback(GrpcContext* context, const v1::ListFeedbackRequest* request,
                      v1::ListFeedbackResponse* response) override {
    return answer_charged(context, core_, limits_, kTableCost_s, list_feedback, request, response);
  }

  Unary* SendFeedback(GrpcContext* context, const v1::SendFeedbackRequest* request,
                      v1::SendFeedbackResponse* response) override {
    const std::string payer = payer_of(*context, core_.access);
    if (const auto problem = limits_.refusal(payer)) return finish(context, rpc_status(*problem));
    const MeteredCall metered(limits_, payer, kReportCost_s);
    const auto version =
        take_feedback(core_.store, request->content(), caller_of(*context, core_.access).name);
    if (!version) return finish(context, rpc_status(version.problem()));
    const auto heeded = heed_losses(core_.coordinator, core_.store, *version);
    if (!heeded) return finish(context, rpc_status(heeded.problem()));
    response->set_version(version_name(*version));
    return finish(context, grpc::Status::OK);
  }

  grpc::ServerWriteReactor<v1::ModelChunk>* FetchModelVersion(
      GrpcContext* /*context*/, const v1::FetchModelVersionRequest* request) override {
    return new FetchReactor(core_.store, *request);  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  const Core core_;
  CallLimits& limits_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_models_service(const Core& core, CallLimits& limits) {
  return std::make_unique<ModelsService>(core, limits);
}

}  // namespace stripline::server
