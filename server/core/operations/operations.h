// What is reported of operations, and how they are asked for: requests of stripline.v1 to messages.
// Include from .cc files of the services.
#pragma once

#include <string>

#include "server/core/coordinator.h"
#include "server/problem.h"
#include "server/store/operation_records.h"
#include "server/store/store.h"
#include "stripline/v1/models.pb.h"
#include "stripline/v1/operations.pb.h"

namespace stripline::server {

// Problems are those that the .proto files name, and the store's.

Answer<v1::Operation> get_operation(Store& store, const v1::GetOperationRequest& request);
Answer<v1::ListOperationsResponse> list_operations(Store& store,
                                                   const v1::ListOperationsRequest& request);
Answer<v1::Operation> fit_model(Coordinator& coordinator, const v1::FitModelRequest& request,
                                const std::string& actor);
Answer<v1::Operation> cancel_operation(Coordinator& coordinator,
                                       const v1::CancelOperationRequest& request,
                                       const std::string& actor);

}  // namespace stripline::server
