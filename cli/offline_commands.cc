#include "cli/offline_commands.h"

#include <string>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/quantity.h"
#include "base/whole_file.h"
#include "cli/campaign_commands.h"
#include "cli/console.h"
#include "cli/recording_file.h"
#include "cli/service.h"
#include "cli/watch.h"
#include "optimizer/campaign/offline_results.h"
#include "stripline/v1/campaigns.pb.h"

namespace stripline::cli {
namespace {

constexpr size_t kMaxDescriptionBytes = size_t{4} << 20;

Result<v1::ExportPlanRequest> request_of(const CampaignExportPlan& command) {
  v1::ExportPlanRequest request;
  request.set_name(command.name);
  if (!command.name.empty()) return request;
  *request.mutable_spec() = create_request(command.request, command.request.fabrics.front()).spec();
  if (command.description.empty()) return request;
  STRIPLINE_ASSIGN_OR_RETURN(*request.mutable_node_description(),
                             read_whole_file(command.description, kMaxDescriptionBytes));
  return request;
}

Result<std::string> plan_of(const Global& global, const CampaignExportPlan& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto request, request_of(command));
  Service service(global);
  return service.export_plan(request);
}

}  // namespace

Result<int> run(const Global& global, const CampaignExportPlan& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto plan, plan_of(global, command));
  if (command.output == "-") {
    print_data(plan);
    return kExitOk;
  }
  STRIPLINE_RETURN_IF_ERROR(write_atomically(command.output, plan));
  if (!global.json) {
    print("wrote " + command.output + ", " + bytes_text(plan.size()) +
          "\n  measure it:  stripline campaign run-plan " + command.output + " -o results.jsonl\n");
  }
  return kExitOk;
}

Result<int> run(const Global& global, const CampaignImport& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto text, read_recording_file(command.file));
  // A damaged file need not travel to be refused.
  const std::string what = command.file == "-" ? "standard input" : "'" + command.file + "'";
  STRIPLINE_RETURN_IF_ERROR(campaign::read_results(text, what));
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign, service.import_results(text));
  if (command.detach) {
    print(global.json ? json_line(campaign) : campaign.name() + ": " + campaign.message() + "\n");
    return kExitOk;
  }
  return watch_campaign(service, global, campaign.name());
}

}  // namespace stripline::cli
