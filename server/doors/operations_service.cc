// Operations: what takes longer than a call.
#include <grpcpp/grpcpp.h>

#include "server/core/operations/operations.h"
#include "server/doors/services.h"
#include "server/doors/unary.h"
#include "stripline/v1/operations.grpc.pb.h"

namespace stripline::server {
namespace {

class OperationsService final : public v1::Operations::CallbackService {
 public:
  explicit OperationsService(const Core& core) : core_(core) {}

  Unary* GetOperation(GrpcContext* context, const v1::GetOperationRequest* request,
                      v1::Operation* response) override {
    return answer(context, core_, get_operation, request, response);
  }

  Unary* ListOperations(GrpcContext* context, const v1::ListOperationsRequest* request,
                        v1::ListOperationsResponse* response) override {
    return answer(context, core_, list_operations, request, response);
  }

  Unary* CancelOperation(GrpcContext* context, const v1::CancelOperationRequest* request,
                         v1::Operation* response) override {
    return answer(context, core_, cancel_operation, request, response);
  }

 private:
  const Core core_;
};

}  // namespace

std::unique_ptr<grpc::Service> make_operations_service(const Core& core) {
  return std::make_unique<OperationsService>(core);
}

}  // namespace stripline::server
