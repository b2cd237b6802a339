#include <algorithm>

#include <grpcpp/grpcpp.h>
#include <spdlog/spdlog.h>

#include "server/clock.h"
#include "server/grpc_access.h"
#include "server/page_token.h"
#include "server/reactor_step.h"
#include "server/rpc_status.h"
#include "server/services.h"
#include "server/wire.h"
#include "stripline/v1/models.grpc.pb.h"

namespace stripline::server {
namespace {

constexpr size_t kChunkBytes = size_t{256} << 10;
constexpr size_t kMaxReasonBytes = 1000;

Problem model_not_found(const std::string& name) {
  return {ErrorCode::not_found,
          "MODEL_NOT_FOUND",
          "no model is named '" + name + "'; 'stripline model list' names them",
          {{"name", name}}};
}

// The version of this name, or what is wrong with the name.
Answer<ModelVersionRecord> find_version(Store& store, const std::string& name) {
  const auto key = parse_version_name(name);
  if (!key) {
    return invalid_field("name", "'" + name +
                                     "' is neither of the form models/NAME/versions/NUMBER nor of "
                                     "the form models/NAME");
  }
  const auto version = store.model_version(*key);
  if (!version.ok()) return version.error();
  if (*version) return **version;
  const auto model = store.model(key->model);
  if (!model.ok()) return model.error();
  if (!*model) return model_not_found(model_name(key->model));
  if ((*model)->latest_version == 0) {
    return Problem{ErrorCode::not_found,
                   "MODEL_VERSION_NOT_FOUND",
                   "every version of '" + model_name(key->model) +
                       "' is withdrawn; 'stripline model list NAME' says why",
                   {{"name", name}}};
  }
  return Problem{ErrorCode::not_found,
                 "MODEL_VERSION_NOT_FOUND",
                 "'" + name + "' does not exist; the latest is " +
                     version_name({key->model, (*model)->latest_version}),
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
  ModelsService(Store& store, const Access& access) : store_(store), access_(access) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const v1::ListModelsRequest* request,
                                       v1::ListModelsResponse* response) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(list(*request, *response));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetModel(grpc::CallbackServerContext* context,
                                     const v1::GetModelRequest* request,
                                     v1::Model* response) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(get(*request, *response));
    return reactor;
  }

  grpc::ServerUnaryReactor* ListModelVersions(grpc::CallbackServerContext* context,
                                              const v1::ListModelVersionsRequest* request,
                                              v1::ListModelVersionsResponse* response) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(list_versions(*request, *response));
    return reactor;
  }

  grpc::ServerUnaryReactor* GetModelVersion(grpc::CallbackServerContext* context,
                                            const v1::GetModelVersionRequest* request,
                                            v1::ModelVersion* response) override {
    auto* reactor = context->DefaultReactor();
    const auto version = find_version(store_, request->name());
    if (version) *response = to_wire(*version);
    reactor->Finish(version ? grpc::Status::OK : rpc_status(version.problem()));
    return reactor;
  }

  grpc::ServerUnaryReactor* WithdrawModelVersion(grpc::CallbackServerContext* context,
                                                 const v1::WithdrawModelVersionRequest* request,
                                                 v1::ModelVersion* response) override {
    auto* reactor = context->DefaultReactor();
    reactor->Finish(withdraw(*request, caller_of(*context, access_).name, *response));
    return reactor;
  }

  grpc::ServerWriteReactor<v1::ModelChunk>* FetchModelVersion(
      grpc::CallbackServerContext* /*context*/,
      const v1::FetchModelVersionRequest* request) override {
    return new FetchReactor(store_, *request);  // NOLINT(cppcoreguidelines-owning-memory)
  }

 private:
  grpc::Status list(const v1::ListModelsRequest& request, v1::ListModelsResponse& response) {
    const auto limit = page_limit(request.page_size());
    if (!limit) return rpc_status(limit.problem());
    const auto after = read_page_token("models", request.page_token());
    if (!after) return rpc_status(after.problem());
    const auto models = store_.models(*after, *limit + 1);
    if (!models.ok()) return rpc_status(problem_from(models.error()));
    for (size_t i = 0; i < models->size() && i < *limit; ++i) {
      *response.add_models() = to_wire((*models)[i]);
    }
    if (models->size() > *limit) {
      response.set_next_page_token(make_page_token("models", (*models)[*limit - 1].name));
    }
    return grpc::Status::OK;
  }

  grpc::Status get(const v1::GetModelRequest& request, v1::Model& response) {
    const auto name = parse_model_name(request.name());
    if (!name) {
      return rpc_status(
          invalid_field("name", "'" + request.name() + "' is not of the form models/NAME"));
    }
    const auto model = store_.model(*name);
    if (!model.ok()) return rpc_status(problem_from(model.error()));
    if (!*model) return rpc_status(model_not_found(request.name()));
    response = to_wire(**model);
    return grpc::Status::OK;
  }

  grpc::Status list_versions(const v1::ListModelVersionsRequest& request,
                             v1::ListModelVersionsResponse& response) {
    const auto model = parse_model_name(request.parent());
    if (!model) {
      return rpc_status(
          invalid_field("parent", "'" + request.parent() + "' is not of the form models/NAME"));
    }
    const auto limit = page_limit(request.page_size());
    if (!limit) return rpc_status(limit.problem());
    const std::string list = request.parent() + "/versions";
    const auto token = read_page_token(list, request.page_token());
    if (!token) return rpc_status(token.problem());
    const auto existing = store_.model(*model);
    if (!existing.ok()) return rpc_status(problem_from(existing.error()));
    if (!*existing) return rpc_status(model_not_found(request.parent()));
    const auto last = parse_version_name(list + "/" + *token);
    const int64_t before = last ? last->version : 0;
    const auto versions = store_.model_versions(*model, before, *limit + 1);
    if (!versions.ok()) return rpc_status(problem_from(versions.error()));
    for (size_t i = 0; i < versions->size() && i < *limit; ++i) {
      *response.add_versions() = to_wire((*versions)[i]);
    }
    if (versions->size() > *limit) {
      response.set_next_page_token(
          make_page_token(list, std::to_string((*versions)[*limit - 1].key.version)));
    }
    return grpc::Status::OK;
  }

  grpc::Status withdraw(const v1::WithdrawModelVersionRequest& request, const std::string& actor,
                        v1::ModelVersion& response) {
    const auto key = parse_version_name(request.name());
    if (!key || key->version == 0) {
      return rpc_status(invalid_field("name", "'" + request.name() +
                                                  "' is not of the form "
                                                  "models/NAME/versions/NUMBER"));
    }
    if (request.reason().empty() || request.reason().size() > kMaxReasonBytes) {
      return rpc_status(invalid_field(
          "reason", "1 to " + std::to_string(kMaxReasonBytes) + " bytes that say why are needed"));
    }
    const auto version = find_version(store_, request.name());
    if (!version) return rpc_status(version.problem());
    Changes changes;
    changes.withdrawals.push_back({*key, request.reason(), unix_seconds()});
    changes.audit.push_back({0, unix_seconds(), actor, "withdraw model version", request.name()});
    if (const Status stored = store_.apply(changes); !stored.ok()) {
      return rpc_status(problem_from(stored.error()));
    }
    const auto withdrawn = find_version(store_, request.name());
    if (!withdrawn) return rpc_status(withdrawn.problem());
    spdlog::info("{} is withdrawn: {}", request.name(), withdrawn->withdrawn);
    response = to_wire(*withdrawn);
    return grpc::Status::OK;
  }

  Store& store_;
  const Access& access_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_models_service(Store& store, const Access& access) {
  return std::make_unique<ModelsService>(store, access);
}

}  // namespace stripline::server
