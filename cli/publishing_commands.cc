#include "cli/publishing_commands.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/packed_export.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/whole_file.h"
#include "cli/campaign_commands.h"
#include "cli/console.h"
#include "cli/find_model.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/service.h"
#include "cli/watch.h"
#include "optimizer/model/model_json.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/fleet.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {
namespace {

// What the server takes in one message is a little more.
constexpr int kNodesPerPage = 100;
constexpr uint32_t kSentinelRuns = 2;
constexpr size_t kMaxImportBytes = size_t{7} << 20;

std::string validation_text(const v1::ModelVersion& version) {
  if (!version.has_validation()) return "not validated";
  const v1::Validation& validation = version.validation();
  std::string by;
  for (const std::string& campaign : validation.campaigns()) {
    by += (by.empty() ? "" : ", ") + short_name(campaign);
  }
  std::string text = "judged " + date_text(validation.time()) + " by " +
                     (by.empty() ? "held-out points of its own" : by);
  if (validation.points() > 0) {
    text += "\n  prediction: mean error " + percent_text(validation.mean_error()) + ", largest " +
            percent_text(validation.largest_error()) + ", of " +
            count_text(validation.points(), "point", "points");
  }
  for (const v1::Validation::Times& kind : validation.times()) {
    text += "\n    " + printable_line(kind.kind()) + ": mean error " +
            percent_text(kind.mean_error()) + ", of " +
            count_text(kind.points(), "point", "points");
  }
  if (validation.choices() > 0) {
    text += "\n  choices: mean regret " + percent_text(validation.mean_regret()) + ", worst " +
            percent_text(validation.worst_regret()) + ", of " +
            count_text(validation.choices(), "choice", "choices");
  }
  for (const v1::Validation::Kind& kind : validation.kinds()) {
    text += "\n    " + kind.kind() + ": mean regret " + percent_text(kind.mean_regret()) +
            ", worst " + percent_text(kind.worst_regret()) + ", of " +
            count_text(kind.choices(), "choice", "choices");
  }
  if (validation.has_settings()) {
    const v1::Validation::Settings& settings = validation.settings();
    text += "\n  in the target: " + std::string(settings.validated() ? "" : "not ") +
            "validated, " +
            (settings.probe_factor() > 0 ? "read, as a probe has shown"
                                         : "and no probe has shown that it reads them");
  }
  if (validation.compared() > 0) {
    text += "\n  without " + std::string(validation.has_settings() ? "them" : "a model") + ": " +
            percent_text(std::abs(validation.over_untuned())) +
            (validation.over_untuned() > 0 ? " more" : " less") + " time with it, in the mean of " +
            count_text(validation.compared(), "choice", "choices") + "; " +
            std::to_string(validation.losses()) + " surely lose";
    if (validation.losses() > 0) {
      text += ", the worst by " + percent_text(validation.worst_loss_share()) + ": " +
              printable_line(validation.worst_loss());
    }
  }
  return text;
}

int print_version(const Global& global, const v1::ModelVersion& version) {
  if (global.json) {
    print(json_line(version));
    return kExitOk;
  }
  std::string text = short_name(version.name()) + ": " + version_state_text(version) + ", " +
                     validation_text(version) + "\n";
  for (const auto& [what, why] : {std::pair("failed", &version.failed()),
                                  {"not judged", &version.unjudged()},
                                  {"withdrawn", &version.withdrawn()},
                                  {"stale", &version.stale()},
                                  {"provisional", &version.provisional()}}) {
    if (!why->empty()) text += std::string(what) + ": " + *why + "\n";
  }
  const bool of_settings = version.validation().has_settings();
  for (const v1::Check& check : version.checks()) {
    if (of_settings) {
      text += "validated again " + date_text(check.time()) +
              (check.outside() == 0 ? ": holds, " : ": does not hold, ") +
              count_text(check.points(), "comparison", "comparisons") + ", times " +
              percent_text(check.ratio()) + " of those at first, by " +
              short_name(check.campaign()) + "\n";
      continue;
    }
    text += "sentinels " + date_text(check.time()) + ": " + std::to_string(check.outside()) +
            " of " + count_text(check.points(), "point", "points") +
            (check.bursts() > 0 ? ", " + std::to_string(check.bursts_outside()) + " of " +
                                      count_text(check.bursts(), "burst", "bursts")
                                : "") +
            (check.shapes() > 0 ? ", " + std::to_string(check.shapes_outside()) + " of " +
                                      count_text(check.shapes(), "shape", "shapes")
                                : "") +
            " outside, times " + percent_text(check.ratio()) + " of the predicted, by " +
            short_name(check.campaign()) + "\n";
  }
  print(text + findings_text(version));
  return kExitOk;
}

// A version that was changed: what it is now, in a line.
Result<int> print_outcome(const Global& global, const Result<v1::ModelVersion>& version,
                          const std::string& outcome) {
  if (!version.ok()) return version.error();
  print(global.json ? json_line(*version) : short_name(version->name()) + " " + outcome + "\n");
  return kExitOk;
}

}  // namespace

std::string findings_text(const v1::ModelVersion& version) {
  std::string text;
  for (const v1::Finding& finding : version.findings()) {
    text += "finding " + v1::Finding::Kind_Name(finding.kind()) + ": " +
            printable_line(finding.message()) + "\n";
  }
  return text;
}

std::string without_findings(std::string text, const v1::ModelVersion& version) {
  for (const v1::Finding& finding : version.findings()) {
    const std::string told = "; " + finding.message();
    if (const size_t at = text.find(told); at != std::string::npos) text.erase(at, told.size());
  }
  return text;
}

std::string version_state_text(const v1::ModelVersion& version) {
  std::string labels;
  for (const std::string& label : version.labels()) {
    labels += (labels.empty() ? " (" : ", ") + label;
  }
  return v1::ModelVersion::State_Name(version.state()) + (labels.empty() ? "" : labels + ")");
}

Result<int> run(const Global& global, const ModelValidate& command) {
  Service service(global);
  v1::ValidateModelVersionRequest request;
  request.set_name(command.name);
  for (const std::string& campaign : command.campaigns) request.add_campaigns(campaign);
  const auto version =
      command.campaigns.empty()
          ? service.call<v1::ModelVersion>(named<v1::GetModelVersionRequest>(command.name))
          : service.call<v1::ModelVersion>(request);
  if (!version.ok()) return with_nearest_model(service, command.name, version.error());
  return print_version(global, *version);
}

Result<int> run(const Global& global, const ModelCheck& command) {
  Service service(global);
  // The label may move while sentinels are measured.
  const auto version =
      service.call<v1::ModelVersion>(named<v1::GetModelVersionRequest>(command.name));
  if (!version.ok()) return with_nearest_model(service, command.name, version.error());
  std::string campaign = command.campaign;
  if (campaign.empty()) {
    STRIPLINE_ASSIGN_OR_RETURN(const auto model, service.call<v1::Model>(named<v1::GetModelRequest>(
                                                     "models/" + model_segment(version->name()))));
    CampaignRun sentinels;
    sentinels.experiments = {"micro.latency", "micro.flood", "micro.vis_window", "micro.vis_chunk"};
    sentinels.runs = kSentinelRuns;
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto created, service.call<v1::Campaign>(create_request(sentinels, model.fabric())));
    campaign = created.name();
    STRIPLINE_ASSIGN_OR_RETURN(const int watched, watch_campaign(service, global, campaign));
    if (watched != kExitOk) return watched;
  }
  v1::CheckModelVersionRequest request;
  request.set_name(version->name());
  request.set_campaign(campaign);
  request.set_rollback(command.rollback);
  STRIPLINE_ASSIGN_OR_RETURN(const auto checked, service.call<v1::ModelVersion>(request));
  return print_version(global, checked);
}

Result<int> run(const Global& global, const ModelPromote& command) {
  Service service(global);
  v1::PromoteModelVersionRequest request;
  request.set_name(command.name);
  request.set_label(command.label);
  for (const std::string& node : command.nodes) request.add_nodes(node);
  request.set_unjudged_reason(command.unjudged);
  return print_outcome(global, service.call<v1::ModelVersion>(request),
                       "is " + command.label + " now");
}

Result<int> run(const Global& global, const ModelRollback& command) {
  Service service(global);
  const auto version = service.call<v1::ModelVersion>(named<v1::RollbackModelLabelRequest>(
      "models/" + model_segment(command.name) + "/labels/" + command.label));
  const bool again = version.ok() &&
                     std::ranges::find(version->labels(), command.label) != version->labels().end();
  return print_outcome(global, version, "is " + command.label + (again ? " again" : " no more"));
}

namespace {

// Packed settings of another runtime as they are, a model in the form that servers take.
Result<std::string> published_content(const std::string& file) {
  auto text = read_whole_file(file);
  if (text.ok() && is_packed_export(*text)) return text;
  STRIPLINE_ASSIGN_OR_RETURN(const model::TunedModel model, model::load_model(file));
  STRIPLINE_ASSIGN_OR_RETURN(const Json document, model::to_json(model));
  return document.dump(2) + "\n";
}

}  // namespace

Result<int> run(const Global& global, const ModelImport& command) {
  STRIPLINE_ASSIGN_OR_RETURN(const std::string content, published_content(command.file));
  if (content.size() > kMaxImportBytes) {
    return Error(ErrorCode::invalid_argument, "'" + command.file + "' is larger than the " +
                                                  bytes_text(kMaxImportBytes) +
                                                  " that a server takes");
  }
  v1::ImportModelVersionRequest request;
  if (!command.model.empty()) request.set_parent("models/" + model_segment(command.model));
  request.set_content(content);
  return print_outcome(global, Service(global).call<v1::ModelVersion>(request), "was imported");
}

Result<int> run(const Global& global, const RolloutStatus& command) {
  Service service(global);
  Table table({{"NODE"}, {"NETWORK"}, {"VERSION"}, {"LABEL"}, {"STATE"}, {"SINCE"}, {"REASON"}});
  std::string token;
  do {
    STRIPLINE_ASSIGN_OR_RETURN(const auto page,
                               service.call<v1::ListNodesResponse>(
                                   page_request<v1::ListNodesRequest>(kNodesPerPage, token)));
    for (const v1::Node& node : page.nodes()) {
      bool any = false;
      for (const v1::NodeModel& model : node.models()) {
        if (!command.model.empty() && !model.version().starts_with(command.model + "/")) continue;
        any = true;
        table.add({short_name(node.name()), model.fabric(), short_name(model.version()),
                   model.label(), v1::NodeModel::State_Name(model.state()), date_text(model.time()),
                   model.reason()});
      }
      if (any && global.json) print(json_line(node));
    }
    token = page.next_page_token();
  } while (!token.empty());
  if (!global.json) {
    print(table.empty() ? "no node is to have a model; 'stripline model promote' labels one\n"
                        : table.text());
  }
  return kExitOk;
}

Result<int> run(const Global& global, const ModelWithdraw& command) {
  v1::WithdrawModelVersionRequest request;
  request.set_name(command.name);
  request.set_reason(command.reason);
  const auto version = Service(global).call<v1::ModelVersion>(request);
  return print_outcome(global, version,
                       version.ok() ? "is withdrawn: " + version->withdrawn() : "");
}

}  // namespace stripline::cli
