#include "cli/operation_commands.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "base/exit_codes.h"
#include "base/printable.h"
#include "base/table.h"
#include "cli/campaign_commands.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/publishing_commands.h"
#include "cli/service.h"
#include "stripline/v1/models.pb.h"
#include "stripline/v1/operations.pb.h"

namespace stripline::cli {
namespace {

constexpr auto kLook = std::chrono::milliseconds(300);

std::string state_text(const v1::Operation& operation) {
  return v1::Operation::State_Name(operation.state());
}

int exit_code_of(const v1::Operation& operation) {
  switch (operation.state()) {
    case v1::Operation::FAILED:
      return kExitFailure;
    case v1::Operation::CANCELLED:
      return kExitCancelled;
    default:
      return kExitOk;
  }
}

// The version that came of it, and what its fit found.
std::string outcome_text(Service& service, const v1::Operation& operation) {
  std::string text = labelled_line("version", operation.result());
  const auto version =
      service.call<v1::ModelVersion>(named<v1::GetModelVersionRequest>(operation.result()));
  if (!version.ok()) return text + labelled_line("findings", version.error().message());
  text += labelled_line("fitted to", without_findings(version->summary(), *version));
  for (const auto& [what, why] : {std::pair("withdrawn", &version->withdrawn()),
                                  {"stale", &version->stale()},
                                  {"provisional", &version->provisional()}}) {
    if (!why->empty()) text += labelled_line(what, *why);
  }
  return text + findings_text(*version);
}

// How far it is, or what became of it.
void print_operation(Service& service, const v1::Operation& operation) {
  std::string text = labelled_line("operation", operation.name()) +
                     labelled_line("task", operation.kind() + " of " + operation.subject()) +
                     labelled_line("state", state_text(operation));
  if (operation.state() == v1::Operation::SUCCEEDED && !operation.result().empty()) {
    text += outcome_text(service, operation);
  } else {
    text += labelled_line("message", operation.message());
  }
  text += labelled_line("asked by", operation.actor()) +
          labelled_line("created", date_text(operation.create_time())) +
          labelled_line("updated", date_text(operation.update_time()));
  print(text);
}

// Until it has ended, with a line for each thing that happens. Ctrl-C ends the waiting alone.
Result<int> wait_for(Service& service, const Global& global, v1::Operation operation) {
  catch_interrupts();
  std::string told;
  while (operation.state() == v1::Operation::RUNNING) {
    if (!global.json && operation.message() != told) {
      told = operation.message();
      print(operation.name() + ": " + printable_line(told) + "\n");
    }
    if (interrupted()) {
      print_note("it goes on; 'stripline operation show " + short_name(operation.name()) +
                 "' tells of it\n");
      return kExitCancelled;
    }
    std::this_thread::sleep_for(kLook);
    STRIPLINE_ASSIGN_OR_RETURN(
        auto now, service.call<v1::Operation>(named<v1::GetOperationRequest>(operation.name())));
    operation = std::move(now);
  }
  if (global.json) {
    print(json_line(operation));
  } else {
    print_operation(service, operation);
  }
  return exit_code_of(operation);
}

}  // namespace

Result<int> run(const Global& global, const ModelFit& command) {
  v1::FitModelRequest request;
  request.set_model(command.model);
  for (const std::string& campaign : command.campaigns) request.add_campaigns(campaign);
  for (const std::string& run : command.without) request.add_without(run);
  request.set_request_id(random_request_id());
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const auto operation, service.call<v1::Operation>(request));
  if (!command.detach) return wait_for(service, global, operation);
  const std::string id = short_name(operation.name());
  print(global.json ? json_line(operation)
                    : operation.name() + ": " + operation.message() +
                          "\n  look at it:  stripline operation show " + id + "\n");
  return kExitOk;
}

Result<int> run(const Global& global, const OperationShow& command) {
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto operation,
      service.call<v1::Operation>(named<v1::GetOperationRequest>(command.name)));
  if (command.wait) return wait_for(service, global, operation);
  if (global.json) {
    print(json_line(operation));
  } else {
    print_operation(service, operation);
  }
  return exit_code_of(operation);
}

Result<int> run(const Global& global, const OperationCancel& command) {
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto operation,
      service.call<v1::Operation>(named<v1::CancelOperationRequest>(command.name)));
  print(global.json ? json_line(operation) : operation.name() + " is cancelled\n");
  return kExitOk;
}

Result<int> run(const Global& global, const OperationList& command) {
  constexpr uint32_t kPage = 100;
  Service service(global);
  Table table({{"OPERATION"}, {"KIND"}, {"OF"}, {"STATE"}, {"RESULT"}, {"ASKED BY"}, {"CREATED"}});
  v1::ListOperationsRequest request;
  uint32_t left = command.limit;
  do {
    request.set_page_size(static_cast<int>(std::min(left, kPage)));
    STRIPLINE_ASSIGN_OR_RETURN(const auto page, service.call<v1::ListOperationsResponse>(request));
    for (const v1::Operation& operation : page.operations()) {
      if (global.json) {
        print(json_line(operation));
        continue;
      }
      table.add({short_name(operation.name()), operation.kind(), short_name(operation.subject()),
                 state_text(operation),
                 operation.result().empty() ? "-" : short_name(operation.result()),
                 operation.actor(), date_text(operation.create_time())});
    }
    left -= std::min(left, static_cast<uint32_t>(page.operations_size()));
    request.set_page_token(page.next_page_token());
  } while (left > 0 && !request.page_token().empty());
  if (!global.json) {
    print(table.empty() ? "no operations; 'stripline model fit' starts one\n" : table.text());
  }
  if (!request.page_token().empty()) print_note("there are more; --limit shows them\n");
  return kExitOk;
}

}  // namespace stripline::cli
