// The server's calls for what takes longer than a call.
#include <utility>

#include "cli/service_impl.h"

namespace stripline::cli {

Result<v1::Operation> Service::fit_model(const v1::FitModelRequest& request) {
  const auto fit = [&] { return impl_->call(&Door::models, &v1::Models::Stub::FitModel, request); };
  Result<v1::Operation> operation = fit();
  // The request id makes a second attempt safe when the first answer was lost.
  if (!operation.ok() && may_be_repeated(operation.error())) operation = fit();
  return operation;
}

Result<v1::Operation> Service::get_operation(const std::string& name) {
  return impl_->call_by_name(&Door::operations, &v1::Operations::Stub::GetOperation, name);
}

Result<v1::Operation> Service::cancel_operation(const std::string& name) {
  return impl_->call_by_name(&Door::operations, &v1::Operations::Stub::CancelOperation, name);
}

Result<v1::ListOperationsResponse> Service::list_operations(
    const v1::ListOperationsRequest& request) {
  auto page = impl_->call(&Door::operations, &v1::Operations::Stub::ListOperations, request);
  return next_of(std::move(page), request.page_token());
}

}  // namespace stripline::cli
