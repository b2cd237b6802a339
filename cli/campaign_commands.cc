#include "cli/campaign_commands.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/atomic_file.h"
#include "base/exit_codes.h"
#include "base/formatted.h"
#include "base/printable.h"
#include "base/quantity.h"
#include "base/table.h"
#include "base/unguessable.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/names.h"
#include "cli/publishing_commands.h"
#include "cli/server_notes.h"
#include "cli/service.h"
#include "cli/watch.h"
#include "proto/campaign_messages.h"
#include "stripline/v1/campaigns.pb.h"
#include "stripline/v1/models.pb.h"

namespace stripline::cli {
namespace {

std::string effort_text(v1::CampaignSpec::Effort effort) {
  return effort == v1::CampaignSpec::FULL ? "full" : "budgeted";
}

std::string size_text(const v1::Campaign& campaign) {
  const v1::CampaignSpec& spec = campaign.spec();
  return count_text(spec.ranks(), "rank") + " on " + count_text(spec.nodes(), "node") + ", " +
         count_text(campaign.runs_total(), "run") + " with at most " +
         count_text(campaign.points_total(), "point") + " together, at most " +
         duration_text(spec.time_budget_s());
}

// Intervals that are wider than their medians are large say no more by how much.
std::string within_text(double width) {
  return width > 1 ? "not even within 100 %" : "within " + percent_text(width);
}

std::string estimate_text(const v1::CampaignEstimate& estimate) {
  const v1::CampaignSpec& spec = estimate.spec();
  std::string text = spec.fabric() + ", " + effort_text(spec.effort()) + ": " +
                     count_text(spec.ranks(), "rank") + " on " + count_text(spec.nodes(), "node") +
                     ", " + count_text(estimate.runs(), "run") + " of up to " +
                     count_text(estimate.points(), "point") + ", " +
                     count_text(estimate.points_total(), "point") + " together\n";
  text += "  cost:     " + duration_text(estimate.seconds()) + " of measuring, " +
          count_text(static_cast<uint64_t>(std::llround(estimate.node_s())), "node-second") + "\n";
  if (estimate.pairs_size() > 0) {
    std::string pairs;
    for (const auto& one : estimate.pairs()) {
      pairs += (pairs.empty() ? "" : ", ") + std::to_string(one.runs()) + " of " +
               count_text(one.pairs(), "pair") + " at distance " + std::to_string(one.distance());
    }
    text += "  pairs:    " + pairs + "\n";
  }
  text += "  ends:     " + estimate.stop_reason() + "\n";
  text +=
      "  medians:  " + (estimate.width() > 0 ? within_text(estimate.width()) : "nothing tells") +
      (spec.width() > 0 ? ", " + percent_text(spec.width()) + " are asked for" : "") + "\n";
  text += "  based on: " +
          (estimate.based_on().empty() ? "the plan alone" : short_name(estimate.based_on())) + "\n";
  for (const auto& risk : estimate.risks()) {
    text += "  risk:     " + risk.kind() + ": " + printable_line(risk.message()) + "\n";
  }
  return text;
}

// Half of the interval, relative to the median.
std::string width_text(const v1::PlannedPoint& point) {
  if (!point.has_low() || !point.has_high() || point.median() == 0) return "-";
  const double width = (point.high() - point.low()) / 2 / std::abs(point.median());
  return width > 1 ? "> 100 %" : percent_text(width);
}

v1::CampaignSpec spec_of(const CampaignRun& command, const std::string& fabric) {
  campaign::Spec spec = command;
  spec.fabric = fabric;
  return to_message(spec);
}

}  // namespace

std::string random_request_id() { return unguessable_text() + unguessable_text(); }

v1::CreateCampaignRequest create_request(const CampaignRun& command, const std::string& fabric) {
  v1::CreateCampaignRequest request;
  request.set_request_id(random_request_id());
  request.set_validate_only(command.validate_only);
  *request.mutable_spec() = spec_of(command, fabric);
  return request;
}

namespace {

Result<int> run_on(Service& service, const Global& global, const CampaignRun& command,
                   const std::string& fabric) {
  STRIPLINE_ASSIGN_OR_RETURN(const auto campaign,
                             service.call<v1::Campaign>(create_request(command, fabric)));
  if (command.validate_only) {
    print(global.json
              ? json_line(campaign)
              : "valid: " + campaign.spec().fabric() + ", " +
                    effort_text(campaign.spec().effort()) + ": " + size_text(campaign) + "\n");
    return kExitOk;
  }
  if (command.detach) {
    const std::string id = short_name(campaign.name());
    print(global.json ? json_line(campaign)
                      : campaign.name() + " is queued\n  watch it:  stripline campaign watch " +
                            id + "\n  stop it:   stripline campaign cancel " + id + "\n");
    return kExitOk;
  }
  if (!global.json) print(campaign.name() + ": " + size_text(campaign) + "\n");
  return watch_campaign(service, global, campaign.name());
}

}  // namespace

Result<int> run(const Global& global, const CampaignRun& command) {
  Service service(global);
  int first_failure = kExitOk;
  for (const std::string& fabric : command.fabrics) {
    if (command.fabrics.size() > 1 && !global.json) print("== " + fabric + "\n");
    const int exit_code = exit_code_from(run_on(service, global, command, fabric));
    if (first_failure == kExitOk) first_failure = exit_code;
    if (exit_code == kExitCancelled) break;
  }
  if (!global.json && first_failure == kExitOk) print_server_notes(service, false);
  return first_failure;
}

Result<int> run(const Global& global, const CampaignWatch& command) {
  Service service(global);
  return watch_campaign(service, global, command.name);
}

Result<int> run(const Global& global, const CampaignList& command) {
  constexpr uint32_t kPage = 100;
  Service service(global);
  Table table({{"CAMPAIGN"},
               {"STATE"},
               {"FABRIC"},
               {"EFFORT"},
               {"DONE", Table::Align::right},
               {"MODEL"},
               {"CREATED"}});
  std::string token;
  uint32_t left = command.limit;
  do {
    STRIPLINE_ASSIGN_OR_RETURN(
        const auto page,
        service.call<v1::ListCampaignsResponse>(page_request<v1::ListCampaignsRequest>(
            static_cast<int>(std::min(left, kPage)), token)));
    for (const v1::Campaign& campaign : page.campaigns()) {
      if (global.json) {
        print(json_line(campaign));
      } else {
        const int percent = static_cast<int>(fraction_done(progress_of(campaign)) * 100);
        table.add({short_name(campaign.name()), v1::Campaign::State_Name(campaign.state()),
                   campaign.spec().fabric(), effort_text(campaign.spec().effort()),
                   std::to_string(percent) + " %",
                   campaign.model_version().empty() ? "-" : short_name(campaign.model_version()),
                   date_text(campaign.create_time())});
      }
    }
    left -= std::min(left, static_cast<uint32_t>(page.campaigns_size()));
    token = page.next_page_token();
  } while (left > 0 && !token.empty());
  if (!global.json) {
    print(table.empty() ? "no campaigns yet; start one with 'stripline campaign run --fabric tcp'\n"
                        : table.text());
  }
  if (!token.empty()) print_note("there are more; --limit shows them\n");
  if (!global.json) print_server_notes(service, false);
  return kExitOk;
}

namespace {

// What else the hosts of its runs did.
std::string load_text(const v1::Campaign& campaign) {
  const auto& loads = campaign.run_loads();
  if (loads.empty()) return "nothing is known of what else they did";
  const auto worst = std::ranges::max_element(loads, {}, [](const v1::RunLoad& load) {
    return load.others() + load.stolen() * load.processors();
  });
  const auto busy = std::ranges::count_if(loads, [](const auto& load) { return load.busy(); });
  return formatted(
      "%s in %td of %d runs; at most load %.1f on %s, others on %.1f of %u processors, "
      "%.0f %% stolen (run %u)",
      busy > 0 ? "busy with other work" : "quiet",
      busy > 0 ? busy : static_cast<std::ptrdiff_t>(loads.size()), loads.size(), worst->average(),
      worst->node().c_str(), worst->others(), worst->processors(), 100 * worst->stolen(),
      worst->run());
}

}  // namespace

Result<int> run(const Global& global, const CampaignShow& command) {
  Service service(global);
  STRIPLINE_ASSIGN_OR_RETURN(
      const auto campaign, service.call<v1::Campaign>(named<v1::GetCampaignRequest>(command.name)));
  if (global.json) {
    print(json_line(campaign));
    return kExitOk;
  }
  const v1::CampaignSpec& spec = campaign.spec();
  std::string experiments;
  for (const std::string& name : spec.experiments())
    experiments += (experiments.empty() ? "" : ", ") + name;
  std::string nodes;
  for (const std::string& name : spec.only_nodes())
    nodes += (nodes.empty() ? "" : ", ") + short_name(name);
  std::string text;
  const auto line = [&](const std::string& label, const std::string& value) {
    text += labelled_line(label, value);
  };
  line("campaign", campaign.name());
  line("state", progress_summary(progress_of(campaign)));
  // What the fit found stands a line each below; without its version, all in the message.
  v1::ModelVersion version;
  if (!campaign.model_version().empty()) {
    if (auto fitted = service.call<v1::ModelVersion>(
            named<v1::GetModelVersionRequest>(campaign.model_version()));
        fitted.ok()) {
      version = *std::move(fitted);
    }
  }
  if (!campaign.message().empty()) {
    line("message", without_findings(campaign.message(), version));
  }
  line("fabric", spec.fabric() + (spec.clock().empty() ? "" : ", " + spec.clock() + " clock"));
  line("effort", effort_text(spec.effort()));
  line("size", size_text(campaign));
  line("experiments", experiments.empty() ? "all that feed the model" : experiments);
  line("nodes", (nodes.empty() ? "any" : nodes) + " of cluster " + spec.cluster());
  for (const std::string& path : spec.same_node()) line("on a node", path);
  line("points", std::to_string(campaign.points_done()) + " of at most " +
                     std::to_string(campaign.points_total()) + " of all runs together");
  line("samples", std::to_string(campaign.samples()));
  if (campaign.width() > 0) {
    line("medians", within_text(campaign.width()) +
                        (spec.width() > 0 ? ", " + percent_text(spec.width()) + " are asked for"
                                          : std::string()));
  }
  if (!campaign.stop_reason().empty()) line("stopped", campaign.stop_reason());
  line("cost", charged_text(from_message(spec), campaign.node_s()));
  line("hosts", load_text(campaign));
  line("seed", std::to_string(spec.seed()));
  line("model", !campaign.model_version().empty() ? campaign.model_version()
                : spec.model().empty()            ? "none asked for"
                                                  : spec.model());
  line("created", date_text(campaign.create_time()) +
                      (campaign.owner().empty() ? "" : " by " + campaign.owner()));
  line("updated", date_text(campaign.update_time()));
  print(text + findings_text(version));
  print_server_notes(service, false);
  return kExitOk;
}

Result<int> run(const Global& global, const CampaignEstimate& command) {
  Service service(global);
  for (const std::string& fabric : command.request.fabrics) {
    v1::EstimateCampaignRequest request;
    *request.mutable_spec() = spec_of(command.request, fabric);
    STRIPLINE_ASSIGN_OR_RETURN(const auto estimate, service.call<v1::CampaignEstimate>(request));
    print(global.json ? json_line(estimate) : estimate_text(estimate));
  }
  return kExitOk;
}

namespace {

// What has become of a campaign, with its message.
Result<int> show_change(const Global& global, const Result<v1::Campaign>& campaign,
                        const std::string& change) {
  if (!campaign.ok()) return campaign.error();
  print(global.json ? json_line(*campaign)
                    : campaign->name() + " " + change + "; " +
                          count_text(campaign->samples(), "sample") + " so far\n");
  return kExitOk;
}

}  // namespace

Result<int> run(const Global& global, const CampaignCancel& command) {
  v1::CancelCampaignRequest request;
  request.set_name(command.name);
  request.set_drain(command.drain);
  Service service(global);
  const auto campaign = service.call<v1::Campaign>(request);
  const bool drains = campaign.ok() && campaign->state() == v1::Campaign::DRAINING;
  return show_change(global, campaign,
                     drains ? "is cancelled once its running run has ended" : "is cancelled");
}

Result<int> run(const Global& global, const CampaignPause& command) {
  Service service(global);
  return show_change(
      global, service.call<v1::Campaign>(named<v1::PauseCampaignRequest>(command.name)),
      "is paused; 'stripline campaign resume " + short_name(command.name) + "' goes on with it");
}

Result<int> run(const Global& global, const CampaignResume& command) {
  Service service(global);
  return show_change(global,
                     service.call<v1::Campaign>(named<v1::ResumeCampaignRequest>(command.name)),
                     "goes on");
}

Result<int> run(const Global& global, const CampaignRetry& command) {
  v1::RetryCampaignRequest request;
  request.set_name(command.name);
  set_budgets(request, command.budgets);
  Service service(global);
  const auto campaign = service.call<v1::Campaign>(request);
  if (!campaign.ok() || command.detach) return show_change(global, campaign, "goes on");
  return watch_campaign(service, global, campaign->name());
}

Result<int> run(const Global& global, const CampaignDelete& command) {
  Service service(global);
  STRIPLINE_RETURN_IF_ERROR(
      service.call<v1::DeleteCampaignResponse>(named<v1::DeleteCampaignRequest>(command.name)));
  print(global.json ? "{\"name\":\"" + command.name + "\"}\n"
                    : command.name + " is deleted, with its samples\n");
  return kExitOk;
}

Result<int> run(const Global& global, const CampaignPoints& command) {
  constexpr uint32_t kPage = 1000;
  v1::ListPointsRequest request;
  request.set_name(command.name);
  request.set_experiment(command.experiment);
  request.set_variant(command.variant);
  for (const std::string& param : command.params) {
    const size_t equals = param.find('=');
    (*request.mutable_params())[param.substr(0, equals)] = param.substr(equals + 1);
  }
  Service service(global);
  Table table({{"EXPERIMENT"},
               {"VARIANT"},
               {"PARAMETERS"},
               {"RUNS", Table::Align::right},
               {"MEDIAN", Table::Align::right},
               {"WITHIN", Table::Align::right}});
  uint32_t left = command.limit;
  do {
    request.set_page_size(static_cast<int>(std::min(left, kPage)));
    STRIPLINE_ASSIGN_OR_RETURN(const auto page, service.call<v1::ListPointsResponse>(request));
    for (const v1::PlannedPoint& point : page.points()) {
      if (global.json) {
        print(json_line(point));
        continue;
      }
      table.add({point.experiment(), point.variant(),
                 params_text({point.params().begin(), point.params().end()}),
                 std::to_string(point.runs_done()),
                 point.has_median() ? seconds_text(point.median()) : "-", width_text(point)});
    }
    left -= std::min(left, static_cast<uint32_t>(page.points_size()));
    request.set_page_token(page.next_page_token());
  } while (left > 0 && !request.page_token().empty());
  if (!global.json) print(table.empty() ? "no points\n" : table.text());
  if (!request.page_token().empty()) print_note("there are more; --limit shows them\n");
  return kExitOk;
}

Result<int> run(const Global& global, const CampaignExport& command) {
  Service service(global);
  if (command.output.empty() || command.output == "-") {
    const Status status = service.export_samples(command.name, [](std::string_view data) -> Status {
      print_data(data);
      return output_status();
    });
    if (!status.ok()) return status.error();
    return kExitOk;
  }
  catch_interrupts();  // which would leave the temporary file behind
  STRIPLINE_ASSIGN_OR_RETURN(auto file, AtomicFile::create(command.output));
  Status status = service.export_samples(
      command.name, [&](std::string_view data) { return file.write(data); }, interrupted);
  if (interrupted()) {
    status = Error(ErrorCode::cancelled, "interrupted; '" + command.output + "' was not written");
  }
  if (status.ok()) status = file.commit();
  if (!status.ok()) return status.error();
  if (!global.json) print("wrote " + command.output + "\n");
  return kExitOk;
}

}  // namespace stripline::cli
