#include "server/core/operations/operations.h"

#include <cstdlib>

#include "server/clock.h"
#include "server/core/models/fit_order.h"
#include "server/core/page_token.h"
#include "server/core/wire.h"

namespace stripline::server {
namespace {

constexpr const char* kOperationList = "operations";

v1::Operation to_wire(const OperationRecord& record) {
  v1::Operation message;
  message.set_name(operation_name(record.number));
  message.set_kind(record.kind);
  message.set_subject(record.subject);
  message.set_state(wire_named(v1::Operation::State_Parse, to_string(record.state)));
  message.set_message(record.message);
  message.set_result(record.result);
  message.set_actor(record.actor);
  message.set_create_time(rfc3339(record.created_unix_s));
  message.set_update_time(rfc3339(record.updated_unix_s));
  return message;
}

Answer<int64_t> operation_number(const std::string& name) {
  if (const auto number = parse_operation_name(name)) return *number;
  return invalid_field("name", "'" + name + "' is not of the form operations/oNUMBER");
}

}  // namespace

Answer<v1::Operation> get_operation(Store& store, const v1::GetOperationRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, operation_number(request.name()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto record, store.operation(number));
  if (record) return to_wire(*record);
  return operation_not_found(request.name());
}

Answer<v1::ListOperationsResponse> list_operations(Store& store,
                                                   const v1::ListOperationsRequest& request) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto limit, page_limit(request.page_size()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto token,
                             read_page_token(kOperationList, request.page_token()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto records,
                             store.operations(std::strtoll(token.c_str(), nullptr, 10), limit + 1));
  v1::ListOperationsResponse response;
  for (size_t i = 0; i < records.size() && i < limit; ++i) {
    *response.add_operations() = to_wire(records[i]);
  }
  if (records.size() > limit) {
    response.set_next_page_token(
        make_page_token(kOperationList, std::to_string(records[limit - 1].number)));
  }
  return response;
}

Answer<v1::Operation> fit_model(Coordinator& coordinator, const v1::FitModelRequest& request,
                                const std::string& actor) {
  const auto model = parse_model_name(request.model());
  if (!model) {
    return invalid_field("model", "'" + request.model() + "' is not of the form models/NAME");
  }
  FitOrder order{*model, {}, {}};
  for (const std::string& name : request.campaigns()) {
    const auto number = parse_campaign_name(name);
    if (!number) {
      return invalid_field("campaigns", "'" + name + "' is not of the form campaigns/cNUMBER");
    }
    order.campaigns.push_back(*number);
  }
  for (const std::string& name : request.without()) {
    const auto run = parse_run_name(name);
    if (!run) {
      return invalid_field("without",
                           "'" + name + "' is not of the form campaigns/cNUMBER/runs/NUMBER");
    }
    order.without.push_back(*run);
  }
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto operation, coordinator.operations().fit_model(order, request.request_id(), actor));
  return to_wire(operation);
}

Answer<v1::Operation> cancel_operation(Coordinator& coordinator,
                                       const v1::CancelOperationRequest& request,
                                       const std::string& actor) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto number, operation_number(request.name()));
  STRIPLINE_ASSIGN_OR_RETURN(const auto operation, coordinator.operations().cancel(number, actor));
  return to_wire(operation);
}

}  // namespace stripline::server
