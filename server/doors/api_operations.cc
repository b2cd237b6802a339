// What /api/v1 answers about what takes longer than a call.
#include "server/core/operations/operations.h"
#include "server/doors/api_call.h"

namespace stripline::server {

http::Response Api::fit(const Call& call) {
  auto request = request_from<v1::FitModelRequest>(call.request);
  if (!request) return refused(request.problem());
  request->set_model(call.model());
  return answered(fit_model(coordinator_, *request, call.caller.name));
}

http::Response Api::operations(const Call& call) {
  v1::ListOperationsRequest list;
  if (const auto problem = set_page(call.request, list)) return refused(*problem);
  return answered(list_operations(store_, list));
}

http::Response Api::operation(const Call& call) {
  v1::GetOperationRequest get;
  get.set_name(call.operation());
  return answered(get_operation(store_, get));
}

http::Response Api::cancel_operation(const Call& call) {
  return acted<v1::CancelOperationRequest>(
      call.request, call.operation(), [&](const auto& request) {
        return server::cancel_operation(coordinator_, request, call.caller.name);
      });
}

}  // namespace stripline::server
