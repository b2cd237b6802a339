// Operations: what takes longer than a call.
#include <grpcpp/grpcpp.h>

#include "server/core/operations/operations.h"
#include "server/doors/grpc_access.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

class OperationsService final : public v1::Operations::CallbackService {
 public:
  OperationsService(Coordinator& coordinator, Store& store, const Access& access)
      : coordinator_(coordinator), store_(store), access_(access) {}

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

  grpc::ServerUnaryReactor* CancelOperation(grpc::CallbackServerContext* context,
                                            const v1::CancelOperationRequest* request,
                                            v1::Operation* response) override {
    return finish(context,
                  cancel_operation(coordinator_, *request, caller_of(*context, access_).name),
                  response);
  }

 private:
  Coordinator& coordinator_;
  Store& store_;
  const Access& access_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_operations_service(Coordinator& coordinator, Store& store,
                                                       const Access& access) {
  return std::make_unique<OperationsService>(coordinator, store, access);
}

}  // namespace stripline::server
