// Operations: what takes longer than a call.
#include <algorithm>

#include <grpcpp/grpcpp.h>

#include "server/operations.h"
#include "server/rpc_status.h"
#include "server/services.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

class OperationsService final : public v1::Operations::CallbackService {
 public:
  explicit OperationsService(Store& store) : store_(store) {}

  grpc::ServerUnaryReactor* GetOperation(grpc::CallbackServerContext* context,
                                         const v1::GetOperationRequest* request,
                                         v1::Operation* response) override {
    return finish(context, get_operation(store_, *request), response);
  }

  grpc::ServerUnaryReactor* ListOperations(grpc::CallbackServerContext* context,
                                           const v1::ListOperationsRequest* request,
                                           v1::ListOperationsResponse* response) override {
    return finish(context, list_operations(store_, *request), response);
  }

 private:
  template <typename Message>
  static grpc::ServerUnaryReactor* finish(grpc::CallbackServerContext* context,
                                          const Answer<Message>& answer, Message* response) {
    auto* reactor = context->DefaultReactor();
    if (answer) *response = *answer;
    reactor->Finish(answer ? grpc::Status::OK : rpc_status(answer.problem()));
    return reactor;
  }

  Store& store_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_operations_service(Store& store) {
  return std::make_unique<OperationsService>(store);
}

}  // namespace stripline::server
